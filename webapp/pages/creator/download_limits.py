"""Limits of downloads: few at once, each with a bounded amount in memory."""

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from http import HTTPStatus
from urllib.parse import urlsplit

from flask import Flask, Response, current_app, request, url_for

from webapp.pages.errors import Again, Back, Problem, own_page, problem
from webapp.web.url_converters import current_address

MOST_OF_ONE = 2  # of one account
MOST = 8  # of this process
PIECE_BYTES = 256 * 1024  # that the server takes at a time
RETRY_SECONDS = 10

STILL_RUNNING = Problem(
    "Your other downloads are still running.",
    f"There may be {MOST_OF_ONE} at a time. Try again when one of them has ended.",
)
ALL_TAKEN = Problem(
    "Many people are downloading just now.",
    "Nothing is wrong with your answers. Wait a little, then try again.",
)


class Downloads:
    """The downloads under way, by account."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: Counter[str] = Counter()

    def begin(self, account_id: str) -> Callable[[], None] | Response:
        """A function to call when the download ends, or the page that refuses it."""
        with self._lock:
            refused = self._reason(account_id)
            if refused is None:
                self._running[account_id] += 1
        return _refusal(refused) if refused else lambda: self._end(account_id)

    def _reason(self, account_id: str) -> Problem | None:
        if self._running[account_id] >= MOST_OF_ONE:
            return STILL_RUNNING
        return ALL_TAKEN if self._running.total() >= MOST else None

    def _end(self, account_id: str) -> None:
        with self._lock:
            self._running[account_id] -= 1
            if not self._running[account_id]:
                del self._running[account_id]


def init_app(app: Flask) -> None:
    """Give the application its own downloads."""
    app.extensions["downloads"] = Downloads()


def downloads() -> Downloads:
    """The downloads of the current application."""
    found: Downloads = current_app.extensions["downloads"]
    return found


def in_pieces(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """The same bytes in chunks of at most PIECE_BYTES."""
    for chunk in chunks:
        for start in range(0, len(chunk), PIECE_BYTES):
            yield chunk[start : start + PIECE_BYTES]


def _refusal(why: Problem) -> Response:
    again = Again(current_address())
    back = Back(_answers(), "Back to the answers")
    response = problem(why, HTTPStatus.TOO_MANY_REQUESTS, again=again, back=back)
    response.headers["Retry-After"] = str(RETRY_SECONDS)
    return response


def _answers() -> str:
    """The page of answers where this download was asked for, as it was filtered there."""
    views = ("results.by_question", "results.by_person")
    pages = [url_for(view, **request.view_args or {}) for view in views]
    came_from = own_page(request.referrer or "")
    return came_from if urlsplit(came_from).path in pages else pages[0]
