"""The local server: pages, data and decisions, for whoever knows the address."""

from __future__ import annotations

import asyncio
import json
import secrets
import signal
import tempfile
import threading
from collections.abc import AsyncIterator, Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from tamis.charts import drawing
from tamis.studio import _actions as actions
from tamis.studio import _told as told
from tamis.studio._access import HEADERS, HOST, hosts_of, listening, refused
from tamis.studio._session import NotThereError, Session

# What a page may send: a decision is small, a table may be large.
MOST_SENT = 1 << 20
MOST_UPLOADED = 1 << 28
# Seconds after the last page was closed until what is under way is stopped: a reload is quicker.
GRACE = 5.0
TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}
# The files of the page; nothing else can be asked for.
ASSETS = (
    "studio.css",
    "choose.js",
    "columns.js",
    "compare.js",
    "data.js",
    "dom.js",
    "exports.js",
    "figures.js",
    "main.js",
    "page.js",
    "pictures.js",
    "table.js",
    "take.js",
)


class Studio:
    """A session and the server that shows it.

    Parameters
    ----------
    session : Session
    port : int, default=0
        0 takes any that is free.

    Attributes
    ----------
    url : str
        The address, with the token that it takes.
    """

    def __init__(self, session: Session, port: int = 0) -> None:
        self.session = session
        self.token = secrets.token_urlsafe(24)
        self._socket = listening(port)
        self.port = int(self._socket.getsockname()[1])
        self.url = f"http://{HOST}:{self.port}/{self.token}/"
        self._pages = 0
        self._paused = False
        self._folder = tempfile.TemporaryDirectory(prefix="tamis-studio-")
        self._news: set[asyncio.Event] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._server: _Server | None = None
        session.changed = self._tell

    def serve(self) -> None:
        """Serve until Ctrl-C."""
        self._server = _Server(self._config(), self._tell)
        try:
            self._server.run(sockets=[self._socket])
        except KeyboardInterrupt:  # uvicorn hands it on once all is closed
            pass
        finally:
            self._end()

    def start(self) -> threading.Thread:
        """Serve in a thread."""
        self._server = _Server(self._config(), self._tell)
        server = self._server

        def run() -> None:
            try:
                server.run(sockets=[self._socket])
            finally:
                self._end()

        thread = threading.Thread(target=run, name="tamis-studio-server", daemon=True)
        thread.start()
        return thread

    def stop(self) -> None:
        """End the server and what it computes."""
        if self._server is not None:
            self._server.stop()

    def _end(self) -> None:
        self.session.close()
        self._socket.close()
        self._folder.cleanup()

    def _config(self) -> uvicorn.Config:
        return uvicorn.Config(
            self.app(),
            log_config=None,
            access_log=False,
            lifespan="off",
            date_header=False,
            server_header=False,
            timeout_graceful_shutdown=1,
            ws="none",
        )

    def app(self) -> Any:
        """The application, guarded."""
        base = f"/{self.token}"
        routes = [
            Route(f"{base}/", self._page),
            Route(f"{base}/asset/{{name}}", self._asset),
            Route(f"{base}/state", self._state),
            Route(f"{base}/events", self._events),
            Route(f"{base}/data/{{name}}", self._data),
            Route(f"{base}/column/{{place:int}}", self._column),
            Route(f"{base}/figure/{{name}}", self._figure),
            Route(f"{base}/act", self._act, methods=["POST"]),
            Route(f"{base}/table/{{name}}", self._upload, methods=["POST"]),
            Route(f"{base}/export/{{name}}", self._export),
        ]
        return _Guard(Starlette(routes=routes), self.port, self.token)

    # --- answers --------------------------------------------------------------------------------

    async def _page(self, request: Request) -> Response:
        return _file("studio.html")

    async def _asset(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name == "figures.css":
            return Response(drawing.style(), media_type="text/css")
        return _file(name) if name in ASSETS else _refusal("there is no such file.", 404)

    async def _state(self, request: Request) -> Response:
        return JSONResponse(told.state(self.session))

    async def _events(self, request: Request) -> Response:
        return StreamingResponse(self._stream(), media_type="text/event-stream")

    async def _stream(self) -> AsyncIterator[str]:
        """The state, whenever it is another, for as long as the page is open."""
        self._loop = asyncio.get_running_loop()
        news, sent = asyncio.Event(), -1
        self._news.add(news)
        self._pages += 1
        if self._paused:  # what was stopped as nobody looked
            self._paused = False
            self.session.again()
        try:
            while self._server is None or not self._server.should_exit:
                news.clear()
                state = told.state(self.session)
                if state["version"] != sent:
                    sent = state["version"]
                    yield f"data: {json.dumps(state)}\n\n"
                await news.wait()
        finally:
            self._news.discard(news)
            self._pages -= 1
            if not self._pages and self._loop.is_running():
                self._loop.call_later(GRACE, self._without_pages)

    def _without_pages(self) -> None:
        if not self._pages and self.session.worker.busy:
            self._paused = True
            self.session.cancel()

    def _tell(self) -> None:
        """Wake the streams; called from any thread."""
        loop = self._loop
        if loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(self._wake)

    def _wake(self) -> None:
        for news in self._news:
            news.set()

    async def _data(self, request: Request) -> Response:
        made = {
            "table": lambda: told.table_data(self.session),
            "ranking": lambda: told.ranking_data(self.session),
            "nearest": lambda: told.nearest_data(self.session),
        }.get(request.path_params["name"])
        if made is None:
            return _refusal("there is no such data.", 404)
        return await _answer(lambda: Response(made(), media_type="application/octet-stream"))

    async def _column(self, request: Request) -> Response:
        place = request.path_params["place"]
        return await _answer(lambda: JSONResponse(told.column(self.session, place)))

    async def _figure(self, request: Request) -> Response:
        name, query = request.path_params["name"], request.query_params
        if name == "rows":
            return await _answer(lambda: JSONResponse(told.rows(self.session)))
        if name == "pixels":
            number = int(query.get("number", "0")) if query.get("number", "0").isdigit() else 0
            return await _answer(lambda: JSONResponse(told.pixels(self.session, number)))
        colour = query.get("colour", "")
        return await _answer(lambda: JSONResponse(told.figure(self.session, name, colour=colour)))

    async def _act(self, request: Request) -> Response:
        body = await _body(request, MOST_SENT)
        if body is None:
            return _refusal("that is too much.", 413)

        def act() -> Response:
            try:
                wish = json.loads(body)
            except ValueError:
                raise ValueError("that is no JSON.") from None
            return JSONResponse(actions.act(self.session, wish))

        return await _answer(act)

    async def _upload(self, request: Request) -> Response:
        """A table sent by the page; it is read from a copy, and no other file is touched."""
        name = actions.checked_file_name(request.path_params["name"])
        if name is None:
            return _refusal("the name tells no format that can be read.", 400)
        path = Path(self._folder.name) / f"{secrets.token_hex(8)}{actions.suffix_of(name)}"
        size = 0
        try:
            with path.open("wb") as file:
                async for part in request.stream():
                    size += len(part)
                    if size > MOST_UPLOADED:
                        path.unlink()
                        return _refusal(
                            f"a page sends at most {MOST_UPLOADED >> 20} MiB; open larger files "
                            "with `tamis studio FILE`.",
                            413,
                        )
                    file.write(part)
        except ClientDisconnect:
            path.unlink(missing_ok=True)
            raise
        return await _answer(lambda: JSONResponse(actions.open_upload(self.session, path, name)))

    async def _export(self, request: Request) -> Response:
        name = request.path_params["name"]
        folder = Path(self._folder.name)

        def make() -> Response:
            contents, kind = actions.exported(self.session, name, folder)
            headers = {"Content-Disposition": f'attachment; filename="{name}"'}
            return Response(contents, media_type=kind, headers=headers)

        return await _answer(make)


class _Guard:
    """Lets through what knows the token, and asks this host, from this origin.

    A page of another origin cannot know the token; a name that was bound to this address later
    (DNS rebinding) is not one of ours.
    """

    def __init__(self, app: Any, port: int, token: str) -> None:
        self.app = app
        self.hosts = hosts_of(port)
        self.start = f"/{token}/"

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        why = refused(scope, self.hosts, self.start)
        refusal = _refusal(*why) if why else None

        async def with_headers(message: Any) -> None:
            if message["type"] == "http.response.start":
                more = [(k.lower().encode(), v.encode()) for k, v in HEADERS.items()]
                message = {**message, "headers": [*message["headers"], *more]}
            await send(message)

        await (refusal or self.app)(scope, receive, with_headers)


class _Server(uvicorn.Server):
    """Sleeps while there is nothing to do, where uvicorn looks ten times a second."""

    def __init__(self, config: uvicorn.Config, ending: Callable[[], None]) -> None:
        super().__init__(config)
        self._ending = ending
        self._ended = asyncio.Event()
        self._running: asyncio.AbstractEventLoop | None = None

    async def main_loop(self) -> None:
        self._running = asyncio.get_running_loop()
        if hasattr(signal, "SIGHUP") and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGHUP, self.handle_exit)  # the terminal was closed
        if not self.should_exit:
            await self._ended.wait()

    def handle_exit(self, sig: int, frame: Any) -> None:
        super().handle_exit(sig, frame)
        self.stop()

    def stop(self) -> None:
        """End, from any thread."""
        self.should_exit = True
        loop = self._running
        if loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(self._ended.set)
        self._ending()


def _file(name: str) -> Response:
    text = files("tamis.studio").joinpath("page", name).read_text(encoding="utf-8")
    return Response(text, media_type=TYPES[Path(name).suffix])


def _refusal(why: str, code: int) -> Response:
    return PlainTextResponse(why, code)


async def _answer(make: Callable[[], Response]) -> Response:
    """An answer made in a thread; what cannot be done is a message."""
    try:
        return await run_in_threadpool(make)
    except NotThereError as error:  # a page may ask for what has just been replaced: no failure
        return JSONResponse({"error": str(error)})
    except (ValueError, LookupError, TypeError) as error:
        return JSONResponse({"error": str(error) or type(error).__name__}, 400)
    except Exception as error:  # whatever fails is a message in the page
        return JSONResponse({"error": f"{type(error).__name__}: {error}"}, 500)


async def _body(request: Request, most: int) -> bytes | None:
    """What was sent; None if that is too much."""
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > most:
            return None
        parts.append(part)
    return b"".join(parts)
