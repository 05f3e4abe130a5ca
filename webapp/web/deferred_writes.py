"""Small notes that nobody waits for: that a page was looked at, that a connection was used.

They are written behind the requests, by one thread of the process and one at a time, so that who
reads never waits for who writes. A note that cannot be written is dropped, and so is one that comes
while too many wait; a process that is killed loses those of the last moment.
"""

import logging
import threading
from collections.abc import Callable, Hashable
from contextlib import suppress
from typing import cast

from flask import Flask, current_app, g

MOST = 1000  # notes that wait
PATIENCE_SECONDS = 5.0  # for one statement of a note

log = logging.getLogger("askback.notes")

Work = Callable[[], None]


class Notes:
    """The notes of one application, and the thread that writes them, begun with the first."""

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
        thread = threading.Thread(target=self._write, name="notes", daemon=True)
        with suppress(RuntimeError):  # without room for a thread, the next note tries again
            thread.start()
            self._thread = thread

    def settle(self, seconds: float) -> bool:
        """Wait until no note is left; False when that takes longer."""
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
            log.warning("a note was dropped", exc_info=True)


def init_app(app: Flask) -> None:
    """Give the application its own notes."""
    app.extensions["notes"] = Notes(app)


def note_behind(key: Hashable, work: Work) -> None:
    """Let the current application write a note soon: `work` makes one short transaction.

    key  names what is noted: while it waits, further notes of the same are not needed
    """
    cast(Notes, current_app.extensions["notes"]).take(key, work)
