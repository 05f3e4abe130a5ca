"""The connection of one stream: what is still to be sent on it, and its clocks."""

import socket
import struct
import time
from collections import Counter, deque
from collections.abc import Collection, Iterator
from contextlib import suppress

from webapp.wire.event_stream import Stream

STREAM_SECONDS = 900.0
COMMENT_SECONDS = 15.0
UNREAD_BYTES = 256 * 1024  # of one stream; beyond, nothing more is read for it
UNREAD_SECONDS = 30.0  # after which a client that leaves so much is dropped
SOCKET_BYTES = 64 * 1024  # that the kernel holds beside


class Connection:
    """One stream. Moments are monotonic; `close_at` is set when it ends."""

    __slots__ = (
        *("place", "holder", "account_id", "socket", "chunked", "end_at", "comment_at"),
        *("full_since", "close_at", "waits", "unread", "held", "_pending"),
    )

    def __init__(self, left: Stream, connection: socket.socket, *, chunked: bool) -> None:
        now = time.monotonic()
        self.place, self.holder, self.account_id = left
        self.socket = connection
        self.chunked = chunked
        self.end_at = now + STREAM_SECONDS
        self.comment_at = now + COMMENT_SECONDS
        self.full_since: float | None = None
        self.close_at: float | None = None
        self.waits = False  # until the client takes what is pending
        self.unread = 0  # bytes of `_pending`
        self.held = 0  # bytes of the buffers that these are in
        self._pending: deque[memoryview] = deque()
        with suppress(OSError):
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SOCKET_BYTES)

    @property
    def reads(self) -> bool:
        """Whether more may be read for it."""
        return self.close_at is None and self.unread < UNREAD_BYTES

    @property
    def buffers(self) -> Iterator[bytes]:
        """What is still to be sent, which others may share; the first may be sent in part."""
        return (view.obj for view in self._pending)  # type: ignore[misc]

    def append(self, data: bytes) -> None:
        """Send this later, as it is; all connections may share it."""
        self._pending.append(memoryview(data))
        self.unread += len(data)
        self.held += len(data)

    def send(self) -> None:
        """Send what the socket accepts. raises OSError when the client has gone"""
        with suppress(BlockingIOError):
            while self._pending:
                sent = self.socket.send(self._pending[0])
                self.unread -= sent
                first = self._pending.popleft()
                if sent < len(first):
                    self._pending.appendleft(first[sent:])
                else:
                    self.held -= len(first.obj)  # type: ignore[arg-type]

    def close(self) -> None:
        """Close, by a reset if anything is left to be sent."""
        if self.unread:
            discard_unsent(self.socket)
        self.socket.close()

    def is_over(self, now: float) -> bool:
        """Whether its client takes nothing any more, or had time to take the end."""
        if self.unread < UNREAD_BYTES:
            self.full_since = None
        elif self.full_since is None:
            self.full_since = now
        stalled = self.full_since is not None and now - self.full_since > UNREAD_SECONDS
        return stalled or (self.close_at is not None and now >= self.close_at)


def most_behind(connections: Collection[Connection], most: int) -> list[Connection]:
    """Those to close so that at most so many bytes are held for the others, the most behind first.

    A buffer that several share is held once.
    """
    if sum(each.held for each in connections) <= most:
        return []
    sizes = {id(buffer): len(buffer) for each in connections for buffer in each.buffers}
    sharing = Counter(id(buffer) for each in connections for buffer in each.buffers)
    held, found = sum(sizes.values()), []
    for each in sorted(connections, key=lambda each: each.held, reverse=True):
        if held <= most:
            break
        found.append(each)
        own = Counter(map(id, each.buffers))
        sharing.subtract(own)
        held -= sum(sizes[buffer] for buffer in own if not sharing[buffer])
    return found


def discard_unsent(connection: socket.socket) -> None:
    """Let its close reset the connection."""
    with suppress(OSError):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def in_chunk(data: bytes) -> bytes:
    """A chunk of RFC 9112 section 7.1; without data the last one."""
    return b"%x\r\n%b\r\n" % (len(data), data)
