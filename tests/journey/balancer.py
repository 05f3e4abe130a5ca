"""One port in front of several processes: each connection goes to the next of them."""

import itertools
import socket
import socketserver
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress


@contextmanager
def balancing(ports: Sequence[int]) -> Iterator[int]:
    """The port while it serves; connections are passed on as they are."""
    turns = itertools.cycle(ports)

    class Connection(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with socket.create_connection(("127.0.0.1", next(turns))) as backend:
                back = threading.Thread(target=pipe, args=(backend, self.request))
                back.start()
                pipe(self.request, backend)
                back.join()

    class Balancer(socketserver.ThreadingTCPServer):
        daemon_threads = True
        request_queue_size = 512  # whoever finds no place in it tries again a second later

    with Balancer(("127.0.0.1", 0), Connection) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,)).start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()


def pipe(source: socket.socket, target: socket.socket) -> None:
    """Pass bytes on until one side has had enough."""
    with suppress(OSError):
        while piece := source.recv(65_536):
            target.sendall(piece)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)
