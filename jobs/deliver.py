"""Delivering: the threads of one process claim together what is due, send it and settle it."""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import NamedTuple, cast

from flask import Flask, current_app

from jobs import queue
from jobs.queue import store
from webapp.base.config import Settings, settings
from webapp.base.database import utc_now
from webapp.base.outbound import Bounds, Reply, Unreachable
from webapp.base.sealing import NoKey, cursor_key, sealer
from webapp.events.callbacks import callback_bounds, failure_of, post, signed_headers
from webapp.events.claims import Claimed, claim, is_due, renew
from webapp.events.due import Lane, Room, lane_of
from webapp.events.polling import write_cursor
from webapp.events.settling import AttemptResult, settle, settle_broken, suspend_unreadable
from webapp.events.subscription_rows import secret_place

WORKER_THREADS = 16  # events that one process sends at a time
RENEW_SECONDS = 1.0

log = logging.getLogger("askback.deliveries")


class Held(NamedTuple):
    """An attempt that this process makes; it began at `since` (`time.monotonic`)."""

    claimed: Claimed
    since: float

    @property
    def seconds(self) -> float:
        """How long it has been running."""
        return time.monotonic() - self.since

    @property
    def share(self) -> tuple[str, Lane]:
        """Its account and lane; a long attempt counts as slow already while it runs."""
        lane = lane_of(self.claimed.duration_ms)
        if lane is Lane.QUICK:
            lane = lane_of(round(self.seconds * 1000))
        return self.claimed.account_id, lane


class Deliverer:
    """What delivers in this process: at most `threads` at a time, claimed by one for all.

    A thread that finds nothing to do leaves.
    """

    def __init__(self, app: Flask, threads: int) -> None:
        self._app = app
        self._threads = threads
        self._free = threading.Semaphore(threads)
        self._changed = threading.Condition()
        self._claiming = threading.Lock()
        self._ready: deque[Claimed] = deque()  # a thread is on its way to each of them
        self._hungry = 0
        self._round = 0
        self._held: dict[tuple[str, int], Held] = {}  # by id and number of the attempt
        self._served: dict[str, int] = {}
        self._refused_at: float | None = None

    def work(self) -> None:
        """Deliver until nothing is due, or there is no place for this thread."""
        if not self._free.acquire(blocking=False):
            return
        try:
            while (claimed := self._next()) is not None:
                with self._counted(claimed):
                    self._attempt(claimed)
        finally:
            self._free.release()

    @property
    def is_idle(self) -> bool:
        """Whether no thread delivers or is about to."""
        return not (self._held or self._hungry)

    def room(self, served: dict[str, int] | None = None) -> Room:
        """What this process may claim now."""
        with self._changed:
            shares = [held.share for held in self._held.values()]
        return Room(self._threads, shares, served)

    def renew(self) -> None:
        """Renew the leases of attempts older than RENEW_SECONDS. Needs an application context."""
        with self._changed:
            held = [each for each in self._held.values() if each.seconds >= RENEW_SECONDS]
        if held:
            renew([each.claimed for each in held], now=utc_now())

    def refuse(self) -> None:
        """Claim nothing any more; what runs goes on. A second call changes nothing."""
        if self._refused_at is None:
            self._refused_at = time.monotonic()

    def finish(self, seconds: float) -> bool:
        """Refuse, and wait for what runs until `seconds` after the refusal; False if more runs."""
        self.refuse()
        left = (self._refused_at or 0) + seconds - time.monotonic()
        with self._changed:
            return self._changed.wait_for(lambda: not self._held, max(0.0, left))

    def _next(self) -> Claimed | None:
        """One delivery, of a claim made for all threads that wait here."""
        with self._changed:
            self._hungry += 1
            joined = self._round
        with self._claiming:
            try:
                if not self._ready and joined == self._round:
                    self._claim()
                return self._ready.popleft() if self._ready else None
            finally:
                with self._changed:  # before another claims, which would claim for this one, too
                    self._hungry -= 1

    def _claim(self) -> None:
        with self._changed:
            self._round += 1
            hungry = self._hungry
        if self._refused_at is None:
            with self._app.app_context():
                write = partial(write_cursor, cursor_key())
                room = self.room(self._served)
                found = claim(hungry, room, cursor_of=write, now=utc_now())
            since = time.monotonic()
            with self._changed:
                self._held |= {(each.id, each.attempts): Held(each, since) for each in found}
            self._ready.extend(found)

    @contextmanager
    def _counted(self, claimed: Claimed) -> Iterator[None]:
        try:
            yield
        finally:
            with self._changed:
                self._held.pop((claimed.id, claimed.attempts), None)
                self._changed.notify_all()

    def _attempt(self, claimed: Claimed) -> None:
        """Send and settle; an error of ours uses the attempt up.

        Where not even that can be stored, the end of the lease brings the delivery back.
        """
        try:
            with self._app.app_context():
                outcome = _attempted(claimed)
            store(self._app, lambda: outcome(now=utc_now()))
        except Exception:
            log.exception("an attempt was not completed")
            with suppress(Exception):
                store(self._app, lambda: settle_broken(claimed, now=utc_now()))


def wake(delivery_id: str) -> None:
    """A job: deliver this one, if nobody did, and go on with whatever else is due.

    While others deliver, they probably took it; an idle process finds out by claiming.
    """
    app = cast(Flask, current_app._get_current_object())  # type: ignore[attr-defined]
    due = deliverer().is_idle
    if not due:
        with app.app_context():
            due = is_due(delivery_id, now=utc_now())
    if due:
        deliverer().work()


def deliverer() -> Deliverer:
    """What delivers for the current application."""
    return cast(Deliverer, current_app.extensions["deliverer"])


def init_app(app: Flask, config: Settings) -> None:
    """Give the application what delivers for it and its wake-ups; nothing is started."""
    queue.init_app(app, config)
    app.extensions["deliverer"] = Deliverer(app, WORKER_THREADS)


def _attempted(claimed: Claimed) -> Callable[..., object]:
    """Send, if a key opens the secret; returns what stores the outcome. Needs no database."""
    secrets = _secrets(claimed)
    if not secrets:
        return partial(suspend_unreadable, claimed)
    return partial(settle, claimed, send(claimed, secrets, bounds=_bounds(settings())))


def send(claimed: Claimed, secrets: list[str], *, bounds: Bounds) -> AttemptResult:
    """One attempt, signed at this moment."""
    started_at, began = utc_now(), time.monotonic()
    headers = signed_headers(
        claimed.event_id,
        claimed.body,
        secrets,
        subscription_id=claimed.subscription_id,
        now=started_at,
    )
    reply: Reply | None = None
    try:
        reply = post(claimed.url, headers, claimed.body, bounds=bounds)
        failure = None if 200 <= reply.status < 300 else failure_of(reply.status)
    except Unreachable as error:
        failure = failure_of(error)
    return AttemptResult(
        started_at,
        round((time.monotonic() - began) * 1000),
        headers["webhook-signature"],
        reply.status if reply else None,
        failure,
        retry_after=reply.headers.get("retry-after") if reply else None,
        reply=reply.body if reply else b"",
    )


def _bounds(config: Settings) -> Bounds:
    pinned = current_app.config["PINNED_HOSTS"]
    return callback_bounds(config.mcp_events_callback_allowlist, pinned=pinned)


def _secrets(claimed: Claimed) -> list[str]:
    """The newest first; none if no key opens that one. An old one that none opens is left out."""
    place = secret_place(claimed.subscription_id)
    rotated = claimed.previous_until is not None and claimed.previous_until > utc_now()
    found = []
    with suppress(NoKey):
        found.append(sealer().unseal(claimed.secret, place=place))
        if rotated and claimed.previous_secret is not None:
            found.append(sealer().unseal(claimed.previous_secret, place=place))
    return found
