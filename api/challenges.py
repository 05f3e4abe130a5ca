"""Challenges to callbacks, and their limits."""

from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import TypeVar, cast

from flask import Flask, current_app
from limits import parse

from api.errors import too_many
from webapp.base.config import settings
from webapp.base.database import release_connections
from webapp.base.errors import RateLimited
from webapp.events.callbacks import CHALLENGE_SECONDS, Unverified, callback_bounds, send_challenge
from webapp.web.limiter import limiter, rate_in_words, seconds_until_free
from webapp.web.wakeups import RETRY_SECONDS, NoSlot, Slots, finished, wakeups

OF_ACCOUNT = parse("30/minute")
FAILED_OF_HOST = parse("10/minute")
FAILED_BY_ACCOUNT = parse("4/minute")  # per host: two accounts together stay below its limit
CHALLENGES_AT_ONCE = 6  # each holds a thread
CHALLENGES_OF_ACCOUNT = 4
FOLLOWERS_OF_ACCOUNT = 32  # requests that wait for an identical challenge
FOLLOWED_SECONDS = 60.0
FAILURES = "challenge_failures"  # counted by host, and by host and account

T = TypeVar("T")


def init_app(app: Flask) -> None:
    """Create the slots for challenges and the table of those under way."""
    app.extensions["challenges"] = Slots(CHALLENGES_AT_ONCE, CHALLENGES_OF_ACCOUNT)
    app.extensions["flights"] = {}


def shared(key: Hashable, account_id: str, ask: Callable[[], T]) -> T:
    """Run `ask` once for all threads that call with `key` meanwhile; return or raise its outcome.

    Raises RateLimited if too many requests wait, or one waits for FOLLOWED_SECONDS.
    """
    flights: dict[Hashable, Future[T]] = current_app.extensions["flights"]
    awaited = f"challenge {key}"
    if ended := finished(awaited):
        return cast(Future[T], ended).result()
    mine = Future[T]()
    flight = flights.setdefault(key, mine)
    if flight is not mine:
        release_connections()
        _await(awaited, flight, account_id)
        return flight.result()
    try:
        mine.set_result(ask())
    except BaseException as error:
        mine.set_exception(error)
    finally:
        del flights[key]
        wakeups().wake(awaited)
    return mine.result()


def _await(key: str, flight: Future[T], account_id: str) -> None:
    """Wait for the flight to end. Behind our server, the wait holds no thread."""
    try:
        ended = wakeups().wait_until(
            key,
            lambda: flight if flight.done() else None,
            FOLLOWED_SECONDS,
            account_id=f"challenges of {account_id}",
            most=FOLLOWERS_OF_ACCOUNT,
        )
    except NoSlot:
        raise _too_many() from None
    if ended is None:
        raise _too_many()


def challenge(
    account_id: str, host: str, url: str, secret: str, subscription_id: str
) -> Unverified | None:
    """Challenge a callback once, within the limits; return None if it verifies.

    host  of `url`, with its port
    Raises RateLimited. Releases the database connections first.
    """
    places: Slots = current_app.extensions["challenges"]
    bounds = callback_bounds(
        settings().mcp_events_callback_allowlist,
        pinned=current_app.config["PINNED_HOSTS"],
        seconds=CHALLENGE_SECONDS,
    )
    release_connections()
    try:
        with places.slot(account_id):
            if settings().write_limits:
                _count(account_id, host)
            failure = send_challenge(url, secret, subscription_id, bounds=bounds)
    except NoSlot:
        raise _too_many() from None
    if failure is not None and settings().write_limits:
        _count_failure(account_id, host)
    return failure


def _count(account_id: str, host: str) -> None:
    """Count a challenge. Raises RateLimited."""
    test, hit = limiter.limiter.test, limiter.limiter.hit
    for counted, limit, key, has_room in (
        ("failed challenges of one host", FAILED_OF_HOST, (FAILURES, host), test),
        (
            "failed challenges of one host by one account",
            FAILED_BY_ACCOUNT,
            (FAILURES, host, account_id),
            test,
        ),
        ("challenges", OF_ACCOUNT, ("challenges", account_id), hit),
    ):
        if not has_room(limit, *key):
            message = f"Too many write operations: {rate_in_words(counted, limit)}."
            raise too_many(message, seconds_until_free(limit, key))


def _count_failure(account_id: str, host: str) -> None:
    """Count a failure for the account and, while the account is within its limit, for the host."""
    if limiter.limiter.hit(FAILED_BY_ACCOUNT, FAILURES, host, account_id):
        limiter.limiter.hit(FAILED_OF_HOST, FAILURES, host)


def _too_many() -> RateLimited:
    return too_many("Too many challenges of callbacks are under way.", RETRY_SECONDS)
