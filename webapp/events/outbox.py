"""The rows that wait to be sent: written with a completion, cancelled when it is deleted.

The event of a completed response has the digits of its session: one response cannot be two events,
and one that is sent much later again has the same id.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import cast

import sqlalchemy as sa

from webapp.base.database import execute, from_millis, to_millis
from webapp.base.database.prepared_statements import all_rows
from webapp.base.vocabulary import DeliveryKind, DeliveryState
from webapp.records.events import EVENT_NAME, EventDelivery, EventSubscription
from webapp.records.responses.models import Completion
from webapp.records.responses.recordings import Recording

UNSETTLED = (DeliveryState.PENDING, DeliveryState.SENDING)
WORDS_MILLIS = 60_000  # how long an event waits at most for recordings to be written down

DELIVERIES = cast(sa.Table, EventDelivery.__table__)
_SUBSCRIPTIONS = cast(sa.Table, EventSubscription.__table__)


def event_id_of(session_id: str) -> str:
    """The `eventId` of the response with this id."""
    return f"evt_{digits_of(session_id)}"


def session_id_of(event_id: str) -> str:
    """The id of the response with this `eventId`."""
    return f"ses_{digits_of(event_id)}"


def digits_of(object_id: str) -> str:
    """An id without its prefix."""
    return object_id.partition("_")[2]


def event(event_id: str, form_id: str, position: int, answer_count: int) -> dict[str, object]:
    """A completed response; `position` is the stamp of the completion, in milliseconds."""
    completed = from_millis(position).strftime("%Y-%m-%dT%H:%M:%S") + f".{position % 1000:03d}Z"
    return {
        "eventId": event_id,
        "name": EVENT_NAME,
        "timestamp": completed,
        "data": {
            "formId": form_id,
            "responseId": session_id_of(event_id),
            "submittedAt": completed,
            "answerCount": answer_count,
        },
    }


def queue_deliveries(
    connection: sa.Connection, completion: Completion, *, now: datetime
) -> list[str]:
    """A delivery for each live subscription of the form; returns the ids of the deliveries.

    Due at once, or in WORDS_MILLIS if recordings of the response are being written down. Suspended
    subscriptions included: theirs wait. The last statement of the transaction that completes the
    response, which holds the form's row lock.
    """
    if not completion.is_awaited:
        return []
    found = all_rows(
        connection,
        _QUEUE,
        {
            "form": completion.form_id,
            "session": completion.session_id,
            "digits": digits_of(completion.session_id),
            "answer_count": completion.answer_count,
            "stamp": completion.stamp,
            "now": to_millis(now),
        },
    )
    return [row[0] for row in found]


def release_deliveries(session_id: str, *, now: datetime) -> list[str]:
    """Make due what waits for recordings of this response, if none is being written down any more.

    Returns the ids of the deliveries. Under the lock of the session, or a concurrent completion
    could queue them unseen. The caller commits.
    """
    found = execute(_RELEASE, event=event_id_of(session_id), session=session_id, now=to_millis(now))
    return [row[0] for row in found]


def cancel_events(session_ids: Iterable[str], *, now: datetime) -> None:
    """Cancel what is not sent of responses that are withdrawn or deleted.

    After the form's row was locked, or a concurrent replay could queue a response. The caller
    commits.
    """
    cancel_deliveries(EventDelivery.event_id.in_(map(event_id_of, session_ids)), now=now)


def cancel_deliveries(which: sa.ColumnElement[bool], *, now: datetime) -> int:
    """Settle the unsettled deliveries that match as cancelled; returns how many. The caller
    commits.
    """
    cancelled = (
        sa.update(DELIVERIES)
        .where(which, EventDelivery.state.in_(UNSETTLED))
        .values(state=DeliveryState.CANCELLED, settled_at=now, lease_until=None)
    )
    return execute(cancelled).rowcount


def unsettled(subscription_ids: Iterable[str]) -> sa.ColumnElement[bool]:
    """The condition for what these subscriptions still have to send."""
    return sa.and_(
        EventDelivery.subscription_id.in_(list(subscription_ids)),
        EventDelivery.state.in_(UNSETTLED),
    )


def alive(
    now: datetime | sa.BindParameter[datetime] | sa.BindParameter[int],
) -> sa.ColumnElement[bool]:
    """The condition for subscriptions that have neither ended nor expired."""
    return sa.and_(EventSubscription.ended_at.is_(None), EventSubscription.expires_at > now)


def has_subscriptions(
    form_id: sa.BindParameter[str], now: sa.BindParameter[int]
) -> sa.ColumnElement[bool]:
    """The condition for forms with subscriptions that have neither ended nor expired."""
    return sa.exists().where(EventSubscription.form_id == form_id, alive(now))


def delivery_rows(
    digits: sa.ColumnElement[str],
    answer_count: sa.ColumnElement[int],
    stamp: sa.ColumnElement[int],
    due: sa.ColumnElement[int],
) -> sa.Select[*tuple[object, ...]]:
    """Deliveries to subscriptions, with the names of their columns; times in milliseconds."""
    columns = _SUBSCRIPTIONS.c
    values = {
        "id": sa.literal_column("'dlv_'", sa.String) + digits + sa.func.substr(columns.id, 5),
        "account_id": columns.account_id,
        "form_id": columns.form_id,
        "subscription_id": columns.id,
        "endpoint_id": columns.endpoint_id,
        "host": columns.host,
        "kind": sa.literal(DeliveryKind.EVENT.value, sa.String),
        "event_id": sa.literal_column("'evt_'", sa.String) + digits,
        "answer_count": answer_count,
        "position": stamp,
        "state": sa.literal(DeliveryState.PENDING.value, sa.String),
        "attempts": sa.literal(0, sa.Integer),
        "next_at": due,
        "created_at": sa.bindparam("now", type_=sa.BigInteger),
    }
    return sa.select(*(value.label(name) for name, value in values.items()))


def is_transcribing(session_id: sa.ColumnElement[str]) -> sa.ColumnElement[bool]:
    """The condition for responses of which recordings are being written down."""
    return sa.exists().where(
        Recording.session_id == session_id,
        Recording.transcriber != "",
        Recording.next_at.is_not(None),
    )


_NOW = sa.bindparam("now", type_=sa.BigInteger)
_IS_TRANSCRIBING = is_transcribing(sa.bindparam("session"))
_QUEUED = delivery_rows(
    sa.bindparam("digits", type_=sa.String),
    sa.bindparam("answer_count", type_=sa.Integer),
    sa.bindparam("stamp", type_=sa.BigInteger),
    _NOW + sa.case((_IS_TRANSCRIBING, WORDS_MILLIS), else_=0),
).where(_SUBSCRIPTIONS.c.form_id == sa.bindparam("form"), alive(_NOW))
_QUEUE = (
    sa.insert(DELIVERIES)
    .from_select(_QUEUED.selected_columns.keys(), _QUEUED)
    .returning(DELIVERIES.c.id)
)
_RELEASE = (
    sa.update(DELIVERIES)
    .where(
        DELIVERIES.c.event_id == sa.bindparam("event"),
        DELIVERIES.c.state == DeliveryState.PENDING,
        DELIVERIES.c.attempts == 0,
        sa.type_coerce(DELIVERIES.c.next_at, sa.BigInteger) > _NOW,
        ~_IS_TRANSCRIBING,
    )
    .values(next_at=_NOW)
    .returning(DELIVERIES.c.id)
)
