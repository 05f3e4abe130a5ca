"""The log of deliveries, and sending one again."""

from datetime import datetime
from enum import StrEnum
from functools import cache
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.orm import aliased

from webapp.base.database import execute, read_rows, to_millis, write_transaction
from webapp.base.errors import ErrorCode, NotFound, PageCode, StateConflict
from webapp.base.vocabulary import DeliveryFailure, DeliveryKind, DeliveryState
from webapp.events.outbox import UNSETTLED, session_id_of
from webapp.records import events
from webapp.records.forms import Form
from webapp.records.responses.models import ResponseSession

PAGE_DELIVERIES = 50
LOOKED_AT = 10_000  # deliveries that filters are applied to for one page

Position = tuple[int, str]  # milliseconds of the creation, id
_D, _S = events.EventDelivery, events.EventSubscription


class StateGroup(StrEnum):
    """What creators filter by."""

    WAITING = "waiting"
    DELIVERED = "delivered"
    FAILED = "failed"
    CANCELLED = "cancelled"


STATES = {
    StateGroup.WAITING: UNSETTLED,
    StateGroup.DELIVERED: (DeliveryState.DELIVERED,),
    StateGroup.FAILED: (DeliveryState.DROPPED, DeliveryState.ABANDONED),
    StateGroup.CANCELLED: (DeliveryState.CANCELLED,),
}


class DeliveryFilters(NamedTuple):
    """None filters nothing."""

    group: StateGroup | None = None
    form_id: str | None = None
    host: str | None = None


class DeliveryRow(NamedTuple):
    """A delivery with its last attempt; `tries` is the number of that, 0 before it ended.

    ended_at, expires_at, suspended_at are those of the subscription, `paused_until` that of the
    endpoint, `deleted_at` that of the form; `session_id` is null where the response was withdrawn
    """

    id: str
    kind: DeliveryKind
    state: DeliveryState
    host: str
    form_id: str
    title: str
    deleted_at: datetime | None
    created_at: datetime
    next_at: datetime
    ended_at: datetime | None
    expires_at: datetime
    suspended_at: datetime | None
    paused_until: datetime | None
    session_id: str | None
    tries: int
    status: int | None
    failure: DeliveryFailure | None

    @property
    def has_failed(self) -> bool:
        """True if it ended without having arrived, and nobody called it off."""
        return self.state in STATES[StateGroup.FAILED]

    @property
    def is_withdrawn(self) -> bool:
        """Whether the response of this event is gone."""
        return self.kind is DeliveryKind.EVENT and self.session_id is None

    @property
    def next_try(self) -> datetime:
        """When it is sent next, if it waits and nothing else keeps it back."""
        return max(self.next_at, self.paused_until or self.next_at)

    def is_subscribed(self, now: datetime) -> bool:
        """Whether its subscription is alive."""
        return self.ended_at is None and self.expires_at > now

    def may_be_sent_again(self, now: datetime) -> bool:
        """For events that are settled and not withdrawn, while something could be sent."""
        sendable = self.is_subscribed(now) and self.deleted_at is None and not self.suspended_at
        is_kept = self.kind is DeliveryKind.EVENT and not self.is_withdrawn
        return sendable and is_kept and self.state in SENT_AGAIN


class DeliveryPage(NamedTuple):
    """At most PAGE_DELIVERIES, newest first.

    older  where the page after them begins; None: there is none
    """

    deliveries: list[DeliveryRow]
    older: Position | None

    @property
    def is_cut_short(self) -> bool:
        """Whether it ends because LOOKED_AT were looked at, not because it is full."""
        return self.older is not None and len(self.deliveries) < PAGE_DELIVERIES


class AttemptRow(NamedTuple):
    """One attempt, as `DeliveryAttempt`."""

    number: int
    started_at: datetime
    duration_ms: int
    signature: str
    status: int | None
    failure: DeliveryFailure | None
    reply: str | None


class DeliveryDetails(NamedTuple):
    """One delivery; attempts newest first, `body` null before the first of them."""

    delivery: DeliveryRow
    event_id: str
    subscription_id: str
    grant_id: str
    body: str | None
    attempts: list[AttemptRow]


_last = aliased(events.DeliveryAttempt)
_last_number = (
    sa.select(sa.func.max(events.DeliveryAttempt.number))
    .where(events.DeliveryAttempt.delivery_id == _D.id)
    .correlate(_D)
    .scalar_subquery()
)
_digits_of_event = sa.func.substr(_D.event_id, len("evt_") + 1)
_DELIVERIES = (
    sa.select(
        *events.columns_of(
            DeliveryRow,
            *(_D, _S, Form, events.CallbackEndpoint),
            session_id=ResponseSession.id,
            tries=sa.func.coalesce(_last.number, 0),
            status=_last.status,
            failure=_last.failure,
        )
    )
    .join(Form, Form.id == _D.form_id)
    .join(_S, _S.id == _D.subscription_id)
    .join(events.CallbackEndpoint, events.CallbackEndpoint.id == _D.endpoint_id)
    .outerjoin(ResponseSession, ResponseSession.id == sa.literal("ses_").concat(_digits_of_event))
    .outerjoin(_last, sa.and_(_last.delivery_id == _D.id, _last.number == _last_number))
    .where(_D.account_id == sa.bindparam("account_id"))
)
_ONE = _DELIVERIES.add_columns(_D.event_id, _D.subscription_id, _S.grant_id, _D.body).where(
    _D.id == sa.bindparam("delivery_id")
)
_ATTEMPTS = (
    sa.select(*events.columns_of(AttemptRow, events.DeliveryAttempt))
    .where(events.DeliveryAttempt.delivery_id == sa.bindparam("delivery_id"))
    .order_by(events.DeliveryAttempt.number.desc())
)


def is_in(group: StateGroup) -> sa.ColumnElement[bool]:
    """The condition for deliveries in one of the states of this group."""
    return sa.or_(*(_D.state == state for state in STATES[group]))


def list_deliveries(
    account_id: str, filters: DeliveryFilters, *, before: Position | None = None
) -> DeliveryPage:
    """The page after the position `before`; filters apply to the LOOKED_AT that follow it."""
    created, delivery_id = before or _NEWEST
    after = {"account_id": account_id, "created": created, "delivery_id": delivery_id}
    last = read_rows(_LAST_LOOKED_AT, **after, most=LOOKED_AT - 1) if any(filters) else []
    until, until_id = last[0] if last else _OLDEST
    group, form_id, host = filters
    found = read_rows(
        _page(group, form_id is not None, host is not None),
        **after,
        until=until,
        until_id=until_id,
        form_id=form_id,
        host=host,
    )
    rows = [DeliveryRow._make(row) for row in found]
    if len(rows) > PAGE_DELIVERIES:
        return DeliveryPage(rows[:-1], (to_millis(rows[-2].created_at), rows[-2].id))
    return DeliveryPage(rows, (until, until_id) if last else None)


def get_delivery(account_id: str, delivery_id: str) -> DeliveryDetails:
    """The account's delivery with all its attempts; raises NotFound"""
    found = read_rows(_ONE, account_id=account_id, delivery_id=delivery_id)
    if not found:
        raise NotFound(
            ErrorCode.NOT_FOUND,
            "There is no such delivery.",
            "What is settled is kept for 30 days.",
        )
    *columns, event_id, subscription_id, grant_id, body = found[0]
    attempts = [AttemptRow._make(row) for row in read_rows(_ATTEMPTS, delivery_id=delivery_id)]
    delivery = DeliveryRow._make(columns)
    return DeliveryDetails(delivery, event_id, subscription_id, grant_id, body, attempts)


@cache
def _page(
    group: StateGroup | None,
    of_form: bool,  # noqa: FBT001
    of_host: bool,  # noqa: FBT001
) -> sa.Executable:
    """The statement of one page; each is prepared once."""
    query = _DELIVERIES.where(_IS_AFTER, _position("until", "until_id") <= _POSITION)
    if group:
        query = query.where(is_in(group))
    if of_form:
        query = query.where(_D.form_id == sa.bindparam("form_id"))
    if of_host:
        query = query.where(_D.host == sa.bindparam("host"))
    return query.order_by(*_NEWEST_FIRST).limit(PAGE_DELIVERIES + 1)


def _position(created: str, delivery_id: str) -> sa.Tuple:
    return sa.tuple_(
        sa.bindparam(created, type_=sa.BigInteger), sa.bindparam(delivery_id, type_=sa.String)
    )


_NEWEST: Position = (2**62, "")
_OLDEST: Position = (0, "")
_CREATED = sa.type_coerce(_D.created_at, sa.BigInteger)
_POSITION = sa.tuple_(_CREATED, _D.id)
_IS_AFTER = _position("created", "delivery_id") > _POSITION
_NEWEST_FIRST = (_D.created_at.desc(), _D.id.desc())
_LAST_LOOKED_AT = (
    sa.select(_CREATED, _D.id)
    .where(_D.account_id == sa.bindparam("account_id"), _IS_AFTER)
    .order_by(*_NEWEST_FIRST)
    .offset(sa.bindparam("most"))
    .limit(1)
)


SENT_AGAIN = (DeliveryState.DELIVERED, DeliveryState.DROPPED, DeliveryState.ABANDONED)


def send_again(account_id: str, delivery_id: str, *, now: datetime) -> str:
    """Send a settled event once more, the same bytes under the same id; commits.

    Returns the id to hand over. Raises NotFound, and StateConflict `delivery_unsettled` for one
    that is under way or was cancelled, `response_withdrawn` for one whose response is gone,
    `subscription_ended` for one that nobody waits for.
    """
    with write_transaction():
        found = execute(_SENT_BEFORE, row=delivery_id, account=account_id).first()
        if found is None:
            raise NotFound(ErrorCode.NOT_FOUND, "No such delivery.", "Open one of the list.")
        if found.state not in SENT_AGAIN:
            raise StateConflict(
                PageCode.DELIVERY_UNSETTLED,
                "This delivery is still under way, or it was cancelled.",
                "Only what was delivered, dropped or given up can be sent again.",
            )
        if found.ended_at is not None or found.expires_at <= now:
            raise StateConflict(
                PageCode.SUBSCRIPTION_ENDED,
                "The agent has no longer subscribed.",
                "It can be sent again once the agent has renewed its subscription.",
            )
        if not execute(_SESSION, session=session_id_of(found.event_id)).first():
            raise StateConflict(
                PageCode.RESPONSE_WITHDRAWN,
                "The response was withdrawn or deleted.",
                "There is nothing left to tell of it.",
            )
        queued = sa.update(_D).where(_D.id == delivery_id)
        execute(
            queued.values(state=DeliveryState.PENDING, next_at=now, attempts=0, settled_at=None)
        )
    return delivery_id


_SENT_BEFORE = (
    sa.select(_D.state, _D.event_id, _S.ended_at, _S.expires_at)
    .join(_S, _S.id == _D.subscription_id)
    .join(Form, Form.id == _D.form_id)
    .where(
        _D.id == sa.bindparam("row"),
        _D.account_id == sa.bindparam("account"),
        _D.kind == DeliveryKind.EVENT,
        Form.deleted_at.is_(None),
    )
    .with_for_update(key_share=True, of=(_S, _D))
)
# locked, so that a concurrent withdrawal either comes first or cancels what is queued here
_SESSION = (
    sa.select(ResponseSession.id)
    .where(ResponseSession.id == sa.bindparam("session"))
    .with_for_update(read=True, key_share=True)
)
