"""Counts views of public links in memory and stores the counts together.

A write for each view would cost more than the page. A process that is killed loses what it
counted since the last `store`, a second at most; nothing about who viewed a link is kept.
"""

import threading
from collections import Counter
from collections.abc import Iterable
from typing import cast

from flask import Flask, current_app, request

from webapp.database.failures import may_have_stored
from webapp.domain.responses.counters import store_link_views
from webapp.web.request_origin import is_prefetch


class LinkViewCounts:
    """Views that are not stored yet, by share token."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counted: Counter[str] = Counter()

    def add(self, counted: Iterable[str]) -> None:
        """Add counts: share tokens, or tokens with their counts."""
        with self._lock:
            self._counted.update(counted)

    def take(self) -> Counter[str]:
        """Everything counted since the last call."""
        with self._lock:
            taken, self._counted = self._counted, Counter()
            return taken


def init_app(app: Flask) -> None:
    """Create the counts of the application."""
    app.extensions["link_views"] = LinkViewCounts()


def count_link_view(share_token: str) -> None:
    """Count the current request as a view of the link, unless it is a prefetch."""
    if request.method == "GET" and not is_prefetch():
        _link_views().add([share_token])


def store() -> None:
    """Store the counts; what cannot be stored is kept for the next call.

    After a commit of unknown outcome the counts are dropped, so that they are not added twice.
    """
    if not (taken := _link_views().take()):
        return
    try:
        store_link_views(taken)
    except BaseException:
        if not may_have_stored():
            _link_views().add(taken)
        raise


def _link_views() -> LinkViewCounts:
    return cast(LinkViewCounts, current_app.extensions["link_views"])
