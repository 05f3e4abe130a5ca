"""Waits for something new: by routes and tools alike, at most `WAIT_MAX_SECONDS`."""

from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

from flask import request

from webapp.base.database import release_connections
from webapp.base.errors import ErrorCode, InvalidInput, sent
from webapp.web.wakeups import RETRY_SECONDS, NoSlot, wakeups

WAIT_MAX_SECONDS = 25  # below the idle timeouts of proxies
T = TypeVar("T")


class Waited(NamedTuple, Generic[T]):
    """What was read last; whether that is new, and whether there was no slot to wait in."""

    seen: T
    is_new: bool
    no_slot: bool = False

    @property
    def retry_header(self) -> dict[str, str]:
        """Says when to try again where there was no slot."""
        return {"Retry-After": str(RETRY_SECONDS)} if self.no_slot else {}

    @property
    def retry_field(self) -> dict[str, int]:
        """The same in the result of a tool."""
        return {"retryAfterMs": RETRY_SECONDS * 1000} if self.no_slot else {}


def wait_for(
    key: str,
    read: Callable[[], T],
    is_over: Callable[[T], bool],
    seconds: int,
    *,
    account_id: str,
    require_access: Callable[[], object],
    has_changed: Callable[[T, T], bool] = lambda _before, _now: False,
) -> Waited[T]:
    """What is read at once if the wait is over then, else once it is or something has changed.

    key             as in `Wakeups.wait_until`
    require_access  asked with each look; raises when the token was revoked or has expired
    """
    before = read()
    if is_over(before):
        return Waited(before, is_new=True)
    release_connections()

    def look() -> T | None:
        try:
            now = read()
        finally:
            require_access()  # after the read: what is newer than the end of the token stays unsaid
        new = now if is_over(now) or has_changed(before, now) else None
        release_connections()
        return new

    try:
        found = wakeups().wait_until(key, look, seconds, account_id=account_id) if seconds else None
    except NoSlot:
        return Waited(before, is_new=False, no_slot=True)
    return Waited(before, is_new=False) if found is None else Waited(found, is_new=True)


def wait_seconds(waited_for: str) -> int:
    """`wait`, 0 without one; `waited_for` in words. raises InvalidInput `validation_failed`"""
    text = request.args.get("wait", "0")
    if not (text.isascii() and text.isdigit() and len(text) < 3 and int(text) <= WAIT_MAX_SECONDS):
        raise InvalidInput(
            ErrorCode.VALIDATION_FAILED,
            f"wait: is {sent(text)}; a whole number from 0 to {WAIT_MAX_SECONDS} is needed.",
            f"Send the seconds to wait for {waited_for}, or leave it out.",
            field="wait",
        )
    return int(text)
