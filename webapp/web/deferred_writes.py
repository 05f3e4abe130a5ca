"""Small writes after the response, so that no reading request waits for the writer lock.

One thread at a time runs the writes of `write_later`, one by one. It drops a write that fails
or that arrives while the queue is full. Frequent items (views of links, audit events) use `Pending`
instead, and the background work stores them together, each second. A killed process loses both.
"""

import logging
import threading
from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from contextlib import suppress
from typing import Generic, TypeVar, cast

from flask import Flask, current_app, g, request

from webapp.base.database.failures import may_have_stored
from webapp.records.responses.counters import store_link_views
from webapp.web.request_kind import is_prefetch

MOST = 1000  # length of the queue
PATIENCE_SECONDS = 5.0  # time limit of a statement
VIEWS_MOST = 100_000  # kept while the database is unavailable

log = logging.getLogger("askback.deferred_writes")

Work = Callable[[], object]
T = TypeVar("T")


class DeferredWrites:
    """The deferred writes of one application; a thread runs them while there are any."""

    def __init__(self, app: Flask) -> None:
        self._app = app
        self._changed = threading.Condition()
        self._waiting: dict[Hashable, Work] = {}
        self._at_work = False

    def take(self, key: Hashable, work: Work) -> None:
        """Queue `work` for an application context, unless `key` waits or the queue is full."""
        with self._changed:
            if key in self._waiting or len(self._waiting) >= MOST:
                return
            self._waiting[key] = work
            if not self._at_work:
                thread = threading.Thread(target=self._write, name="deferred-writes", daemon=True)
                with suppress(RuntimeError):  # none could be started: the next write tries again
                    thread.start()
                    self._at_work = True

    def settle(self, seconds: float) -> bool:
        """Wait until the queue is empty; return False if that takes longer than `seconds`."""
        with self._changed:
            return self._changed.wait_for(lambda: not (self._waiting or self._at_work), seconds)

    def _write(self) -> None:
        while True:
            with self._changed:
                if not self._waiting:
                    self._at_work = False
                    self._changed.notify_all()
                    return
                work = self._waiting.pop(next(iter(self._waiting)))
            try:
                with self._app.app_context():
                    g.patience = PATIENCE_SECONDS
                    work()
            except Exception:
                log.warning("a deferred write was dropped", exc_info=True)


class Pending(Generic[T]):
    """Items that wait in memory and are stored together.

    write  stores items in a transaction
    keep   tells after a failure of `write` whether to keep its items for the next call
    """

    def __init__(
        self, write: Callable[[list[T]], None], most: int, keep: Callable[[], bool] = lambda: True
    ) -> None:
        self._write, self._most, self._keep = write, most, keep
        self._lock = threading.Lock()
        self._items: list[T] = []

    def add(self, items: Iterable[T]) -> None:
        """Add items, and drop those beyond the bound."""
        with self._lock:
            self._items += list(items)[: self._most - len(self._items)]

    def store(self) -> None:
        """Store all items since the last call. Raises what `write` raises."""
        with self._lock:
            taken, self._items = self._items, []
        if not taken:
            return
        try:
            self._write(taken)
        except BaseException:
            if self._keep():
                self.add(taken)
            raise


def init_app(app: Flask) -> None:
    """Give the application its own deferred writes and pending views of links.

    After a commit of unknown outcome the views are dropped, to avoid counting them twice.
    """
    app.extensions["deferred_writes"] = DeferredWrites(app)
    app.extensions["link_views"] = Pending[str](
        lambda tokens: store_link_views(Counter(tokens)),
        VIEWS_MOST,
        keep=lambda: not may_have_stored(),
    )


def count_link_view(share_token: str) -> None:
    """Count the current request as a view of the link, unless it is a prefetch."""
    if request.method == "GET" and not is_prefetch():
        current_app.extensions["link_views"].add([share_token])


def store_views() -> None:
    """Store the counted views of links."""
    current_app.extensions["link_views"].store()


def write_later(key: Hashable, work: Work) -> None:
    """Call `work`, one short transaction, soon and outside of the request.

    key  identifies the write: while it waits, further writes with the same key are dropped
    """
    cast(DeferredWrites, current_app.extensions["deferred_writes"]).take(key, work)
