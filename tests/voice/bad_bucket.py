"""A server in the place of one that speaks S3, which keeps nothing."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread

ERROR = "<?xml version='1.0'?><Error><Code>{}</Code><Message>no</Message></Error>"


@contextmanager
def bad_bucket(status: int | None, code: str = "") -> Iterator[int]:
    """The port of a server that answers everything with an error; without a status, never."""
    ended = Event()

    class Handler(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            if status is None:
                ended.wait()
                return
            body = ERROR.format(code).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = do_DELETE = do_PUT  # noqa: N815

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    serving = Thread(target=server.serve_forever)
    serving.start()
    try:
        yield server.server_port
    finally:
        ended.set()
        server.shutdown()
        serving.join()
        server.server_close()
