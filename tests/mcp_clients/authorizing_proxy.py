"""A proxy that adds a token to every request, for suites that cannot send one."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit


@contextmanager
def authorizing(mcp_url: str, token: str) -> Iterator[str]:
    """The endpoint's address behind the proxy. A foreign `Host` and any `Origin` go through."""
    upstream = urlsplit(mcp_url)

    class Proxy(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _pass_on(self) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            headers.pop("connection", None)
            if headers.get("host") == own:
                headers["host"] = upstream.netloc
            headers["authorization"] = f"Bearer {token}"
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            connection = HTTPConnection(upstream.hostname or "", upstream.port or 80, timeout=40)
            connection.request(self.command, self.path, body, headers)
            answer = connection.getresponse()
            found = answer.read()
            connection.close()
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in {"connection", "content-length", "transfer-encoding"}:
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(found)))
            self.end_headers()
            self.wfile.write(found)

        do_GET = do_POST = do_DELETE = do_OPTIONS = _pass_on

        def log_message(self, *_: Any) -> None:
            """Log nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Proxy) as server:
        own = f"127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield f"http://{own}{upstream.path}"
        finally:
            server.shutdown()
            thread.join()
