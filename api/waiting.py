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
    """What is new, None for nothing; whether there was no slot to wait in."""

    found: T | None
    no_slot: bool


def wait_for(
    key: str,
    read: Callable[[], T],
    is_new: Callable[[T], bool],
    seconds: int,
    *,
    account_id: str,
    require_access: Callable[[], object],
) -> Waited[T]:
    """What is read once that is new.

    key             as in `Wakeups.wait_until`
    require_access  asked with each look; raises when the token was revoked or has expired
    """

    def look() -> T | None:
        try:
            found = read()
        finally:
            require_access()  # after the read: what is newer than the end of the token stays unsaid
        new = found if is_new(found) else None
        release_connections()
        return new

    try:
        found = wakeups().wait_until(key, look, seconds, account_id=account_id)
    except NoSlot:
        return Waited(None, no_slot=True)
    return Waited(found, no_slot=False)


def retry_header(*, no_slot: bool) -> dict[str, str]:
    """Says when to try again where there was no slot."""
    return {"Retry-After": str(RETRY_SECONDS)} if no_slot else {}


def retry_field(*, no_slot: bool) -> dict[str, int]:
    """The same in the result of a tool."""
    return {"retryAfterMs": RETRY_SECONDS * 1000} if no_slot else {}


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
