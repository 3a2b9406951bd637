"""Who may ask the server, and for what."""

from __future__ import annotations

import http.client
import json
import threading
import time

import numpy as np
import pytest
from studio.conftest import request

from tamis.studio import _server
from tamis.studio._server import Studio
from tamis.studio._session import Session
from tamis.studio._table import read_memory

X = np.random.RandomState(0).normal(size=(30, 4)) * [1, 2, 3, 4]


@pytest.fixture(scope="module")
def studio():
    """One for all that changes nothing."""
    session = Session(lambda: read_memory(X))
    session.worker.wait(60)
    studio = Studio(session)
    thread = studio.start()
    yield studio
    studio.stop()
    thread.join(10)
    assert not thread.is_alive()


def origin(studio):
    return {"Origin": f"http://127.0.0.1:{studio.port}"}


def test_the_page_and_its_policy(studio):
    status, headers, body = request(studio, f"/{studio.token}/")
    assert status == 200
    assert b"tamis studio" in body
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["cache-control"] == "no-store"
    assert "access-control-allow-origin" not in headers
    assert b"style=" not in body
    assert b"<script>" not in body


@pytest.mark.parametrize("path", ["/", "/state", "/wrong/", "/{wrong}/state", "/{token}"])
def test_without_the_token_there_is_nothing(studio, path):
    wrong = studio.token[:-1] + ("A" if studio.token[-1] != "A" else "B")
    status, _, body = request(studio, path.format(wrong=wrong, token=studio.token))
    assert status == 404
    assert b"token" in body


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "0.0.0.0:{port}"]
)
def test_a_foreign_host_is_refused(studio, host):
    status, _, _ = request(studio, f"/{studio.token}/state", host=host.format(port=studio.port))
    assert status == 421


@pytest.mark.parametrize(
    "foreign", ["http://evil.example", "null", "http://127.0.0.1:1", "https://127.0.0.1:{port}"]
)
def test_a_foreign_origin_is_refused(studio, foreign):
    headers = {"Origin": foreign.format(port=studio.port)}
    assert request(studio, f"/{studio.token}/state", headers=headers)[0] == 403
    body = b'{"do": "undo"}'
    path = f"/{studio.token}/act"
    assert request(studio, path, method="POST", headers=headers, body=body)[0] == 403
    assert request(studio, path, method="POST", body=body)[0] == 403  # no browser leaves it out
    assert request(studio, path, method="POST", headers=origin(studio), body=body)[0] == 200


@pytest.mark.parametrize(
    "path",
    [
        "asset/../_server.py",
        "asset/..%2f_server.py",
        "asset/%2e%2e/%2e%2e/cli/select.py",
        "asset/studio.html",
        "asset//etc/passwd",
        "export/..%2f..%2fetc%2fpasswd",
        "export/selected.exe",
        "data/..",
    ],
)
def test_no_other_file_is_given(studio, path):
    status, _, body = request(studio, f"/{studio.token}/{path}")
    assert status in (400, 404)
    assert b"import" not in body
    assert b"root:" not in body


@pytest.mark.parametrize(
    "wish",
    [
        b"no json",
        b"[]",
        b'{"do": "__class__"}',
        b'{"do": "column", "place": -1, "wish": "keep"}',
        b'{"do": "column", "place": true, "wish": "keep"}',
        b'{"do": "column", "place": 0, "wish": "burn"}',
        b'{"do": "number", "number": 1e300}',
        b'{"do": "number", "number": 99}',
        b'{"do": "method", "method": "os.system"}',
        b'{"do": "sample", "name": "../x"}',
        b'{"do": "compare", "methods": "auto"}',
        b'{"do": "number"}',
    ],
)
def test_wishes_that_make_no_sense(studio, wish):
    studio.session.worker.wait(30)
    path = f"/{studio.token}/act"
    status, _, body = request(studio, path, method="POST", headers=origin(studio), body=wish)
    assert status == 400
    assert json.loads(body)["error"]


def test_uploads_are_limited(serve, monkeypatch):
    studio = serve(Session(None))
    monkeypatch.setattr(_server, "MOST_UPLOADED", 1000)
    path = f"/{studio.token}/table/"
    headers = origin(studio)

    def send(name, body):
        return request(studio, path + name, method="POST", headers=headers, body=body)[0]

    assert send("data.csv", b"a,b\n1,2\n" * 1000) == 413
    assert send("data.exe", b"a") == 400
    assert send("..", b"a") in (400, 404)
    assert send("..%5c..%5cdata.csv%00.exe", b"a") == 400
    assert send("data.csv", b"a,b,c\n1,2,3\n3,5,2\n5,4,4\n8,1,7\n") == 200
    studio.session.worker.wait(30)
    assert studio.session.table.name == "data.csv"
    assert studio.session.table.names == ["a", "b", "c"]
    much = b"[" + b"1," * _server.MOST_SENT + b"1]"
    assert (
        request(studio, f"/{studio.token}/act", method="POST", headers=headers, body=much)[0] == 413
    )


def test_two_studios_do_not_meet(serve):
    first, second = (serve(Session(None)) for _ in range(2))
    assert first.token != second.token
    assert first.port != second.port
    assert request(first, f"/{second.token}/state")[0] == 404
    path = f"/{first.token}/table/data.csv"
    body = b"a,b\n1,2\n3,5\n"
    assert request(first, path, method="POST", headers=origin(first), body=body)[0] == 200
    assert first.session.worker.wait(30)
    assert first.session.table is not None
    assert second.session.table is None


def test_it_listens_on_this_computer_alone(studio):
    assert studio._socket.getsockname()[0] == "127.0.0.1"


def test_closing_the_last_page_stops_the_work(serve, monkeypatch):
    monkeypatch.setattr(_server, "GRACE", 0.01)
    session = Session(None)
    studio = serve(session)
    begun = threading.Event()

    def forever():
        begun.set()
        while True:
            time.sleep(0.001)

    connection = http.client.HTTPConnection("127.0.0.1", studio.port, timeout=20)
    connection.request("GET", f"/{studio.token}/events")
    assert connection.getresponse().readline().startswith(b"data: ")
    session.worker.submit(forever)
    assert begun.wait(20)
    assert session.worker.busy
    connection.close()
    assert session.worker.wait(20)


def test_a_page_of_another_site_is_refused(studio):
    path = f"/{studio.token}/state"
    for site, status in (("cross-site", 403), ("same-site", 403), ("none", 200)):
        assert request(studio, path, headers={"Sec-Fetch-Site": site})[0] == status
