from __future__ import annotations

import http.client
import threading
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("starlette", reason="the studio is an extra: install tamis[studio]")
pytest.importorskip("uvicorn", reason="the studio is an extra: install tamis[studio]")

HOSTILE = ("<b>bold</b>", '"><img src=x onerror="document.title=1">', "{{ 7 * 7 }}", "a, b")


def messy_text(n_rows: int = 90) -> str:
    """A European table with gaps, categories, dates, ids, hostile names and cells."""
    rng = np.random.default_rng(3)
    groups = rng.integers(0, 3, n_rows)
    centres = 2 * rng.normal(size=(3, 8))
    names = ["id", "when", "town", "note", "pets", *HOSTILE, *(f"m{j}" for j in range(8))]
    quoted = ['"' + name.replace('"', '""') + '"' for name in names]
    lines = [";".join(quoted)]
    for i in range(n_rows):
        measured = [f"{v:.2f}".replace(".", ",") for v in centres[groups[i]] + rng.normal(size=8)]
        measured = [cell if rng.random() > 0.05 else "NA" for cell in measured]
        noise = [f"{v:.3f}".replace(".", ",") for v in rng.normal(size=len(HOSTILE))]
        town = ("Tours", "Metz", "<i>Lyon</i>")[groups[i]]
        day = f"2024-{1 + i % 12:02d}-{1 + i % 28:02d}"
        words = f"number {i} of some words <script>alert({i})</script>"
        lines.append(";".join([f"k{i:04d}", day, town, words, "yn"[i % 2], *noise, *measured]))
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="session")
def messy_csv(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("messy") / "messy table.csv"
    path.write_text(messy_text(), encoding="utf-8")
    return path


@pytest.fixture
def serve():
    """Start studios that end with the test."""
    from tamis.studio._server import Studio

    started: list[tuple[Studio, threading.Thread]] = []

    def start(session) -> Studio:
        studio = Studio(session)
        started.append((studio, studio.start()))
        return studio

    yield start
    for studio, thread in started:
        studio.stop()
        thread.join(10)
        assert not thread.is_alive()


def request(studio, path, *, method="GET", headers=None, body=None, host=None):
    """An answer of a studio, asked as any program of this computer may ask."""
    connection = http.client.HTTPConnection("127.0.0.1", studio.port, timeout=20)
    try:
        connection.putrequest(method, path, skip_host=True)
        connection.putheader("Host", host or f"127.0.0.1:{studio.port}")
        for name, value in (headers or {}).items():
            connection.putheader(name, value)
        if body is not None:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders()
        if body is not None:
            connection.send(body)
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()
    finally:
        connection.close()
