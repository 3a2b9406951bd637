"""A machine without sets and a public source that lives in this process."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tamis.datasets import Entry, registry


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No local folder named, an empty cache; returns the cache's path."""
    cache = tmp_path / "cache"
    monkeypatch.delenv("TAMIS_DATA", raising=False)
    monkeypatch.setenv("TAMIS_CACHE", str(cache))
    return cache


@pytest.fixture
def register(monkeypatch: pytest.MonkeyPatch) -> Callable[[Entry], Entry]:
    """Put an entry into the registry for one test, in place of one with its name, if any."""

    def put(entry: Entry) -> Entry:
        entries = {**registry.ENTRIES, entry.name: entry}
        monkeypatch.setattr(registry, "ENTRIES", entries)
        monkeypatch.setattr("tamis.datasets.loading.ENTRIES", entries)
        monkeypatch.setitem(registry._BY_PLAIN_NAME, registry.plain(entry.name), entry)
        return entry

    return put


@dataclass
class Source:
    """Files by path; ``cut`` paths announce their whole length and stop in the middle."""

    address: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    cut: set[str] = field(default_factory=set)
    requests: list[str] = field(default_factory=list)

    def serve(self, entry: Entry, contents: dict[str, bytes], **changes: Any) -> Entry:
        """The entry with its addresses replaced by files of this source."""
        assert entry.download is not None
        self.files.update(contents)
        addresses = tuple(f"{self.address}/{name}" for name in contents)
        return replace(entry, download=replace(entry.download, addresses=addresses), **changes)


class _Handler(BaseHTTPRequestHandler):
    def __init__(self, *args: Any, source: Source) -> None:
        self.source = source
        super().__init__(*args)

    def do_GET(self) -> None:
        name = self.path.lstrip("/")
        self.source.requests.append(name)
        content = self.source.files.get(name)
        if content is None:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: len(content) // 2] if name in self.source.cut else content)

    def log_message(self, *args: Any) -> None:
        """Say nothing."""


@pytest.fixture
def source() -> Iterator[Source]:
    served = Source()
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, source=served))
    served.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=partial(server.serve_forever, poll_interval=0.01))
    thread.start()
    yield served
    server.shutdown()
    thread.join()
    server.server_close()
