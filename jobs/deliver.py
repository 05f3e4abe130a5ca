"""Delivery jobs: the worker of one process, and a single attempt."""

import logging
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, suppress

from flask import Flask

from jobs.queue import DELIVERIES
from jobs.worker import Worker, at_work
from webapp.base.config import settings
from webapp.base.database import utc_now
from webapp.base.outbound import Reply, Unreachable, fetch
from webapp.base.sealing import NoKey, cursor_key, sealer
from webapp.events import callbacks, delivering, due, signatures, subscriptions

WORKER_THREADS = 16  # events that one process sends at a time
RENEW_SECONDS = 1.0
TIDY_SECONDS = 10.0

log = logging.getLogger("askback.deliveries")


class Deliverer(Worker[delivering.Claimed]):
    """The worker that delivers in this process.

    stop_seconds  time for running attempts, from `stop` or an earlier `refuse`
    """

    queue = DELIVERIES

    def __init__(self, app: Flask, threads: int, stop_seconds: float = 5) -> None:
        super().__init__(app, threads)
        self._stop_seconds = stop_seconds
        self._served: dict[str, int] = {}
        self._leases = delivering.Leases()
        self._tidy_at = time.monotonic() + TIDY_SECONDS

    def claim(self, most: int) -> Sequence[delivering.Claimed]:
        shares = [_share(each, since) for each, since in self.running.items()]
        room = due.Room(self.threads, shares, self._served)
        return delivering.claim(most, room, cursor_key=cursor_key(), now=utc_now())

    def attempt(self, claimed: delivering.Claimed) -> None:
        """Send and settle one delivery; an internal error uses up the attempt.

        If even the error cannot be stored, the delivery is due again when its lease ends.
        """
        try:
            with self.app.app_context():
                secrets = _secrets(claimed)
                sent = send(claimed, secrets) if secrets else None
            if sent:
                self.store(lambda: delivering.settle(claimed, sent, now=utc_now()))
            else:
                self.store(lambda: delivering.suspend_unreadable(claimed, now=utc_now()))
        except Exception:
            log.exception("an attempt was not completed")
            with suppress(Exception):
                self.store(lambda: delivering.settle_broken(claimed, now=utc_now()))

    def sweep(self) -> None:
        """Renew our leases, release those of dead processes, abandon overflowing events."""
        oldest = time.monotonic() - RENEW_SECONDS
        if held := [each for each, since in self.running.items() if since <= oldest]:
            delivering.renew(held, now=utc_now())
        self._leases.look(now=utc_now())
        if time.monotonic() >= self._tidy_at:
            self._tidy_at = time.monotonic() + TIDY_SECONDS
            delivering.abandon_overflow(now=utc_now())
            delivering.bound_waits(now=utc_now())

    def stop(self) -> None:
        """Refuse, and wait for the running attempts; the leases of the others expire."""
        self.refuse()
        left = (self._refused_at or 0) + self._stop_seconds - time.monotonic()
        with self._changed:
            self._changed.wait_for(lambda: not self._running, max(0.0, left))


def _share(claimed: delivering.Claimed, since: float) -> tuple[str, due.Lane]:
    """Return the account and lane of an attempt; a long-running attempt counts as slow."""
    lane = due.lane_of(claimed.duration_ms)
    if lane is due.Lane.QUICK:
        lane = due.lane_of(round((time.monotonic() - since) * 1000))
    return claimed.account_id, lane


def sending(
    app: Flask, *, stop_seconds: float, start_after: float = 0
) -> AbstractContextManager[Deliverer]:
    """Deliver while the block runs, unless events are switched off; parameters as of `at_work`."""
    deliverer = Deliverer(app, WORKER_THREADS, stop_seconds)
    if not app.config["SETTINGS"].mcp_events_enabled:
        deliverer.refuse()
    return at_work(deliverer, start_after=start_after)


def send(claimed: delivering.Claimed, secrets: list[str]) -> delivering.AttemptResult:
    """Make one attempt, signed with the current time. Uses no database."""
    bounds = callbacks.callback_bounds(settings().mcp_events_callback_allowlist)
    now, began = utc_now(), time.monotonic()
    key, body, subscription_id = claimed.event_id, claimed.body, claimed.subscription_id
    headers = signatures.signed_headers(
        key, body, secrets, subscription_id=subscription_id, now=now
    )
    reply: Reply | None = None
    try:
        reply = fetch(claimed.url, headers=headers, body=body, bounds=bounds)
        failure = None if reply.is_success else callbacks.failure_of(reply.status)
    except Unreachable as error:
        failure = callbacks.failure_of(error)
    took, signature = round((time.monotonic() - began) * 1000), headers["webhook-signature"]
    if reply is None:
        return delivering.AttemptResult(now, took, signature, None, failure)
    asked = reply.headers.get("retry-after")
    return delivering.AttemptResult(now, took, signature, reply.status, failure, asked, reply.body)


def _secrets(claimed: delivering.Claimed) -> list[str]:
    """Return the secrets that a key opens, newest first; none if the newest stays closed."""
    place = subscriptions.secret_place(claimed.subscription_id)
    rotated = claimed.previous_until is not None and claimed.previous_until > utc_now()
    found = []
    with suppress(NoKey):
        found.append(sealer().unseal(claimed.secret, place=place))
        if rotated and claimed.previous_secret is not None:
            found.append(sealer().unseal(claimed.previous_secret, place=place))
    return found
