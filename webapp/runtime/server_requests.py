"""One request of the server: parsing it, and writing its response or refusal."""

import logging
import re
from copy import copy
from http import HTTPStatus
from pathlib import Path
from shutil import disk_usage
from tempfile import TemporaryFile

from waitress.adjustments import Adjustments
from waitress.buffers import FileBasedBuffer, OverflowableBuffer, ReadOnlyFileBasedBuffer
from waitress.parser import (
    HTTPRequestParser,
    ParsingError,
    TransferEncodingNotImplemented,
)
from waitress.receiver import ChunkedReceiver, FixedStreamReceiver
from waitress.rfc7230 import CHUNK_EXT_RE
from waitress.task import ErrorTask, WSGITask
from waitress.utilities import (
    BadRequest,
    Error,
    RequestEntityTooLarge,
    RequestHeaderFieldsTooLarge,
)

from webapp.data_folder import spool_folder
from webapp.domain.shared.limits import FORM_BODY_MAX_BYTES
from webapp.runtime.request_framing import refused_framing
from webapp.runtime.server_errors import Asked, cors_headers, refusal
from webapp.web.form_body_limits import body_max_bytes
from webapp.wire.event_stream import LEAVE_CONNECTION, Stream

SENT_BYTES = 128 * 1024  # of a file, read at a time
HEAD_BYTES = 1024  # enough of a request line to know its path
CHUNK_LINE_BYTES = 4 * 1024  # size and extensions of a chunk
TRAILER_BYTES = 8 * 1024  # in all
CHUNKS = 2000  # of any size; each one takes the time of a hundred bytes and more
CHUNK_BYTES = 64  # of the others, on average
CHUNK_LINE = re.compile(rb"([0-9A-Fa-f]{1,16})(;.*)?\r\n")
BARE = re.compile(rb"(?<!\r)\n|\r[^\n]")
# checked first: waitress' own expressions take minutes for some heads of 60 KiB
TOKEN = rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
FIRST_LINE = re.compile(TOKEN + rb" [!-~\x80-\xff]+ HTTP/1\.[01]")
FIELD = re.compile(rb"(" + TOKEN + rb"):([\t -~\x80-\xff]*)")
REQUEST_LINE = re.compile(rb"\s*(\S+) +(?:https?://[^/\s]*)?/*(/[^\s?]*)(?:\?(\S*))?")
# of headers that were not parsed: which page may read why, and in which language
FOUND_ANYWAY = {
    "ORIGIN": re.compile(rb"\norigin:[ \t]*([!-~]+)[ \t]*(?=\r\n)", re.IGNORECASE),
    "ACCEPT_LANGUAGE": re.compile(
        rb"\naccept-language:[ \t]*+([!-~][ -~]{0,199})(?=\r\n)", re.IGNORECASE
    ),
}

log = logging.getLogger("askback.server")


class BodyBuffer(OverflowableBuffer):  # type: ignore[misc]
    """A body in memory; a larger one in a file of the data folder that has no name."""

    buf: FileBasedBuffer | None = None

    def __init__(self, overflow: int, folder: Path) -> None:
        super().__init__(overflow)
        self._folder = folder

    def _set_large_buffer(self) -> None:
        small = self.buf
        file = TemporaryFile("w+b", dir=spool_folder(self._folder))  # noqa: SIM115
        self.buf = FileBasedBuffer(file, small)
        if small is not None:
            small.close()
        self.overflowed = True


class Chunks(ChunkedReceiver):  # type: ignore[misc]
    """A chunked body (RFC 9112 section 7.1), in linear time, with bounds for what is no body."""

    error: Error | None = None
    line = b""  # what was received of it
    trailer_bytes = chunks = sizes = 0

    def received(self, data: bytes) -> int:
        at = 0
        while at < len(data) and not (self.completed or self.error):
            start = at
            if self.chunk_remainder:
                at = min(len(data), start + self.chunk_remainder)
                self.buf.append(data[start:at])
                self.chunk_remainder -= at - start
                self.validate_chunk_end = not self.chunk_remainder
            else:
                at = data.find(b"\n", start) + 1 or len(data)
                self.line += data[start:at]
                self.error = self._take_line()
        return at

    def _take_line(self) -> Error | None:
        """Take it if it is whole."""
        line = self.line
        if self.all_chunks_received and self.trailer_bytes + len(line) > TRAILER_BYTES:
            return RequestHeaderFieldsTooLarge("trailers")
        if len(line) > CHUNK_LINE_BYTES and not self.all_chunks_received:
            return BadRequest("Chunk line too long")
        if not line.endswith(b"\n"):
            return None
        self.line = b""
        if self.validate_chunk_end:
            self.validate_chunk_end = False
            return None if line == b"\r\n" else BadRequest("Chunk not properly terminated")
        return self._take_trailer(line) if self.all_chunks_received else self._begin_chunk(line)

    def _begin_chunk(self, line: bytes) -> Error | None:
        found = CHUNK_LINE.fullmatch(line)
        if found is None or not CHUNK_EXT_RE.match(found[2] or b""):
            return BadRequest("Invalid chunk size")
        self.chunk_remainder = int(found[1], 16)
        self.chunks += 1
        self.sizes += self.chunk_remainder
        if self.chunks > CHUNKS + self.sizes // CHUNK_BYTES:
            return BadRequest("Too many small chunks")
        self.all_chunks_received = not self.chunk_remainder
        return None

    def _take_trailer(self, line: bytes) -> Error | None:
        self.trailer_bytes += len(line)
        self.completed = line == b"\r\n"
        is_field = line.endswith(b"\r\n") and FIELD.fullmatch(line[:-2])
        return None if self.completed or is_field else BadRequest("Invalid trailer")


class Parser(HTTPRequestParser):  # type: ignore[misc]
    """Remembers what a request asks for that is refused before it is parsed."""

    head = b""
    error: Error | None = None
    body_rcv: FixedStreamReceiver | ChunkedReceiver | None = None
    adj: Adjustments

    @property
    def is_in_file(self) -> bool:
        """Whether the body is too large for memory."""
        return self.body_rcv is not None and bool(self.body_rcv.getbuf().overflowed)

    @property
    def nears_file(self) -> bool:
        """Whether the body may become too large for memory with the next data."""
        if self.body_rcv is None or self.is_in_file:
            return False
        return bool(len(self.body_rcv) + self.adj.recv_bytes >= self.adj.inbuf_overflow)

    def parse_header(self, header_plus: bytes) -> None:
        """An absolute request target names the host, not the header (RFC 9112 section 3.2.2).

        Nothing of a body is read beyond what its address takes.
        """
        first, *lines = filter(None, header_plus.split(b"\r\n"))
        fields = [found.groups() for found in map(FIELD.fullmatch, lines) if found]
        if not FIRST_LINE.fullmatch(first) or len(fields) < len(lines):
            raise ParsingError("a line that is no field, or folded")
        stripped = [(name.lower(), value.strip(b" \t")) for name, value in fields]
        try:
            super().parse_header(b"\r\n".join([first, *map(b": ".join, stripped), b""]))
        except ValueError:  # a length of thousands of digits, an address that begins with [
            raise ParsingError("number or address") from None
        authority = self.proxy_netloc.encode("latin-1") if self.proxy_scheme else None
        refused = refused_framing(self.version, stripped, authority)
        if refused == HTTPStatus.NOT_IMPLEMENTED:
            raise TransferEncodingNotImplemented("transfer encoding")
        if refused:
            raise ParsingError("framing")
        if self.proxy_netloc:
            self.headers["HOST"] = self.proxy_netloc
        if self.body_rcv is None:
            self.expect_continue = False  # there is nothing to wait for
        if self.chunked or self.content_length >= self.adj.inbuf_overflow:
            most = body_max_bytes(self.asked.path)
            self.adj = copy(self.adj)
            # the first that is refused; the sizes of chunks count, so the application bounds those
            self.adj.max_request_body_size = most + (most // 8 if self.chunked else 1)
            body = BodyBuffer(self.adj.inbuf_overflow, self.adj.data_folder)
            self.body_rcv = (
                Chunks(body) if self.chunked else FixedStreamReceiver(self.content_length, body)
            )

    def received(self, data: bytes) -> int:
        if len(self.head) < HEAD_BYTES:
            self.head += data[:HEAD_BYTES]
        before = self.header_plus
        consumed: int = super().received(data)
        if self.error is None and self._has_odd_blanks(len(before)):
            self.error, self.completed, self.empty = BadRequest("blanks"), True, False
        if self.error is None and self._takes_last_room():
            self.error, self.completed = RequestEntityTooLarge("for the disk"), True
        if self.error is None:
            return consumed
        self.expect_continue = False  # else waitress would ask for the body
        if "ORIGIN" not in self.headers:  # too long, or broken before it
            self._find_headers(before + data)
        return len(data)  # nothing behind it is a request

    def _has_odd_blanks(self, seen: int) -> bool:
        """Whether the head begins with two empty lines or a blank, or has a bare CR or LF.

        seen  bytes of the head that were looked at before
        """
        if self.body_rcv is not None:
            return False
        begins = self.head.lstrip(b"\r\n")[:1].isspace()
        bare = not self.headers_finished and BARE.search(self.header_plus, max(0, seen - 1))
        return self.empty or begins or bool(bare)

    def _takes_last_room(self) -> bool:
        """Whether a body larger than forms are leaves others less than AUDIO_FREE_BYTES."""
        if not self.is_in_file or self.adj.max_request_body_size <= FORM_BODY_MAX_BYTES * 2:
            return False
        return bool(disk_usage(self.adj.data_folder).free < self.adj.free_bytes)

    def _find_headers(self, header_plus: bytes) -> None:
        """Keep what tells a browser why its request failed, each if there is one."""
        lines = header_plus.partition(b"\r\n\r\n")[0] + b"\r\n"
        for name, pattern in FOUND_ANYWAY.items():
            found = pattern.findall(lines)
            if len(found) == 1:
                self.headers.setdefault(name, found[0].decode("latin-1"))

    @property
    def asked(self) -> Asked:
        """What is asked for, by the start of the request line; "" where it cannot be read."""
        found = REQUEST_LINE.match(self.head)
        method, path, query = (
            (part or b"").decode("latin-1") for part in (found.groups() if found else (b"",) * 3)
        )
        return Asked(method, path, query, self.headers)


class Refusal(ErrorTask):  # type: ignore[misc]
    """What this server refuses before the application sees it."""

    def execute(self) -> None:
        error, asked = self.request.error, self._asked()
        log.info("refused", extra={"status": error.code})
        server = self.channel.server
        answer = refusal(server.application, server.config, error, asked)
        self.status = answer.status
        self.response_headers += [
            *answer.headers,
            *cors_headers(asked.kind, asked.headers.get("ORIGIN"), server.config).items(),
        ]
        self.channel.lingers = True
        self.set_close_on_finish()
        self.content_length = len(answer.body)
        self.write(answer.body)

    def _asked(self) -> Asked:
        """After an error of the application waitress passes a new request without a path."""
        parser: Parser = self.channel.requests[0] if self.channel.requests else self.request
        return parser.asked._replace(client=self.channel.addr[0])


class SentFile(ReadOnlyFileBasedBuffer):  # type: ignore[misc]
    """A file as a response, of which little is held in memory, however much its socket takes."""

    def get(self, numbytes: int = -1, skip: bool = False) -> bytes:  # noqa: FBT001, FBT002
        at_most = SENT_BYTES if numbytes < 0 else min(numbytes, SENT_BYTES)
        found: bytes = super().get(at_most, skip)
        return found


class Answer(WSGITask):  # type: ignore[misc]
    """The response of the application."""

    stream: Stream | None = None  # to which the connection is left

    def get_environment(self) -> dict[str, object]:
        """The environment, in which a view finds how to leave its connection or a file to us."""
        environ: dict[str, object] = super().get_environment()
        environ[LEAVE_CONNECTION] = self.leave
        environ["wsgi.file_wrapper"] = SentFile
        return environ

    def leave(self, stream: Stream) -> bool:
        """Go on with the stream after the header; False if there is no room for it."""
        if not self.channel.server.streams.reserve(stream.holder, stream.account_id):
            return False
        self.stream = stream
        return True

    def build_response_header(self) -> bytes:
        """Nothing yet: the channel sends the header with the first part of the body."""
        self.channel.header = super().build_response_header()
        return b""

    def finish(self) -> None:
        """End the body, unless a stream follows; without one, send the header alone."""
        if self.stream and self.content_length is None:  # else the view has failed
            self.write(b"")
            self.channel.leave_to(self.stream, chunked=self.chunked_response)
            self.stream = None
            return
        super().finish()
        self.channel.send_header()

    def service(self) -> None:
        """Handle an OSError like any other error of the application.

        It never comes from the client: the channel handles errors of its socket itself.
        """
        try:
            self.start()
            self.execute()
            self.finish()
        finally:
            if self.stream:
                self.channel.server.streams.release(self.stream.holder, self.stream.account_id)
