"""Small writes that no response waits for: that a page was viewed, that a token was used.

One thread of the process runs them, one at a time, so that a reading request never waits for the
writer lock. A write that fails is dropped, and so is one that arrives while the queue is full; a
process that is killed loses its queue.
"""

import logging
import threading
from collections.abc import Callable, Hashable
from contextlib import suppress
from typing import cast

from flask import Flask, current_app, g

MOST = 1000  # length of the queue
PATIENCE_SECONDS = 5.0  # for one statement

log = logging.getLogger("askback.deferred_writes")

Work = Callable[[], None]


class DeferredWrites:
    """The deferred writes of one application and the thread that makes them, begun by the first."""

    def __init__(self, app: Flask) -> None:
        self._app = app
        self._changed = threading.Condition()
        self._waiting: dict[Hashable, Work] = {}
        self._at_work = False
        self._thread: threading.Thread | None = None

    def take(self, key: Hashable, work: Work) -> None:
        """Call `work` soon, in an application context; while `key` waits, the first one counts."""
        with self._changed:
            if key in self._waiting or len(self._waiting) >= MOST:
                return
            self._waiting[key] = work
            if self._thread is None:
                self._begin()
            self._changed.notify_all()

    def _begin(self) -> None:
        thread = threading.Thread(target=self._write, name="deferred-writes", daemon=True)
        with suppress(RuntimeError):  # no thread could be started: the next write tries again
            thread.start()
            self._thread = thread

    def settle(self, seconds: float) -> bool:
        """Wait until the queue is empty; False when that takes longer than `seconds`."""
        with self._changed:
            return self._changed.wait_for(lambda: not (self._waiting or self._at_work), seconds)

    def _write(self) -> None:
        while True:
            with self._changed:
                self._at_work = False
                self._changed.notify_all()
                self._changed.wait_for(lambda: bool(self._waiting))
                self._at_work = True
                work = self._waiting.pop(next(iter(self._waiting)))
            self._once(work)

    def _once(self, work: Work) -> None:
        try:
            with self._app.app_context():
                g.patience = PATIENCE_SECONDS
                work()
        except Exception:
            log.warning("a deferred write was dropped", exc_info=True)


def init_app(app: Flask) -> None:
    """Give the application its own deferred writes."""
    app.extensions["deferred_writes"] = DeferredWrites(app)


def write_later(key: Hashable, work: Work) -> None:
    """Call `work` soon, outside of the request: one short transaction.

    key  names what is written: while it waits, further writes of the same key are dropped
    """
    cast(DeferredWrites, current_app.extensions["deferred_writes"]).take(key, work)
