"""A load client in a process of its own: kept connections, requests made beforehand, one thread.

Reads a plan from standard input, prints what it measured. Latencies are seconds from sending a
request to having its whole answer.
"""

import base64
import json
import selectors
import socket
import subprocess
import sys
import time
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent


@dataclass(frozen=True)
class Measured:
    """What came back: requests per second, sorted latencies, statuses."""

    rate: float
    latencies: list[float]
    statuses: dict[str, int]

    def quantile(self, share: float) -> float:
        """Latency in milliseconds that `share` of the requests did not exceed."""
        return 1000 * self.latencies[min(len(self.latencies) - 1, int(share * len(self.latencies)))]


def load(
    ports: Sequence[int], requests: Sequence[Sequence[bytes]], *, pause: float = 0
) -> Measured:
    """Send each list of requests over a connection of its own, all at once, spread over ports.

    pause  seconds from an answer to the next request of its connection; they begin evenly spread
    """
    plan = {
        "pause": pause,
        "ports": [ports[n % len(ports)] for n in range(len(requests))],
        "requests": [[base64.b64encode(one).decode() for one in each] for each in requests],
    }
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench.load"],
        input=json.dumps(plan),
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=True,
    )
    return Measured(**json.loads(done.stdout))


def request(
    method: str, path: str, *headers: str, body: bytes = b"", host: str = "127.0.0.1"
) -> bytes:
    """The bytes of one request on a kept connection; pages want the host of the public address."""
    lines = [f"{method} {path} HTTP/1.1", f"Host: {host}", *headers]
    if method != "GET":
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode() + body


@dataclass
class Connection:
    """One kept connection with the requests it still has to send."""

    socket: socket.socket
    waiting: deque[bytes]
    sent_at: float = 0.0
    received: bytearray = field(default_factory=bytearray)

    def send_next(self) -> bool:
        if not self.waiting:
            return False
        self.received.clear()
        self.sent_at = time.perf_counter()
        self.socket.sendall(self.waiting.popleft())
        return True

    def receive(self) -> str | None:
        """The status once the whole answer is there."""
        got = self.socket.recv(1 << 18)
        if not got:
            raise ConnectionError(f"the server closed after {bytes(self.received[:200])!r}")
        self.received += got
        head, separator, body = self.received.partition(b"\r\n\r\n")
        if not separator or len(body) < _length(head):
            return None
        return head[9:12].decode()


def _length(head: bytearray) -> int:
    lower = bytes(head).lower()
    start = lower.index(b"content-length:") + 15
    return int(lower[start : lower.find(b"\r\n", start) % (len(lower) + 1)])


def _run(plan: dict[str, Any]) -> dict[str, Any]:
    latencies: list[float] = []
    statuses: Counter[str] = Counter()
    connections = []
    for port, requests in zip(plan["ports"], plan["requests"], strict=True):
        wire = socket.create_connection(("127.0.0.1", port))
        wire.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connections.append(Connection(wire, deque(map(base64.b64decode, requests))))
    began, pause = time.perf_counter(), plan["pause"]
    step, left = pause / len(connections), len(connections)
    resting = deque((began + step * n, each) for n, each in enumerate(connections))

    def go_on() -> int:
        """Send what is due; how many have nothing to send any more."""
        ended = 0
        while resting and resting[0][0] <= time.perf_counter():
            ended += not resting.popleft()[1].send_next()
        return ended

    with selectors.DefaultSelector() as selector:
        for each in connections:
            selector.register(each.socket, selectors.EVENT_READ, each)
        left -= go_on()
        while left:
            rest = max(0, resting[0][0] - time.perf_counter()) if resting else None
            for key, _ in selector.select(rest):
                if (status := key.data.receive()) is None:
                    continue
                now = time.perf_counter()
                latencies.append(now - key.data.sent_at)
                statuses[status] += 1
                resting.append((now + pause, key.data))
                left -= go_on()
            left -= go_on()
    took = time.perf_counter() - began
    return {"rate": len(latencies) / took, "latencies": sorted(latencies), "statuses": statuses}


if __name__ == "__main__":
    print(json.dumps(_run(json.load(sys.stdin))))
