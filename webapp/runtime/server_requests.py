"""One request of the server: parsing it, and writing its response or refusal."""

import logging
import re
from copy import copy

from waitress.adjustments import Adjustments
from waitress.parser import HTTPRequestParser
from waitress.task import ErrorTask, WSGITask

from webapp.domain.shared.limits import MCP_BODY_MAX_BYTES
from webapp.runtime.server_errors import cors_headers, refusal
from webapp.web.request_kind import RequestKind, of_address
from webapp.wire.event_stream import LEAVE_CONNECTION, Stream

HEAD_BYTES = 1024  # enough of a request line to know its path
REQUEST_LINE = re.compile(rb"\s*\S+ +(?:https?://[^/\s]*)?/*(/[^\s?]*)")
ORIGIN = re.compile(rb"\norigin:[ \t]*([!-~]+)[ \t]*(?=\r\n)", re.IGNORECASE)

log = logging.getLogger("askback.server")


class Parser(HTTPRequestParser):  # type: ignore[misc]
    """Remembers the path and the origin of a request that is refused before it is parsed."""

    head = b""
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

        Of a body to the MCP endpoint nothing is read beyond its limit.
        """
        super().parse_header(header_plus)
        if self.proxy_netloc:
            self.headers["HOST"] = self.proxy_netloc
        may_be_large = self.chunked or self.content_length > MCP_BODY_MAX_BYTES
        if may_be_large and self.kind is RequestKind.MCP:
            self.adj = copy(self.adj)
            self.adj.max_request_body_size = MCP_BODY_MAX_BYTES + 1  # the first that is refused

    def received(self, data: bytes) -> int:
        if len(self.head) < HEAD_BYTES:
            self.head += data[:HEAD_BYTES]
        before = self.header_plus
        consumed: int = super().received(data)
        if self.error is not None and "ORIGIN" not in self.headers:  # too long, or broken before it
            self._find_origin(before + data)
        return consumed

    def _find_origin(self, header_plus: bytes) -> None:
        """Keep the origin, if there is one, for a browser to be told why its request failed."""
        found = ORIGIN.findall(header_plus.partition(b"\r\n\r\n")[0] + b"\r\n")
        if len(found) == 1:
            self.headers["ORIGIN"] = found[0].decode("latin-1")

    @property
    def kind(self) -> RequestKind | None:
        """The kind of the request by its address, which says what a refusal looks like."""
        found = REQUEST_LINE.match(self.head)
        return of_address(found[1].decode("latin-1")) if found else None


class Refusal(ErrorTask):  # type: ignore[misc]
    """What this server refuses before the application sees it."""

    def execute(self) -> None:
        code, asked = self.request.error.code, self._asked()
        log.info("refused", extra={"status": code})
        self.status, content_type, body = refusal(code, self.request.error.reason, asked.kind)
        origin, config = asked.headers.get("ORIGIN"), self.channel.server.config
        self.response_headers += [
            ("Content-Type", content_type),
            ("X-Content-Type-Options", "nosniff"),
            ("Cache-Control", "no-store"),
            *cors_headers(asked.kind, origin, config).items(),
        ]
        self.channel.lingers = True
        self.set_close_on_finish()
        self.content_length = len(body)
        self.write(body)

    def _asked(self) -> Parser:
        """After an error of the application waitress passes a new request without a path."""
        asked: Parser = self.channel.requests[0] if self.channel.requests else self.request
        return asked


class Answer(WSGITask):  # type: ignore[misc]
    """The response of the application."""

    stream: Stream | None = None  # to which the connection is left

    def get_environment(self) -> dict[str, object]:
        """The environment, in which a view finds how to leave its connection to the server."""
        environ: dict[str, object] = super().get_environment()
        environ[LEAVE_CONNECTION] = self.leave
        return environ

    def leave(self, stream: Stream) -> bool:
        """Go on with the stream after the header; False if there is no room for it."""
        if not self.channel.server.streams.reserve(stream.holder):
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
                self.channel.server.streams.release(self.stream.holder)
