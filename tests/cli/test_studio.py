"""What ``tamis studio`` refuses, and how it begins."""

from __future__ import annotations

import json
import socket

import pytest

pytest.importorskip("starlette", reason="the studio is an extra: install tamis[studio]")
pytest.importorskip("uvicorn", reason="the studio is an extra: install tamis[studio]")


def test_a_file_that_is_not_there(refused):
    assert "there is no such file" in refused("studio", "nowhere.csv")


def test_a_port_that_is_taken(refused):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        line = refused("studio", "--no-browser", "--port", port)
    assert f"cannot listen on port {port}" in line


def test_the_address_is_printed_before_it_serves(run, monkeypatch):
    from tamis import studio

    asked = {}

    def serve(file, *, port, ready, **options):
        asked.update(options, file=file, port=port)
        ready("http://127.0.0.1:1/token/")

    monkeypatch.setattr(studio, "serve", serve)
    result = run("studio", "dataset:iris", "--no-browser", "--labels", "kind", "--sep", ";")
    assert "http://127.0.0.1:1/token/" in result.stdout
    told = run("studio", "--no-browser", "--json").stdout
    assert json.loads(told) == {"url": "http://127.0.0.1:1/token/"}
    assert asked["file"] is None
    run("studio", "dataset:iris", "--no-browser", "--labels", "kind", "--sep", ";")
    assert (asked["file"], asked["labels"], asked["sep"]) == ("dataset:iris", "kind", ";")
