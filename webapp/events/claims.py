"""Leases on deliveries: a row belongs to one attempt, and its bytes are frozen."""

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Any, NamedTuple, cast

import orjson
from sqlalchemy import (
    String,
    Table,
    bindparam,
    func,
    select,
    text,
    update,
)

from webapp.base.database import (
    UtcDateTime,
    among,
    core_transaction,
    execute,
    on_sqlite,
    read_rows,
    tried_again,
    write_transaction,
)
from webapp.base.database.prepared_statements import all_rows, run_each
from webapp.base.vocabulary import DeliveryKind, DeliveryState, ErrorProfile
from webapp.events.due import Room, due_deliveries, retry_delay
from webapp.events.outbox import event
from webapp.events.polling import lowest_unsettled, settled_until
from webapp.records.events import (
    CallbackEndpoint,
    EventDelivery,
    EventError,
    EventSubscription,
)
from webapp.records.forms import Form


def terminated_body(profile: ErrorProfile) -> str:
    """JSON of the envelope that tells a receiver that its subscription was ended."""
    forbidden = EventError.FORBIDDEN
    reason = {"reason": "Access revoked"}
    error = {"code": forbidden.code(profile), "message": forbidden.message, "data": reason}
    return _json(type="terminated", error=error)


def _json(**fields: object) -> str:
    return orjson.dumps(fields).decode()


LEASE_SECONDS = 30  # by the clock of the process that took it
SILENT_LOOKS = 5  # one a second; if the lease is the same in all of them, its process is dead
ADVISORY_LOCK = 0x61736B64  # a number of our own; PostgreSQL holds it during a claim

_D, _S, _E = EventDelivery, EventSubscription, CallbackEndpoint
_SENDING = _D.state == DeliveryState.SENDING

CursorOf = Callable[[str, int], str]  # of the id of a form and a position in milliseconds


class Claimed(NamedTuple):
    """A delivery that the caller is to attempt before its lease ends.

    attempts  this one included
    secret    sealed, as is `previous_secret`, which signs, too, until `previous_until`
    """

    id: str
    attempts: int
    kind: DeliveryKind
    event_id: str
    account_id: str
    form_id: str
    subscription_id: str
    endpoint_id: str
    url: str
    secret: str
    previous_secret: str | None
    previous_until: datetime | None
    duration_ms: int | None
    body: bytes


@tried_again
def claim(limit: int, room: Room, *, cursor_of: CursorOf, now: datetime) -> list[Claimed]:
    """Lease up to `limit` due deliveries for which there is room, each with one attempt more;
    commits.

    Nothing is taken of subscriptions that are suspended or have expired, of forms in the trash, of
    disabled accounts and of endpoints that rest. The body is frozen at the first attempt. A lease
    takes its place until the attempt is settled, or `Leases` releases it.
    """
    with core_transaction() as connection:
        if not on_sqlite():
            all_rows(connection, _LOCK, {"number": ADVISORY_LOCK})
        chosen = [due.id for due in room.choose(limit, *due_deliveries(connection, now))]
        if not chosen:
            return []
        rows = all_rows(connection, _DETAILS, {"ids": chosen})
        claimed = [_claimed(row, cursor_of) for row in rows]
        until = now + timedelta(seconds=LEASE_SECONDS)
        leases = [{"row": each.id, "text": each.body.decode(), "until": until} for each in claimed]
        if leases:
            run_each(connection, _LEASE, leases)
        return claimed


@tried_again
def renew(held: Iterable[Claimed], *, now: datetime) -> None:
    """Renew the leases of these attempts; commits. Rows that are locked are being settled."""
    attempts = {each.id: each.attempts for each in held}
    unlocked = select(_D.id, _D.attempts).where(_D.id.in_(attempts), _SENDING)
    with write_transaction():
        found = execute(unlocked.with_for_update(skip_locked=True)).all()
        mine = [row for row, number in found if attempts[row] == number]
        until = now + timedelta(seconds=LEASE_SECONDS)
        renewed = update(_D).where(_D.id.in_(mine))
        execute(renewed.values(lease_until=until, renewals=_D.renewals + 1))


class Leases:
    """The leases of all processes, and in how many looks of this one each was the same.

    Looks are counted, not seconds: clocks of machines differ, and this process, too, may have been
    paused or cut off from the database. A lease is an id, its attempt and how often it was renewed.
    """

    def __init__(self) -> None:
        self._looks: dict[tuple[str, int, int], int] = {}

    def look(self, *, now: datetime) -> None:
        """Make deliveries of dead processes due again, by the schedule; commits. Call each second.

        Those that had their last attempt are abandoned: it may be what kills the processes.
        """
        found = [tuple(row) for row in read_rows(_LEASES)]
        self._looks = {each: self._looks.get(each, -1) + 1 for each in found}
        for lease, looks in self._looks.items():
            if looks >= SILENT_LOOKS:
                _release(*lease, now)


@tried_again
def _release(delivery_id: str, attempts: int, renewals: int, now: datetime) -> None:
    delay = retry_delay(attempts)
    released = {"lease_until": None, "renewals": None}
    if delay is None:
        changed = released | {"state": DeliveryState.ABANDONED, "settled_at": now}
    else:
        changed = released | {"state": DeliveryState.PENDING, "next_at": now + delay}
    mine = (_D.id == delivery_id, _D.attempts == attempts, _D.renewals == renewals, _SENDING)
    with write_transaction():
        execute(update(_D).where(*mine).values(changed))


def _claimed(row: Any, cursor_of: CursorOf) -> Claimed:
    body = row.body or _made_body(row, cursor_of)
    kept = (getattr(row, name) for name in Claimed._fields[:-1])
    return Claimed._make((*kept, body.encode()))


def _made_body(row: Any, cursor_of: CursorOf) -> str:
    if row.kind is DeliveryKind.TERMINATED:
        return terminated_body(row.error_profile)
    # a cursor lies behind the event that carries it
    others = row.lowest_pending, row.lowest_sending
    settled = settled_until(others, newest=max(row.completed_stamp or 0, row.position))
    cursor = cursor_of(row.form_id, settled)
    return _json(**event(row.event_id, row.form_id, row.position, row.answer_count), cursor=cursor)


_NOW = bindparam("moment", type_=UtcDateTime())
_LOCK = text("SELECT pg_advisory_xact_lock(:number)")
_DETAILS = (
    select(
        *(_D.id, _D.kind, _D.event_id, _D.account_id, _D.form_id, _D.subscription_id),
        *(_D.endpoint_id, _D.position, _D.answer_count, _D.body),
        (_D.attempts + 1).label("attempts"),
        *(_S.url, _S.secret, _S.previous_secret, _S.previous_until, _S.error_profile),
        _E.duration_ms,
        *lowest_unsettled(_D.subscription_id, but=_D.position),
        Form.completed_stamp,
    )
    .join(_S, _S.id == _D.subscription_id)
    .join(_E, _E.id == _D.endpoint_id)
    .join(Form, Form.id == _D.form_id)
    .where(among(_D.id, "ids"), _D.state == DeliveryState.PENDING)
    # somebody may be about to cancel one
    .with_for_update(of=_D, skip_locked=True)
)
_LEASE = (
    update(cast(Table, _D.__table__))
    .where(_D.id == bindparam("row"))
    .values(
        state=DeliveryState.SENDING,
        attempts=_D.attempts + 1,
        body=func.coalesce(_D.body, bindparam("text", type_=String)),
        lease_until=bindparam("until", type_=UtcDateTime()),
        renewals=0,
    )
)
_LEASES = select(_D.id, _D.attempts, _D.renewals).where(_SENDING)
