"""Responses that go on: one thread writes to all connections that views have left to the server.

A stream holds neither a serving thread nor a place in the loop of waitress. Once its request has
been served the loop gives the connection away, between two polls, when no event that is still to
be handled refers to its descriptor: from then on this thread alone writes to it and closes it.
Whatever the client sends is dropped.
"""

import logging
import selectors
import socket
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from typing import TypeVar

from flask import Flask, g

from webapp.runtime.server_stream_connections import (
    COMMENT_SECONDS,
    Connection,
    in_chunk,
    most_behind,
)
from webapp.web.wakeups import Wakeups
from webapp.wire.event_stream import (
    ACCOUNT_SHARE,
    COMMENT,
    OF_HOLDER,
    Feed,
    News,
    Place,
    Stream,
    end_frame,
)

LOOK_SECONDS = 1.0  # after which all is read that no wake-up told of, and the clocks are looked at
FLUSH_SECONDS = 1.0  # for the end of a stream to be taken
PATIENCE_SECONDS = 2.0  # for one statement
LOG_SECONDS = 60.0  # between two lines of the log
READ_AT_ONCE = 64  # places, each of which may bring 128 KiB

T = TypeVar("T")
log = logging.getLogger("askback.streams")


class Streams:
    """All streams of one process; their thread begins with the first one.

    most        how many there may be at a time
    most_bytes  how much is held for all of them that their clients have not taken
    """

    def __init__(self, app: Flask, most: int, most_bytes: int) -> None:
        self._app = app
        self._most = most
        self._of_account = max(OF_HOLDER, most // ACCOUNT_SHARE)
        self._most_bytes = most_bytes
        self._lock = threading.Lock()
        self._count = 0
        self._held: Counter[str] = Counter()  # by token and by account
        self._new: list[Connection] = []
        self._changed: set[str] = set()
        self._followers: defaultdict[str, set[Connection]] = defaultdict(set)
        self._looked_at = 0.0
        self._logs_at: defaultdict[str, float] = defaultdict(float)
        self._stopping = False
        self._selector = selectors.DefaultSelector()
        self._alarm, self._alarmed = socket.socketpair()
        for end in (self._alarm, self._alarmed):
            end.settimeout(0)
        self._selector.register(self._alarmed, selectors.EVENT_READ)
        self._thread: threading.Thread | None = None
        wakeups: Wakeups = app.extensions["wakeups"]
        wakeups.follow(self.wake)

    def __len__(self) -> int:
        """How many places are taken."""
        return self._count

    def reserve(self, holder: str, account_id: str) -> bool:
        """Take a place for a stream of the holder; False if there is none."""
        with self._lock:
            own = self._held[holder] >= OF_HOLDER or self._held[account_id] >= self._of_account
            if self._stopping or self._count >= self._most or own:
                return False
            self._count += 1
            self._held.update((holder, account_id))
            return True

    def release(self, holder: str, account_id: str) -> None:
        """Give the place back."""
        with self._lock:
            self._count -= 1
            self._held.subtract((holder, account_id))
            self._held += Counter()  # drops those that hold none

    def take(
        self, left: Stream, connection: socket.socket, header: bytes, *, chunked: bool
    ) -> None:
        """Go on with the header, at a place that is reserved."""
        taken = Connection(left, connection, chunked=chunked)
        taken.append(header)
        with self._lock:
            if self._stopping:
                connection.close()
                return
            self._new.append(taken)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="streams", daemon=True)
                self._thread.start()
        self._ring()

    def wake(self, key: str) -> None:
        """Read soon for those who follow `key`."""
        if key in self._followers:
            with self._lock:
                self._changed.add(key)
            self._ring()

    def stop(self) -> None:
        """End all streams and take no more; `close` waits for that."""
        with self._lock:
            self._stopping = True
        self._ring()

    def close(self, seconds: float) -> None:
        """Wait for the thread, which closes all connections."""
        if self._thread:
            self._thread.join(seconds)
        if self._thread is None or not self._thread.is_alive():
            for each in (self._selector, self._alarm, self._alarmed):
                each.close()

    def _ring(self) -> None:
        with suppress(OSError):  # full: it rings already
            self._alarm.send(b"!")

    def _run(self) -> None:
        while not self._stopping or self._new or self._followers:
            try:
                self._turn()
            except Exception:
                log.exception("a turn of the streams failed")
                time.sleep(LOOK_SECONDS / 10)

    def _turn(self) -> None:
        self._wait()
        self._accept()
        now = time.monotonic()
        looks = self._stopping or now - self._looked_at >= LOOK_SECONDS
        if looks:
            self._looked_at = now
            self._look(now)
        with self._lock:
            changed, self._changed = self._changed, set()
        self._read(list(self._followers) if looks else changed)

    def _wait(self) -> None:
        """Until a wake-up, or until a client took what was sent or left."""
        seconds = LOOK_SECONDS / 10 if self._stopping else LOOK_SECONDS
        for key, _ in self._selector.select(0 if self._changed else seconds):
            if key.data is None:
                with suppress(BlockingIOError):
                    self._alarmed.recv(4096)
            else:
                self._serve(key.data)

    def _accept(self) -> None:
        with self._lock:
            new, self._new = self._new, []
        for each in new:
            self._selector.register(each.socket, selectors.EVENT_READ, each)
            self._followers[each.place.key].add(each)
            self._flush(each)
        with self._lock:
            self._changed.update(each.place.key for each in new)

    def _serve(self, connection: Connection) -> None:
        """Drop what the client has sent, and send on."""
        try:
            if not connection.socket.recv(65_536):
                self._close(connection)
                return
        except BlockingIOError:
            pass
        except OSError:
            self._close(connection)
            return
        paused = not connection.reads
        self._flush(connection)
        if paused and connection.reads:
            self.wake(connection.place.key)

    def _look(self, now: float) -> None:
        """End, comment and drop what is due."""
        everyone = [each for following in self._followers.values() for each in following]
        holders = {each.holder for each in everyone}
        ended = {} if self._stopping else self._ask(lambda feed: feed.ended(holders)) or {}
        for each in everyone:
            if each.is_over(now):
                self._close(each)
            elif each.close_at is None:
                reason = "stopping" if self._stopping else ended.get(each.holder)
                if reason or now >= each.end_at:
                    self._end(each, reason or "time")
                elif now >= each.comment_at:
                    each.comment_at = now + COMMENT_SECONDS
                    self._send([each], COMMENT)

    def _read(self, keys: Iterable[str]) -> None:
        """Read once for each place, and send what is new to all who stand there."""
        standing: defaultdict[Place, list[Connection]] = defaultdict(list)
        for key in keys:
            for each in self._followers.get(key, ()):
                if each.reads:
                    standing[each.place].append(each)
        places = list(standing)
        for first in range(0, len(places), READ_AT_ONCE):
            self._read_at(places[first : first + READ_AT_ONCE], standing)

    def _read_at(self, places: list[Place], to: Mapping[Place, list[Connection]]) -> None:
        def look(feed: Feed) -> tuple[Mapping[Place, News], Mapping[str, str]]:
            """Tokens are read after the answers: no answer is newer than the end of a token."""
            found = feed.read(places)
            holders = {each.holder for place in found for each in to[place]}
            return found, feed.ended(holders) if holders else {}

        found, ended = self._ask(look) or ({}, {})
        for place, news in found.items():
            for each in to[place]:
                if each.holder in ended:
                    self._end(each, ended[each.holder])
            self._pass_on(news, [each for each in to[place] if each.close_at is None])
        self._drop_most_behind()

    def _drop_most_behind(self) -> None:
        """Close whom too much is held for; they come back with the id of their last event."""
        everyone = [each for following in self._followers.values() for each in following]
        dropped = most_behind(everyone, self._most_bytes)
        for each in dropped:
            self._close(each)
        if dropped:
            self._warn("streams were closed whose clients left more than MAX_STREAM_BYTES unread")

    def _pass_on(self, news: News, to: Collection[Connection]) -> None:
        for each in to:
            each.place = news.place
        self._send(to, news.frames)
        if news.end:
            for each in to:
                self._end(each, news.end)
        elif news.more:
            with self._lock:
                self._changed.add(news.place.key)

    def _ask(self, question: Callable[[Feed], T]) -> T | None:
        """The answer of the feed; None while the database does not answer."""
        try:
            with self._app.app_context():
                g.patience = PATIENCE_SECONDS
                return question(self._app.extensions["feed"])
        except Exception:
            self._warn("the streams could not be read", exc_info=True)
            return None

    def _warn(self, message: str, *, exc_info: bool = False) -> None:
        """The same message once in LOG_SECONDS."""
        if time.monotonic() >= self._logs_at[message]:
            self._logs_at[message] = time.monotonic() + LOG_SECONDS
            log.warning(message, exc_info=exc_info)

    def _send(self, to: Collection[Connection], data: bytes) -> None:
        if not data:
            return
        chunk = in_chunk(data)
        for each in to:
            each.append(chunk if each.chunked else data)
            self._flush(each)

    def _end(self, connection: Connection, reason: str) -> None:
        """Send the last event; whoever does not take it in time is closed."""
        if connection.close_at is None:
            connection.close_at = time.monotonic() + FLUSH_SECONDS
            self.release(connection.holder, connection.account_id)
            last = end_frame(reason)
            connection.append(in_chunk(last) + in_chunk(b"") if connection.chunked else last)
            self._flush(connection)

    def _flush(self, connection: Connection) -> None:
        """Send what the client takes, and the rest when it does."""
        if connection.socket.fileno() < 0:  # closed
            return
        try:
            connection.send()
            if connection.close_at is not None and not connection.unread:
                connection.socket.shutdown(socket.SHUT_WR)
        except OSError:
            self._close(connection)
            return
        if connection.waits != bool(connection.unread):
            connection.waits = not connection.waits
            wanted = selectors.EVENT_READ | (selectors.EVENT_WRITE if connection.waits else 0)
            self._selector.modify(connection.socket, wanted, connection)

    def _close(self, connection: Connection) -> None:
        """Close at once, without waiting for what was not taken."""
        following = self._followers[connection.place.key]
        following.discard(connection)
        if not following:
            del self._followers[connection.place.key]
        if connection.close_at is None:
            connection.close_at = 0.0
            self.release(connection.holder, connection.account_id)
        self._selector.unregister(connection.socket)
        connection.close()
