"""A service with the wire format of `/v1/audio/transcriptions`, through the SDK of OpenAI.

It gets the recording, the name of the model, the format of the answer and, where one is set, the
language: nothing of our environment and nothing about this machine. Redirects and proxies would
show the recording to hosts that no page named. No answer is read beyond its bounds.
"""

import socket
import ssl
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import httpcore2
import httpx2
import openai

from webapp.integrations.audio_inspection import AudioFormat
from webapp.integrations.transcription_failure import TranscriptionFailed
from webapp.public_addresses import is_private
from webapp.setting_groups.voice import VoiceSettings

CONNECT_SECONDS = 5.0
WRITE_SECONDS = 30.0  # for each piece of the recording
ANSWER_SECONDS = 300.0  # until the answer begins: ten minutes of speech on a machine without a GPU
TOTAL_SECONDS = 600.0
ANSWER_MAX_BYTES = 4 * 1024**2  # many times the words that are kept, however they are escaped
SENT_HEADERS = frozenset({"accept", "content-length", "content-type", "host", "transfer-encoding"})


def transcribe(path: Path, audio: AudioFormat, language: str, *, config: VoiceSettings) -> str:
    """The text of the answer, however long and odd. Raises TranscriptionFailed, OSError."""
    try:
        with _client(config) as client, path.open("rb") as file:
            found = client.audio.transcriptions.create(
                file=(f"recording.{audio.extension}", file, audio.media_type),
                model=config.transcriber_model or "",
                response_format="json",
                language=language or openai.omit,
            )
    except openai.APIStatusError as error:
        raise TranscriptionFailed(f"it answered with status {error.status_code}") from None
    except openai.OpenAIError as error:
        raise TranscriptionFailed(f"{type(error).__name__}: {_cause_of(error)}") from None
    except (ValueError, RecursionError):
        raise TranscriptionFailed("it answered with something else than JSON") from None
    text = getattr(found, "text", None)  # the SDK checks no types, and may hand over a plain string
    if not isinstance(text, str):
        raise TranscriptionFailed("it answered without a text")
    return text


class _Timed(httpcore2.NetworkStream):
    """A connection on which each step gets what is left until `ends`, if that is less.

    Timeouts of the SDK are those of a step: headers that drip would hold a place without end.
    """

    def __init__(self, stream: httpcore2.NetworkStream, ends: float) -> None:
        self._stream, self._ends = stream, ends

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, self._left(timeout, httpcore2.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, self._left(timeout, httpcore2.WriteTimeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.NetworkStream:
        left = self._left(timeout, httpcore2.ConnectTimeout)
        return _Timed(self._stream.start_tls(ssl_context, server_hostname, left), self._ends)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)

    def _left(self, timeout: float | None, late: type[httpcore2.TimeoutException]) -> float:
        left = self._ends - time.monotonic()
        if left <= 0:
            raise late("it takes too long")
        return left if timeout is None else min(left, timeout)


class _TimedConnections(httpcore2.SyncBackend):
    """Connections that end TOTAL_SECONDS after they were asked for."""

    def connect_tcp(self, *arguments: Any, **options: Any) -> httpcore2.NetworkStream:
        ends = time.monotonic() + TOTAL_SECONDS
        return _Timed(super().connect_tcp(*arguments, **options), ends)


class _Bounded(httpx2.SyncByteStream):
    """An answer of at most ANSWER_MAX_BYTES."""

    def __init__(self, stream: httpx2.SyncByteStream) -> None:
        self._stream, self._room = stream, ANSWER_MAX_BYTES

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._stream:
            self._room -= len(chunk)
            if self._room < 0:
                raise httpx2.ReadError("the answer is too long")
            yield chunk

    def close(self) -> None:
        self._stream.close()


class _Guarded(httpx2.HTTPTransport):
    """Plain http goes to a private address; what SDK and environment add to a request stays here.

    An answer that is compressed although nobody allowed it is not unpacked.
    """

    def __init__(self, key: str | None) -> None:
        super().__init__(verify=_tls_context(), trust_env=False)
        self._pool = httpcore2.ConnectionPool(
            ssl_context=_tls_context(), network_backend=_TimedConnections()
        )
        self._own = {"accept-encoding": "identity", "user-agent": "Askback", "connection": "close"}
        self._own |= {"authorization": f"Bearer {key}"} if key else {}

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        kept = {name: each for name, each in request.headers.items() if name in SENT_HEADERS}
        request.headers = httpx2.Headers(kept | self._own)
        response = self._send(request)
        response.headers.pop("content-encoding", None)
        assert isinstance(response.stream, httpx2.SyncByteStream)  # noqa: S101 (for mypy)
        response.stream = _Bounded(response.stream)
        return response

    def _send(self, request: httpx2.Request) -> httpx2.Response:
        """By plain http to each private address in turn, until one takes a connection.

        `localhost` has two, and many services listen on one of them.
        """
        if request.url.scheme != "http":
            return super().handle_request(request)
        *others, last = _private_addresses(request.url.host)
        for address in others:
            with suppress(httpx2.ConnectError, httpx2.ConnectTimeout):  # nothing was sent yet
                return self._send_to(address, request)
        return self._send_to(last, request)

    def _send_to(self, address: str, request: httpx2.Request) -> httpx2.Response:
        request.url = request.url.copy_with(host=address)  # the header Host keeps the name
        return super().handle_request(request)


def _client(config: VoiceSettings) -> openai.OpenAI:
    seconds = httpx2.Timeout(
        ANSWER_SECONDS, connect=CONNECT_SECONDS, write=WRITE_SECONDS, pool=CONNECT_SECONDS
    )
    transport = _Guarded(config.transcriber_api_key)
    return openai.OpenAI(
        api_key="sent by the transport",
        base_url=config.transcriber_url,
        organization="",
        project="",
        max_retries=0,
        timeout=seconds,
        http_client=httpx2.Client(
            transport=transport, timeout=seconds, trust_env=False, follow_redirects=False
        ),
    )


@cache
def _tls_context() -> ssl.SSLContext:
    """Kept: reading the authorities of the system takes 34 ms."""
    return ssl.create_default_context()


def _private_addresses(host: str) -> list[str]:
    """The addresses of the host, all of which have to be private: the way is not encrypted.

    raises httpx2.ConnectError
    """
    try:
        rows = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise httpx2.ConnectError("its name has no address") from None
    found = list(dict.fromkeys(str(row[4][0]) for row in rows))
    if not found or not all(is_private(address) for address in found):
        raise httpx2.ConnectError("plain http, and its address is not private")
    return found


def _cause_of(error: openai.OpenAIError) -> str:
    """What the connection failed of, in the words of this module or of the system."""
    return str(error.__cause__ or "")[:200]
