"""Which deliveries are due at endpoints that may be called, however many wait behind them."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import (
    CTE,
    CompoundSelect,
    Connection,
    ScalarSelect,
    Select,
    bindparam,
    case,
    func,
    literal,
    or_,
    select,
    union_all,
)

from webapp.database import UtcDateTime, execute, read_rows
from webapp.database.prepared_statements import all_rows
from webapp.domain.accounts.models import Account
from webapp.domain.events.models import CallbackEndpoint, EventDelivery, EventSubscription
from webapp.domain.forms.models import Form
from webapp.domain.shared.vocabulary import DeliveryKind, DeliveryState

AT_ONCE_PER_ENDPOINT = 2
_D, _S, _E = EventDelivery, EventSubscription, CallbackEndpoint
_NOW = bindparam("moment", type_=UtcDateTime())


class Due(NamedTuple):
    """A delivery that waits for an attempt at an endpoint that may be called.

    failures, duration_ms  of its endpoint
    """

    id: str
    account_id: str
    endpoint_id: str
    host: str
    failures: int
    duration_ms: int | None
    next_at: datetime


class InFlight(NamedTuple):
    """A delivery that is leased to an attempt of any process."""

    account_id: str
    endpoint_id: str
    host: str


def due_deliveries(connection: Connection, now: datetime) -> tuple[list[Due], list[InFlight]]:
    """The oldest AT_ONCE_PER_ENDPOINT of each subscription, and what is in flight.

    Left out are subscriptions that are suspended or have expired, forms in the trash, disabled
    accounts, and endpoints that rest.
    """
    return _parted(all_rows(connection, _DUE, {"moment": now}))


def read_due_deliveries(now: datetime) -> tuple[list[Due], list[InFlight]]:
    """The same at this moment, in no transaction."""
    return _parted(read_rows(_DUE, moment=now))


def _parted(rows: Sequence[Sequence[object]]) -> tuple[list[Due], list[InFlight]]:
    due, in_flight = list[Due](), list[InFlight]()
    for state, *columns in rows:
        if state is DeliveryState.PENDING:
            due.append(Due._make(columns))
        else:
            in_flight.append(InFlight._make(columns[1:4]))
    return due, in_flight


def may_be_sent(delivery_id: str, *, now: datetime) -> bool:
    """Whether nothing but its time and its turn keeps a delivery from being sent."""
    return bool(read_rows(_SERVED_ONE, row=delivery_id, moment=now))


class QueueState(NamedTuple):
    """What waits to be sent at this moment, and how many endpoints rest after failures.

    oldest_due_at  None: nothing is due
    """

    due: int
    oldest_due_at: datetime | None
    resting_endpoints: int


def read_queue_state(now: datetime) -> QueueState:
    """The queue as operators look at it."""
    due, oldest = execute(_QUEUED, moment=now).one()
    return QueueState(due, oldest, execute(_RESTING, moment=now).scalar_one())


def _waiting() -> CTE:
    """The subscriptions that have pending deliveries, by one look at the index for each of them."""
    pending = _D.state == DeliveryState.PENDING
    first = select(func.min(_D.subscription_id).label("id")).where(pending)
    found = first.cte("waiting", recursive=True)
    following = select(func.min(_D.subscription_id)).where(pending, _D.subscription_id > found.c.id)
    return found.union_all(select(following.scalar_subquery()).where(found.c.id.is_not(None)))


def _served() -> CTE:
    """Those of them that may be served, and what kind of deliveries they get."""
    waiting = _waiting()
    return (
        select(_S.id, _S.endpoint_id, _E.host, _E.failures, _E.duration_ms, _KIND.label("kind"))
        .join_from(waiting, _S, _S.id == waiting.c.id)
        .join(_E, _E.id == _S.endpoint_id)
        .join(Form, Form.id == _S.form_id)
        .join(Account, Account.id == _S.account_id)
        .where(*_IS_SERVED)
        .cte("served")
    )


def _oldest(served: CTE, rank: int) -> ScalarSelect[str]:
    return (
        select(_D.id)
        .where(
            _D.state == DeliveryState.PENDING,
            _D.subscription_id == served.c.id,
            _D.next_at <= _NOW,
            _D.kind == served.c.kind,
        )
        .order_by(_D.next_at)
        .limit(1)
        .offset(rank)
        .scalar_subquery()
    )


def _due() -> CompoundSelect[*tuple[object, ...]]:
    served = _served()
    ranks = (
        select(served, _oldest(served, rank).label("oldest"))
        for rank in range(AT_ONCE_PER_ENDPOINT)
    )
    each = union_all(*ranks).subquery()
    due = select(
        *(_D.state, _D.id, _D.account_id, each.c.endpoint_id, each.c.host),
        *(each.c.failures, each.c.duration_ms, _D.next_at),
    ).join(each, each.c.oldest == _D.id)
    in_flight = select(
        *(_D.state, _D.id, _D.account_id, _D.endpoint_id, _D.host),
        *(literal(0), literal(0), _D.next_at),
    ).where(_D.state == DeliveryState.SENDING)
    # in one statement, because claims of all processes wait for each other
    return union_all(due, in_flight)


def _queued() -> Select[int, datetime]:
    served = _served()
    found = select(func.count(), func.min(_D.next_at)).join(
        served, (served.c.id == _D.subscription_id) & (served.c.kind == _D.kind)
    )
    return found.where(_D.state == DeliveryState.PENDING, _D.next_at <= _NOW)


_KINDS = _D.__table__.c.kind.type
_KIND = case(
    (_S.ended_at.is_(None), literal(DeliveryKind.EVENT, _KINDS)),
    else_=literal(DeliveryKind.TERMINATED, _KINDS),
)
_IS_SERVED = (
    or_(_S.ended_at.is_not(None), _S.expires_at > _NOW),
    _S.suspended_at.is_(None),
    _S.url.is_not(None),
    _S.secret.is_not(None),
    or_(_E.paused_until.is_(None), _E.paused_until <= _NOW),
    Form.deleted_at.is_(None),
    Account.disabled_at.is_(None),
)
_SERVED_ONE = (
    select(_D.id)
    .join(_S, _S.id == _D.subscription_id)
    .join(_E, _E.id == _S.endpoint_id)
    .join(Form, Form.id == _S.form_id)
    .join(Account, Account.id == _S.account_id)
    .where(_D.id == bindparam("row"), _D.kind == _KIND, *_IS_SERVED)
)
_DUE = _due()
_QUEUED = _queued()
_RESTING = select(func.count()).where(_E.paused_until > _NOW)
