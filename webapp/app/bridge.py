"""Serves the WSGI application as an ASGI application (https://asgi.readthedocs.io, HTTP).

A request takes one of few threads once its body is read, within limits of size and time. Waits and
streams are coroutines, which hold no thread.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from http import HTTPStatus
from io import BytesIO
from shutil import disk_usage
from tempfile import SpooledTemporaryFile
from typing import IO, Any, NamedTuple, cast
from urllib.parse import unquote_to_bytes

from flask import Flask
from sqlalchemy.exc import SQLAlchemyError
from werkzeug.middleware.proxy_fix import ProxyFix
from werkzeug.wsgi import FileWrapper

from api.wire.event_stream import LEAVE_CONNECTION, Stream
from webapp.app.refusals import refusal, refused_framing
from webapp.app.streams import Message, Receive, Send, Streams, listening, wake_up
from webapp.base.config import Settings
from webapp.base.data_folder import spool_folder
from webapp.base.errors import Outcome
from webapp.web.form_body_limits import UPLOAD_BODY_MAX_BYTES, body_max_bytes
from webapp.web.wakeups import WAITED, Parked, Wait, Wakeups

THREADS = 32
PART_SECONDS = 30.0  # to receive a part of a body, and to send a part of a response
IN_MEMORY_BYTES = 512 * 1024  # of a body; larger ones go to a file in the data folder
PARTS, PART_BYTES = 2_000, 64  # parts of a body of any size, and the average size of more parts
LINGER_SECONDS = 5.0  # for a client that keeps sending after its request was refused
SILENT_SECONDS = 0.5  # without data, after which the client has stopped sending
AT_ONCE_BYTES = 64 * 1024  # a response up to this size is sent as a whole
FILE_BYTES = 64 * 1024  # of a file, read at a time
NAMELESS = (b"server", b"Askback")  # else granian names itself

Environ = dict[str, Any]
log = logging.getLogger("askback.server")


class Refused(Exception):
    """The server refuses the request without asking the application."""

    def __init__(self, status: HTTPStatus) -> None:
        self.status = status


class Answer(NamedTuple):
    """A response of the application; its parts are generated within `in_context`."""

    status: int
    headers: list[tuple[str, str]]
    parts: Iterable[bytes]
    in_context: Callable[..., Any]


class Bridge:
    """The ASGI application, for a Flask application."""

    def __init__(self, app: Flask, settings: Settings) -> None:
        self._app, self._settings = app, settings
        proxied = ProxyFix(app, x_for=settings.trusted_proxy_count, x_proto=0, x_host=0)
        self._trusted = {settings.trusted_proxy: proxied} if settings.trusted_proxy else {}
        self._wakeups: Wakeups = app.extensions["wakeups"]
        self.threads = ThreadPoolExecutor(THREADS, "requests")
        self.streams = Streams(app, settings.max_streams, self._run, self._wakeups)
        self._reading: set[asyncio.Task[Any]] = set()
        self.requests = 0  # that are not answered yet

    def _run(self, call: Callable[..., Any], *arguments: Any) -> Awaitable[Any]:
        """Run `call` in a thread; return or raise what it does."""
        return asyncio.get_running_loop().run_in_executor(self.threads, call, *arguments)

    def stop(self) -> None:
        """Refuse requests with incomplete bodies, end waits and streams; call it in the loop."""
        self._wakeups.stop()
        for task in self._reading:
            task.cancel()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request."""
        environ = self._environ(scope)
        self.requests += 1
        try:
            if status := refused_framing(scope):
                raise Refused(status)
            await self._read(environ, receive)
            await self._serve(environ, receive, send)
        except Refused as refused:
            await self._refuse(refused.status, environ, receive, send)
        except (TimeoutError, asyncio.CancelledError):  # the second when the server stops
            log.info("a client has left, or reads nothing")
        finally:
            self.requests -= 1
            with suppress(KeyError):
                environ["wsgi.input"].close()

    def _environ(self, scope: Message) -> Environ:
        path = scope["raw_path"].partition(b"?")[0]
        environ: Environ = {
            "REQUEST_METHOD": scope["method"],
            "SCRIPT_NAME": "",
            "PATH_INFO": unquote_to_bytes(path).decode("latin-1"),
            "QUERY_STRING": scope["query_string"].decode("latin-1"),
            "SERVER_NAME": scope["server"][0],
            "SERVER_PORT": str(scope["server"][1]),
            "SERVER_PROTOCOL": f"HTTP/{scope['http_version']}",
            "REMOTE_ADDR": scope["client"][0],
            "wsgi.version": (1, 0),
            "wsgi.input": BytesIO(),
            "wsgi.url_scheme": "https" if self._settings.secure else "http",
            "wsgi.multithread": True,
            "wsgi.multiprocess": True,
            "wsgi.run_once": False,
            "wsgi.file_wrapper": lambda file, *_: FileWrapper(file, FILE_BYTES),
            WAITED: {},
        }
        for name, value in scope["headers"]:
            if b"_" not in name:
                _add_header(environ, name.decode("latin-1"), value.decode("latin-1"))
        environ[LEAVE_CONNECTION] = partial(self._leave, environ)
        return environ

    def _leave(self, environ: Environ, stream: Stream) -> bool:
        """Let the stream follow the response; return False if there is no room for it."""
        environ["askback.stream"] = stream if self.streams.reserve(stream) else None
        return environ["askback.stream"] is not None

    async def _read(self, environ: Environ, receive: Receive) -> None:
        """Read the body, into a file if it is large. raises Refused"""
        chunked = environ.pop("HTTP_TRANSFER_ENCODING", None)
        most = body_max_bytes(environ["PATH_INFO"])
        length = most if chunked else int(environ.get("CONTENT_LENGTH", 0))
        if length > most or (length > IN_MEMORY_BYTES and self._is_full(most)):
            raise Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        if not length:
            return
        body = environ["wsgi.input"]
        if length > IN_MEMORY_BYTES:
            folder = str(spool_folder(self._settings.data_folder))
            body = environ["wsgi.input"] = SpooledTemporaryFile(IN_MEMORY_BYTES, dir=folder)  # noqa: SIM115
        task = cast(asyncio.Task[Any], asyncio.current_task())
        self._reading.add(task)
        try:
            await self._read_parts(receive, body, most)
        except TimeoutError:
            raise Refused(HTTPStatus.REQUEST_TIMEOUT) from None
        except asyncio.CancelledError:
            raise Refused(HTTPStatus.SERVICE_UNAVAILABLE) from None
        finally:
            self._reading.discard(task)
        environ["CONTENT_LENGTH"] = str(body.tell())
        body.seek(0)

    async def _read_parts(self, receive: Receive, body: IO[bytes], most: int) -> None:
        size = parts = 0
        more = True
        while more:
            async with asyncio.timeout(PART_SECONDS):
                message = await receive()
            if message["type"] == "http.disconnect":  # granian also sends it for an invalid body
                raise Refused(HTTPStatus.BAD_REQUEST)
            part, more = message.get("body", b""), message.get("more_body", False)
            parts, size = parts + 1, size + len(part)
            if parts > PARTS + size // PART_BYTES:
                raise Refused(HTTPStatus.BAD_REQUEST)
            if size > most:
                raise Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
            await self._run(body.write, part) if size > IN_MEMORY_BYTES else body.write(part)

    def _is_full(self, most: int) -> bool:
        """Return whether the disk has no room for recordings, the only bodies of this size."""
        free = disk_usage(self._settings.data_folder).free
        return most >= UPLOAD_BODY_MAX_BYTES and free < self._settings.audio_free_bytes

    async def _serve(self, environ: Environ, receive: Receive, send: Send) -> None:
        """Send the response of the application. raises Refused, TimeoutError"""
        while isinstance(answer := await self._run(self._call, environ), Wait):
            await self._wait(answer, environ, receive)
            environ[WAITED][answer.key] = answer
            environ["wsgi.input"].seek(0)
        stream: Stream | None = environ.get("askback.stream")
        if stream and answer.status != HTTPStatus.OK:  # the view has failed
            self.streams.release(stream)
            stream = None
        await send(_start(answer.status, answer.headers))
        close = getattr(answer.parts, "close", None)
        try:
            if stream is None:
                await self._send(answer, send)
        finally:
            if close:
                await self._run(answer.in_context, close)
        if stream:
            environ.clear()  # frees half the memory of a stream
            del answer, close
            await self.streams.serve(stream, receive, send)

    def _call(self, environ: Environ) -> Answer | Wait:
        """Return the response of the application, or its wait; runs in a thread. raises Refused"""
        head: list[Any] = []
        app = cast(Any, self._trusted.get(environ["REMOTE_ADDR"], self._app))
        in_context = copy_context().run
        try:
            parts = in_context(app, environ, lambda *given: head.extend(given))
            length = int(dict(head[1]).get("Content-Length", AT_ONCE_BYTES + 1))
            if length <= AT_ONCE_BYTES:
                parts = [in_context(_joined, parts)]
            return Answer(int(head[0][:3]), head[1], parts, in_context)
        except Parked as parked:
            return parked.wait
        except Exception:
            log.exception("the application failed")
            raise Refused(HTTPStatus.INTERNAL_SERVER_ERROR) from None

    async def _wait(self, wait: Wait, environ: Environ, receive: Receive) -> None:
        """Wait until there is a result, the time is over or the server stops.

        Raises CancelledError when the client leaves.
        """
        try:
            async with listening(self._wakeups, wait.key, receive) as (woken, leaving):
                while not await self._run(self._look, wait, environ):
                    if wait.left <= 0 or self._wakeups.stopped:
                        return
                    await wake_up(woken, wait.left)
                    if leaving.done():
                        raise asyncio.CancelledError
        finally:
            wait.release()

    def _look(self, wait: Wait, environ: Environ) -> bool:
        """Return whether there is a result. An error counts: the view, run again, handles it."""
        try:
            with self._app.request_context(environ):
                return wait.look() is not None
        except (Outcome, SQLAlchemyError):
            return True
        except Exception:
            log.exception("a wait failed")
            return True

    async def _send(self, answer: Answer, send: Send) -> None:
        """Send the parts of the response. raises TimeoutError when the client reads nothing"""
        parts = iter(answer.parts)
        if isinstance(answer.parts, list):
            return await send({"type": "http.response.body", "body": answer.parts[0]})
        while (part := await self._run(answer.in_context, next, parts, None)) is not None:
            async with asyncio.timeout(PART_SECONDS):
                await send({"type": "http.response.body", "body": part, "more_body": True})
        return await send({"type": "http.response.body", "body": b""})

    async def _refuse(
        self, status: HTTPStatus, environ: Environ, receive: Receive, send: Send
    ) -> None:
        """Send the refusal, and read what still arrives: a reset could overtake the refusal.

        The last byte is sent at the end, which keeps the connection open.
        """
        log.info("refused", extra={"status": status.value})
        answer = await self._run(refusal, self._app, self._settings, status, environ)
        body = answer.get_data()
        await send(_start(answer.status_code, [*answer.headers, ("Connection", "close")]))
        await send({"type": "http.response.body", "body": body[:-1], "more_body": True})
        with suppress(TimeoutError):
            async with asyncio.timeout(LINGER_SECONDS):
                while (await asyncio.wait_for(receive(), SILENT_SECONDS)).get("more_body"):
                    pass
        await send({"type": "http.response.body", "body": body[-1:]})


def _joined(parts: Iterable[bytes]) -> bytes:
    try:
        return b"".join(parts)
    finally:
        getattr(parts, "close", lambda: None)()


def _add_header(environ: Environ, name: str, value: str) -> None:
    key = name.upper().replace("-", "_")
    key = key if key in {"CONTENT_TYPE", "CONTENT_LENGTH"} else f"HTTP_{key}"
    separator = "; " if key == "HTTP_COOKIE" else ", "
    environ[key] = f"{environ[key]}{separator}{value}" if key in environ else value


def _start(status: int, headers: Iterable[tuple[str, str]]) -> Message:
    sent = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers]
    return {"type": "http.response.start", "status": status, "headers": [NAMELESS, *sent]}
