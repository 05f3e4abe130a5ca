"""Audit events of requests: the actors, and the events outside of transactions.

Failures and exports wait in memory until the background work stores them, so that no request waits
for the writer lock because of them. Their log lines are written at once; a killed process loses the
rows of the last second. A flood of failures gets few rows: per kind, account, network and hour the
first ten, then the 20th, 40th, 80th and so on, each with the number of failures that it covers.
After 200 rows the same rule applies to all failures together. Attempts that a limit refuses get one
row per window of the limit.
"""

import threading
from collections import Counter
from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeAlias, cast

from flask import Flask, current_app
from flask_limiter import RequestLimit
from sqlalchemy import Table

from webapp.base.database import db, insert_into, to_millis, utc_now, write_transaction
from webapp.records import audit
from webapp.records.audit import Actor, AuditKind, AuditOutcome
from webapp.web import deferred_writes, limiter

ROWS_OF_SAME = 10  # failures per key and hour that get a row each; later ones get fewer
ROWS_OF_ALL = 200  # the same bound for all keys together
KEYS_KEPT = 10_000  # with more keys, counting starts again
WAITING_MOST = 10_000  # rows kept while the database is unavailable
HOUR_MILLIS = 3_600_000

Row: TypeAlias = dict[str, Any]


class Flood:
    """Counts the failures of the hour, and decides which of them get a row.

    It counts each key separately, so that one visitor's failures do not hide another's.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._hour = 0
        self._rows = 0
        self._seen: Counter[str] = Counter()
        self._held: Counter[str] = Counter()

    def stands_for(self, key: str, *, now: datetime) -> int:
        """Count a failure; return how many failures its row covers, or 0 for no row."""
        hour = to_millis(now) // HOUR_MILLIS
        with self._lock:
            if hour != self._hour or len(self._seen) > KEYS_KEPT:
                self._rows = self._rows if hour == self._hour else 0
                self._hour = hour
                self._seen.clear()
                self._held.clear()
            self._seen[key] += 1
            self._held[key] += 1
            if not _is_due(self._seen[key], ROWS_OF_SAME):
                return 0
            self._rows += 1
            return self._held.pop(key) if _is_due(self._rows, ROWS_OF_ALL) else 0


def init_app(app: Flask) -> None:
    """Give the application its own pending rows and its own count of failures."""
    app.extensions["pending_audit_rows"] = deferred_writes.Pending[Row](_store_rows, WAITING_MOST)
    app.extensions["audit_flood"] = Flood()


def visitor() -> Actor:
    """Return an actor for a visitor who is not signed in."""
    return Actor(audit.ActorKind.VISITOR, network_address())


def creator() -> Actor:
    """Return an actor for the signed-in creator of this request."""
    return Actor(audit.ActorKind.CREATOR, network_address())


def agent(client_id: str, client_name: str) -> Actor:
    """Return an actor for the agent that sent this request."""
    return Actor(audit.ActorKind.AGENT, network_address(), client_id, client_name)


def network_address() -> str | None:
    """Return the network address of this request in canonical form; None if it is unreadable."""
    address = limiter.client_address()
    return str(address).partition("%")[0] if address else None


def note(
    kind: AuditKind,
    account_id: str,
    *,
    by: Actor,
    now: datetime,
    outcome: AuditOutcome = AuditOutcome.OK,
    subject: str | None = None,
) -> None:
    """Record an event outside of any transaction; the background work stores it."""
    row = audit.event_values(kind, account_id, by=by, now=now, outcome=outcome, subject=subject)
    audit.log_event(row)
    _pending().add([row])


def note_failure(kind: AuditKind, account_id: str | None, *, by: Actor, now: datetime) -> None:
    """Record a failed attempt, possibly by a stranger; the background work stores it."""
    _note_try(audit.event_values(kind, account_id, by=by, now=now, outcome=AuditOutcome.FAILED))


def telling_refusals(
    kind: AuditKind,
    account: Callable[[], str | None] = lambda: None,
    *,
    by: Callable[[], Actor] = visitor,
) -> Callable[[RequestLimit], None]:
    """Return an `on_breach` of a limit, which records the first refused attempt per window.

    account  returns the id of the attempted account; called in the refused request
    """

    def tell(reached: RequestLimit) -> None:
        if limiter.is_first_refusal(reached):
            outcome = AuditOutcome.TOO_MANY_TRIES
            _note_try(audit.event_values(kind, account(), by=by(), now=utc_now(), outcome=outcome))

    return tell


def store() -> None:
    """Store the pending rows; after a failure they are kept for the next call."""
    _pending().store()


def _store_rows(rows: list[Row]) -> None:
    """Store the rows; an earlier attempt may have stored them without hearing of its commit."""
    events = cast(Table, audit.AuditEvent.__table__)
    with write_transaction():
        db.session.execute(insert_into(events).on_conflict_do_nothing(), rows)


def _note_try(row: Row) -> None:
    """Log a failure, and keep its row unless it belongs to a flood."""
    audit.log_event(row)
    key = f"{row['kind']} {row['outcome']} {row['account_id']} {limiter.client_network()}"
    if count := current_app.extensions["audit_flood"].stands_for(key, now=row["at"]):
        _pending().add([row | {"count": count}])


def _pending() -> deferred_writes.Pending[Row]:
    return cast(deferred_writes.Pending[Row], current_app.extensions["pending_audit_rows"])


def _is_due(nth: int, first: int) -> bool:
    """Return True up to `first`, and then each time that the number has doubled."""
    doubled, rest = divmod(nth, first)
    return nth <= first or (rest == 0 and doubled & (doubled - 1) == 0)
