"""Waits of routes and tools for a change, at most `WAIT_MAX_SECONDS` long."""

from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

from flask import request

from webapp.base.database import release_connections
from webapp.base.errors import sent, wrong_field
from webapp.web.wakeups import RETRY_SECONDS, NoSlot, wakeups

WAIT_MAX_SECONDS = 25  # below the idle timeouts of proxies
T = TypeVar("T")


class Waited(NamedTuple, Generic[T]):
    """The last value read; whether it is new, and whether no slot was free to wait in."""

    seen: T
    is_new: bool
    no_slot: bool = False

    @property
    def retry_header(self) -> dict[str, str]:
        return {"Retry-After": str(RETRY_SECONDS)} if self.no_slot else {}

    @property
    def retry_field(self) -> dict[str, int]:
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
    """Read until `is_over` or `has_changed` is true, for at most `seconds`.

    key             as in `Wakeups.wait_until`
    require_access  called after each further read; raises if the token was revoked or has expired
    """
    before = read()
    if is_over(before):
        return Waited(before, is_new=True)
    release_connections()

    def look() -> T | None:
        try:
            now = read()
        finally:
            require_access()  # after the read: return nothing newer than the end of the token
        new = now if is_over(now) or has_changed(before, now) else None
        release_connections()
        return new

    try:
        found = wakeups().wait_until(key, look, seconds, account_id=account_id) if seconds else None
    except NoSlot:
        return Waited(before, is_new=False, no_slot=True)
    return Waited(before, is_new=False) if found is None else Waited(found, is_new=True)


def wait_seconds(waited_for: str) -> int:
    """Return `wait`, or 0; refusals name `waited_for`. raises InvalidInput `validation_failed`"""
    text = request.args.get("wait", "0")
    if not (text.isascii() and text.isdigit() and len(text) < 3 and int(text) <= WAIT_MAX_SECONDS):
        problem = f"is {sent(text)}; a whole number from 0 to {WAIT_MAX_SECONDS} is needed"
        remedy = f"Send the seconds to wait for {waited_for}, or leave it out."
        raise wrong_field("wait", problem, remedy)
    return int(text)
