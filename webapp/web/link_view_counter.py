"""Counts how often public links are opened, in memory, and stores the counts together.

A write for each page view would cost more than the page. A process that is killed loses what it
counted since the last `store`, a second at most; nothing about who opened a link is kept.
"""

import threading
from collections import Counter
from collections.abc import Iterable
from typing import cast

from flask import Flask, current_app, request

from webapp.database.failures import may_have_stored
from webapp.domain.responses.counters import store_openings


class Openings:
    """Openings that are not stored yet, by share token."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counted: Counter[str] = Counter()

    def add(self, counted: Iterable[str]) -> None:
        """Count more: share tokens, or tokens already counted."""
        with self._lock:
            self._counted.update(counted)

    def take(self) -> Counter[str]:
        """Everything counted since the last call."""
        with self._lock:
            taken, self._counted = self._counted, Counter()
            return taken


def init_app(app: Flask) -> None:
    """Give the application its own counts."""
    app.extensions["openings"] = Openings()


def count_opening(share_token: str) -> None:
    """The current request shows the link's first page to a person, unless it only looks ahead."""
    looks_ahead = "prefetch" in request.headers.get("Sec-Purpose", "")
    if request.method == "GET" and not looks_ahead:
        _openings().add([share_token])


def store() -> None:
    """Store what was counted; what cannot be stored now is kept for the next call.

    What may be stored, though nobody knows, is rather lost than counted twice.
    """
    if not (taken := _openings().take()):
        return
    try:
        store_openings(taken)
    except BaseException:
        if not may_have_stored():
            _openings().add(taken)
        raise


def _openings() -> Openings:
    return cast(Openings, current_app.extensions["openings"])
