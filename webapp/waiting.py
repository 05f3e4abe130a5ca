"""Requests that wait for something to happen. Together they hold at most half of the threads.

A wake-up is a hint inside one process; what happened is read from the database, at least once
each second, so that a hint lost between processes costs that second only.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar, cast

from flask import Flask, current_app, request

THREADS = 256  # of the HTTP server; threads are cheap, starvation is the risk
LOOK_SECONDS = 1.0

T = TypeVar("T")


class Waiting:
    """Admission of at most `most` waiting threads, and their wake-up by key."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._held = 0
        self._stopped = False
        self._waiters: dict[str, list[threading.Event]] = {}

    @contextmanager
    def place(self) -> Iterator[bool]:
        """Hold one of the places; False when all are taken or the server stops."""
        with self._lock:
            admitted = self._held < self._most and not self._stopped
            self._held += admitted
        try:
            yield admitted
        finally:
            with self._lock:
                self._held -= admitted

    def wait_until(
        self, key: str, look: Callable[[], T | None], seconds: float, gone: Callable[[], bool]
    ) -> T | None:
        """What `look` finds as soon as it finds something, else None after `seconds`.

        look  asked at once, after each `notify(key)` and each second; it must hold no database
              connection after it returned
        gone  whether the client has left, asked as often
        Returns early with None when no place is free, the client has gone or the server stops.
        """
        deadline = time.monotonic() + seconds
        with self.place() as admitted, self._listening(key) as woken:
            while True:
                found = look()
                left = deadline - time.monotonic()
                if found is not None or left <= 0 or not admitted or gone() or self._stopped:
                    return found
                woken.wait(min(left, LOOK_SECONDS))
                woken.clear()

    def wait_for(self, key: str, seconds: float) -> bool:
        """Sleep until `notify(key)`; False when `seconds` passed or there is no place to wait."""
        with self.place() as admitted, self._listening(key) as woken:
            return admitted and woken.wait(seconds) and not self._stopped

    def notify(self, key: str) -> None:
        """Wake everybody who waits for `key`; call it after the commit."""
        with self._lock:
            for woken in self._waiters.get(key, ()):
                woken.set()

    def stop(self) -> None:
        """Send everybody home and admit nobody any more."""
        with self._lock:
            self._stopped = True
            for waiters in self._waiters.values():
                for woken in waiters:
                    woken.set()

    @property
    def stopped(self) -> bool:
        """True once the server stops: streams end then."""
        return self._stopped

    @contextmanager
    def _listening(self, key: str) -> Iterator[threading.Event]:
        woken = threading.Event()
        with self._lock:
            self._waiters.setdefault(key, []).append(woken)
        try:
            yield woken
        finally:
            with self._lock:
                self._waiters[key].remove(woken)
                if not self._waiters[key]:
                    del self._waiters[key]


def init_app(app: Flask) -> None:
    """Give the application its own waiting room."""
    app.extensions["waiting"] = Waiting(most=THREADS // 2)


def waiting() -> Waiting:
    """The waiting room of the current application."""
    return cast(Waiting, current_app.extensions["waiting"])


def client_gone() -> Callable[[], bool]:
    """Tells whether the client of the current request has left; to be asked while waiting."""
    return cast(
        Callable[[], bool], request.environ.get("waitress.client_disconnected", lambda: False)
    )
