"""One request of the server: how it is read, and how its answer or refusal is written."""

import logging
import re
import time

from waitress.adjustments import Adjustments
from waitress.parser import HTTPRequestParser
from waitress.task import ErrorTask, WSGITask

from webapp.runtime.server_errors import refusal
from webapp.web.request_kind import RequestKind, of_address

HEAD_BYTES = 1024  # enough of a request line to know where it went
REQUEST_LINE = re.compile(rb"\s*\S+ (?:https?://[^/\s]*)?/*(/[^\s?]*)")

log = logging.getLogger("askback.server")


class Parser(HTTPRequestParser):  # type: ignore[misc]
    """Remembers where a request went that is refused before its headers were understood."""

    head = b""

    def __init__(self, adj: Adjustments) -> None:
        super().__init__(adj)
        self.begun_at = time.time()

    @property
    def is_in_file(self) -> bool:
        """Whether the body is too large for memory."""
        return self.body_rcv is not None and bool(self.body_rcv.getbuf().overflowed)

    @property
    def nears_file(self) -> bool:
        """Whether the next piece may make the body too large for memory."""
        if self.body_rcv is None or self.is_in_file:
            return False
        return bool(len(self.body_rcv) + self.adj.recv_bytes >= self.adj.inbuf_overflow)

    def parse_header(self, header_plus: bytes) -> None:
        """An absolute request target names the host, not the header (RFC 9112 section 3.2.2)."""
        super().parse_header(header_plus)
        if self.proxy_netloc:
            self.headers["HOST"] = self.proxy_netloc

    def received(self, data: bytes) -> int:
        if len(self.head) < HEAD_BYTES:
            self.head += data[:HEAD_BYTES]
        consumed: int = super().received(data)
        return consumed

    @property
    def for_api(self) -> bool:
        """Whether the refusal needs the body of the contract."""
        found = REQUEST_LINE.match(self.head)
        return found is not None and of_address(found[1].decode("latin-1")) is RequestKind.API


class Refusal(ErrorTask):  # type: ignore[misc]
    """What this server refuses before the application sees it."""

    def execute(self) -> None:
        code = self.request.error.code
        log.info("refused", extra={"status": code})
        self.status, content_type, body = refusal(code, self.request.error.reason, self._for_api())
        self.response_headers += [
            ("Content-Type", content_type),
            ("X-Content-Type-Options", "nosniff"),
            ("Cache-Control", "no-store"),
        ]
        self.channel.lingers = True
        self.set_close_on_finish()
        self.content_length = len(body)
        self.write(body)

    def _for_api(self) -> bool:
        """A fault of the application comes with a request of its own, without an address."""
        asked = self.channel.requests[0] if self.channel.requests else self.request
        return bool(asked.for_api)


class Answer(WSGITask):  # type: ignore[misc]
    """What the application answers."""

    def build_response_header(self) -> bytes:
        """Nothing yet: the channel sends the header with the first piece of the body."""
        self.channel.header = super().build_response_header()
        return b""

    def finish(self) -> None:
        """End the body; without one, send the header alone."""
        super().finish()
        self.channel.send_header()

    def service(self) -> None:
        """Let every OSError end as any other fault of the application.

        None is of the client: the channel keeps those of its socket to itself.
        """
        self.start()
        self.execute()
        self.finish()
