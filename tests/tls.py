"""What stands in front of a production server: a proxy that ends TLS and tells who is calling."""

import http.client
import ssl
import threading
from base64 import b64encode
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import trustme
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from cryptography.x509 import load_pem_x509_certificate

OF_ONE_HOP = {"connection", "keep-alive", "transfer-encoding", "content-length"}


@dataclass(frozen=True)
class Authority:
    """A certificate in its context, and what makes clients believe it."""

    context: ssl.SSLContext
    ca_file: Path
    fingerprint: str


def certified(folder: Path, *names: str) -> Authority:
    """One certificate for all `names`; `fingerprint` is what Chromium takes on trust."""
    authority = trustme.CA()
    issued = authority.issue_cert(*names)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    issued.configure_cert(context)
    ca_file = folder / "authority.pem"
    authority.cert_pem.write_to_path(str(ca_file))
    key = load_pem_x509_certificate(issued.cert_chain_pems[0].bytes()).public_key()
    public_key = key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return Authority(context, ca_file, b64encode(sha256(public_key).digest()).decode())


@contextmanager
def ending_tls(authority: Authority, backend: int, port: int = 0) -> Iterator[int]:
    """The port of a proxy before the server on `backend`, as `/docs/operate` sets one up."""

    class Proxy(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def pass_on(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            came_by = [*self.headers.get_all("X-Forwarded-For", []), self.client_address[0]]
            del self.headers["X-Forwarded-For"]
            self.headers["X-Forwarded-For"] = ", ".join(came_by)
            self.headers["X-Forwarded-Proto"] = "https"
            with closing(http.client.HTTPConnection("127.0.0.1", backend, timeout=30)) as upstream:
                upstream.request(self.command, self.path, body or None, dict(self.headers.items()))
                self.answer(upstream.getresponse())

        def answer(self, given: http.client.HTTPResponse) -> None:
            body = given.read()
            self.send_response_only(given.status, given.reason)
            for name, value in given.getheaders():
                if name.lower() not in OF_ONE_HOP:
                    self.send_header(name, value)
            if given.status not in {204, 304}:
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        do_GET = do_HEAD = do_POST = do_OPTIONS = do_PATCH = do_DELETE = pass_on

        def log_message(self, *_arguments: object) -> None:
            """Quiet."""

    with https_server(authority, Proxy, port) as found:
        yield found


@contextmanager
def https_server(
    authority: Authority, handler: type[BaseHTTPRequestHandler], port: int = 0
) -> Iterator[int]:
    """The port of a small https server; stopped at the end."""
    server = QuietServer(("127.0.0.1", port), handler)
    server.tls = authority.context
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)


class Website(BaseHTTPRequestHandler):
    """Shows its page at each address."""

    def page(self) -> str:
        return "You can close this window."

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(f"<!doctype html><title>A website</title>{self.page()}".encode())

    def log_message(self, *_arguments: object) -> None:
        """Quiet."""


class QuietServer(ThreadingHTTPServer):
    """Shakes hands in the thread of the connection, so that a slow client holds up nobody."""

    daemon_threads = True
    tls: ssl.SSLContext

    def finish_request(self, request: ssl.SSLSocket, client_address: object) -> None:  # type: ignore[override]
        request.settimeout(30)
        with self.tls.wrap_socket(request, server_side=True) as wrapped:
            super().finish_request(wrapped, client_address)

    def handle_error(self, _request: object, _client_address: object) -> None:
        """A browser that hangs up is no error of the test."""
