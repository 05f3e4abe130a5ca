"""A receiver on loopback that answers bytes as a test says, over TLS or without."""

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

Answer = Callable[[socket.socket], None]


@dataclass
class Receiver:
    """Where it listens, the raw requests it has read, and how many connections it took."""

    port: int = 0
    requests: list[bytes] = field(default_factory=list)
    connections: int = 0

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def raw_receiver(
    answer: Answer, *, tls: ssl.SSLContext | None = None, reads: bool = True
) -> Iterator[Receiver]:
    """Each connection is read to the end of its request, unless told not to, then answered."""
    listener = socket.create_server(("127.0.0.1", 0))
    receiver = Receiver(listener.getsockname()[1])
    stopped = threading.Event()

    def serve(connection: socket.socket) -> None:
        connection.settimeout(30)
        with suppress(OSError), connection if tls is None else encrypted(connection, tls) as peer:
            if reads:
                receiver.requests.append(read_request(peer))
            answer(peer)

    def accept() -> None:
        while True:
            connection = listener.accept()[0]
            if stopped.is_set():
                connection.close()
                return
            receiver.connections += 1
            threading.Thread(target=serve, args=(connection,), daemon=True).start()

    thread = threading.Thread(target=accept)
    thread.start()
    try:
        yield receiver
    finally:
        stopped.set()
        with socket.socket() as caller:  # ends the waiting of `accept`
            caller.connect(listener.getsockname())
        thread.join()
        listener.close()


def encrypted(connection: socket.socket, tls: ssl.SSLContext) -> socket.socket:
    with connection:
        return tls.wrap_socket(connection, server_side=True)


def read_request(connection: socket.socket) -> bytes:
    """Head and body of one request. Raises OSError when the client goes away before its end."""
    raw = b""
    while b"\r\n\r\n" not in raw:
        raw += received(connection, 65_536)
    head, _, body = raw.partition(b"\r\n\r\n")
    lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    missing = int(lengths[0].split(b":")[1]) - len(body) if lengths else 0
    while missing > 0:
        more = received(connection, missing)
        raw += more
        missing -= len(more)
    return raw


def received(connection: socket.socket, most: int) -> bytes:
    more = connection.recv(most)
    if not more:
        raise ConnectionResetError
    return more


def says(*parts: bytes, pause: float = 0, repeat: int = 1) -> Answer:
    """Send these parts, so often, with a pause after each."""

    def answer(connection: socket.socket) -> None:
        for _ in range(repeat):
            for part in parts:
                connection.sendall(part)
                if pause:
                    time.sleep(pause)

    return answer
