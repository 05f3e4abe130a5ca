"""Claiming deliveries: which are due, where there is room, and the lease of each attempt.

The limits hold across processes, because claims of all of them run one after the other.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple, cast

from sqlalchemy import (
    String,
    Table,
    and_,
    bindparam,
    case,
    func,
    literal,
    select,
    text,
    update,
)

from webapp.database import (
    UtcDateTime,
    among,
    core_transaction,
    execute,
    on_sqlite,
    read_rows,
    tried_again,
    write_transaction,
)
from webapp.database.prepared_statements import all_rows, run_each
from webapp.domain.events.cursors import lowest_unsettled, settled_until
from webapp.domain.events.deliveries.bodies import event_body, terminated_body
from webapp.domain.events.deliveries.due import (
    AT_ONCE_PER_ENDPOINT,
    Due,
    due_deliveries,
    may_be_sent,
    read_due_deliveries,
)
from webapp.domain.events.deliveries.retries import MAX_ATTEMPTS, OPEN_AFTER_FAILURES
from webapp.domain.events.models import CallbackEndpoint, EventDelivery, EventSubscription
from webapp.domain.forms.models import Form
from webapp.domain.shared.vocabulary import DeliveryKind, DeliveryState, ErrorProfile

LEASE_SECONDS = 30  # of an attempt, which takes 10 s at most
AT_ONCE_PER_HOST = 8  # host name and port
ADVISORY_LOCK = 0x61736B64  # a number of our own; PostgreSQL holds it during a claim

CursorOf = Callable[[str, int], str]  # of the id of a form and a position in milliseconds


class Claimed(NamedTuple):
    """A delivery that the caller is to attempt before its lease ends.

    attempts  this one included
    secret    sealed, as is `previous_secret`, which signs beside it until `previous_until`
    failing   whether the last attempt at this endpoint failed
    """

    id: str
    attempts: int
    kind: DeliveryKind
    event_id: str
    form_id: str
    subscription_id: str
    endpoint_id: str
    url: str
    secret: str
    previous_secret: str | None
    previous_until: datetime | None
    body: bytes
    failing: bool


class _Details(NamedTuple):
    """A delivery that was chosen, with its subscription and endpoint; columns of `_DETAILS`."""

    id: str
    kind: DeliveryKind
    event_id: str
    form_id: str
    subscription_id: str
    endpoint_id: str
    position: int
    answer_count: int
    stored: str | None
    attempts: int
    url: str
    secret: str
    previous_secret: str | None
    previous_until: datetime | None
    error_profile: ErrorProfile
    failures: int
    lowest_pending: int | None
    lowest_sending: int | None
    completed_stamp: int | None


@tried_again
def claim(
    limit: int, *, cursor_of: CursorOf, now: datetime, failing_limit: int | None = None
) -> list[Claimed]:
    """Lease up to `limit` due deliveries for LEASE_SECONDS, each with one attempt more; commits.

    Nothing is taken of subscriptions that are suspended or have expired, of forms in the trash, of
    disabled accounts and of endpoints that rest. The body is frozen at the first attempt. A lease
    that has ended takes its place until `release_expired`.

    failing_limit  how many may go to endpoints whose last attempt failed; None: all
    """
    with core_transaction() as connection:
        if not on_sqlite():
            all_rows(connection, _LOCK, {"number": ADVISORY_LOCK})
        room = _Room(limit, limit if failing_limit is None else failing_limit)
        chosen = [due.id for due in due_deliveries(connection, now) if room.take(due)]
        if not chosen:
            return []
        rows = all_rows(connection, _DETAILS, {"ids": chosen})
        claimed = [_claimed(_Details._make(row), cursor_of) for row in rows]
        until = now + timedelta(seconds=LEASE_SECONDS)
        leases = [{"row": each.id, "text": each.body.decode(), "until": until} for each in claimed]
        if leases:
            run_each(connection, _LEASE, leases)
        return claimed


def read_due(*, now: datetime) -> list[Due]:
    """What could be claimed at this moment: of each subscription the first, at most."""
    room = _Room(ANY_NUMBER, ANY_NUMBER)
    return [due for due in read_due_deliveries(now) if room.take(due)]


ANY_NUMBER = 1_000_000


def release_expired(*, now: datetime) -> None:
    """Make deliveries due again whose attempt did not end within its lease; commits.

    Those that had their last attempt are abandoned: it may be what stops whoever delivers them.
    """
    if read_rows(_EXPIRED, moment=now):
        with write_transaction():
            execute(_RELEASE_EXPIRED, moment=now)


def is_due(delivery_id: str, *, now: datetime) -> bool:
    """Whether this delivery waits for an attempt, though others may have to go before it."""
    waits = read_rows(_IS_DUE, row=delivery_id, moment=now)
    return bool(waits) and may_be_sent(delivery_id, now=now)


@dataclass
class _Room:
    """What may still be claimed, in all and per endpoint and host."""

    left: int
    left_for_failing: int

    def __post_init__(self) -> None:
        self._taken: set[str] = set()
        self._endpoints, self._hosts = Counter[str](), Counter[str]()  # beside what is in flight

    def take(self, due: Due) -> bool:
        """Whether there is a place for it, which it then has."""
        probed = due.failures >= OPEN_AFTER_FAILURES
        at_endpoint = due.endpoint_in_flight + self._endpoints[due.endpoint_id]
        at_host = due.host_in_flight + self._hosts[due.host]
        fits = (
            self.left > 0
            and due.id not in self._taken
            and (not due.failures or self.left_for_failing > 0)
            and at_endpoint < (1 if probed else AT_ONCE_PER_ENDPOINT)
            and at_host < AT_ONCE_PER_HOST
        )
        if fits:
            self.left -= 1
            self.left_for_failing -= bool(due.failures)
            self._taken.add(due.id)
            self._endpoints[due.endpoint_id] += 1
            self._hosts[due.host] += 1
        return fits


def _claimed(row: _Details, cursor_of: CursorOf) -> Claimed:
    body = row.stored or _made_body(row, cursor_of)
    columns = {name: value for name, value in row._asdict().items() if name in Claimed._fields}
    return Claimed(**columns, body=body.encode(), failing=bool(row.failures))


def _made_body(row: _Details, cursor_of: CursorOf) -> str:
    if row.kind is DeliveryKind.TERMINATED:
        return terminated_body(row.error_profile)
    # a cursor lies behind the event that carries it
    others = row.lowest_pending, row.lowest_sending
    settled = settled_until(others, newest=max(row.completed_stamp or 0, row.position))
    return event_body(
        row.event_id,
        row.form_id,
        position=row.position,
        answer_count=row.answer_count,
        cursor=cursor_of(row.form_id, settled),
    )


_D, _S, _E = EventDelivery, EventSubscription, CallbackEndpoint
_NOW = bindparam("moment", type_=UtcDateTime())
_LOCK = text("SELECT pg_advisory_xact_lock(:number)")
_LEASE_ENDED = and_(_D.state == DeliveryState.SENDING, _D.lease_until <= _NOW)
_EXPIRED = select(_D.id).where(_LEASE_ENDED).limit(1)
_IS_SPENT = _D.attempts >= MAX_ATTEMPTS
_STATES = _D.__table__.c.state.type
_RELEASE_EXPIRED = (
    update(_D)
    .where(_LEASE_ENDED)
    .values(
        state=case(
            (_IS_SPENT, literal(DeliveryState.ABANDONED, _STATES)),
            else_=literal(DeliveryState.PENDING, _STATES),
        ),
        settled_at=case((_IS_SPENT, _NOW)),
        lease_until=None,
    )
)
_IS_DUE = select(_D.id).where(
    _D.id == bindparam("row"), _D.state == DeliveryState.PENDING, _D.next_at <= _NOW
)
_DETAILS = (
    select(
        *(_D.id, _D.kind, _D.event_id, _D.form_id, _D.subscription_id, _D.endpoint_id),
        *(
            _D.position,
            _D.answer_count,
            _D.body.label("stored"),
            (_D.attempts + 1).label("attempts"),
        ),
        *(_S.url, _S.secret, _S.previous_secret, _S.previous_until, _S.error_profile),
        _E.failures,
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
    )
)
