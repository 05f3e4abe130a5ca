"""The rows that wait to be sent: written with a completion, cancelled when it is deleted.

The event of a completed response has the digits of its session: one response cannot be two events,
and one that is sent much later again has the same id.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import cast

from sqlalchemy import (
    BigInteger,
    BindParameter,
    ColumnElement,
    Connection,
    Integer,
    Select,
    String,
    Table,
    and_,
    bindparam,
    case,
    exists,
    func,
    insert,
    literal,
    literal_column,
    select,
    type_coerce,
    update,
)

from webapp.base.database import execute, from_millis, to_millis
from webapp.base.database.prepared_statements import all_rows
from webapp.base.vocabulary import DeliveryKind, DeliveryState
from webapp.records.events import EVENT_NAME, EventDelivery, EventSubscription
from webapp.records.responses.models import Completion
from webapp.records.responses.recordings import Recording

UNSETTLED = (DeliveryState.PENDING, DeliveryState.SENDING)
WORDS_MILLIS = 60_000  # how long an event waits at most for recordings to be written down

DELIVERIES = cast(Table, EventDelivery.__table__)
_SUBSCRIPTIONS = cast(Table, EventSubscription.__table__)


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


def queue_deliveries(connection: Connection, completion: Completion, *, now: datetime) -> list[str]:
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


def cancel_deliveries(which: ColumnElement[bool], *, now: datetime) -> int:
    """Settle the unsettled deliveries that match as cancelled; returns how many. The caller
    commits.
    """
    cancelled = (
        update(DELIVERIES)
        .where(which, EventDelivery.state.in_(UNSETTLED))
        .values(state=DeliveryState.CANCELLED, settled_at=now, lease_until=None)
    )
    return execute(cancelled).rowcount


def unsettled(subscription_ids: Iterable[str]) -> ColumnElement[bool]:
    """The condition for what these subscriptions still have to send."""
    return and_(
        EventDelivery.subscription_id.in_(list(subscription_ids)),
        EventDelivery.state.in_(UNSETTLED),
    )


def alive(now: datetime | BindParameter[datetime] | BindParameter[int]) -> ColumnElement[bool]:
    """The condition for subscriptions that have neither ended nor expired."""
    return and_(EventSubscription.ended_at.is_(None), EventSubscription.expires_at > now)


def has_subscriptions(form_id: BindParameter[str], now: BindParameter[int]) -> ColumnElement[bool]:
    """The condition for forms with subscriptions that have neither ended nor expired."""
    return exists().where(EventSubscription.form_id == form_id, alive(now))


def delivery_rows(
    digits: ColumnElement[str],
    answer_count: ColumnElement[int],
    stamp: ColumnElement[int],
    due: ColumnElement[int],
) -> Select[*tuple[object, ...]]:
    """Deliveries to subscriptions, with the names of their columns; times in milliseconds."""
    columns = _SUBSCRIPTIONS.c
    values = {
        "id": literal_column("'dlv_'", String) + digits + func.substr(columns.id, 5),
        "account_id": columns.account_id,
        "form_id": columns.form_id,
        "subscription_id": columns.id,
        "endpoint_id": columns.endpoint_id,
        "host": columns.host,
        "kind": literal(DeliveryKind.EVENT.value, String),
        "event_id": literal_column("'evt_'", String) + digits,
        "answer_count": answer_count,
        "position": stamp,
        "state": literal(DeliveryState.PENDING.value, String),
        "attempts": literal(0, Integer),
        "next_at": due,
        "created_at": bindparam("now", type_=BigInteger),
    }
    return select(*(value.label(name) for name, value in values.items()))


def is_transcribing(session_id: ColumnElement[str]) -> ColumnElement[bool]:
    """The condition for responses of which recordings are being written down."""
    return exists().where(
        Recording.session_id == session_id,
        Recording.transcriber != "",
        Recording.next_at.is_not(None),
    )


_NOW = bindparam("now", type_=BigInteger)
_IS_TRANSCRIBING = is_transcribing(bindparam("session"))
_QUEUED = delivery_rows(
    bindparam("digits", type_=String),
    bindparam("answer_count", type_=Integer),
    bindparam("stamp", type_=BigInteger),
    _NOW + case((_IS_TRANSCRIBING, WORDS_MILLIS), else_=0),
).where(_SUBSCRIPTIONS.c.form_id == bindparam("form"), alive(_NOW))
_QUEUE = (
    insert(DELIVERIES)
    .from_select(_QUEUED.selected_columns.keys(), _QUEUED)
    .returning(DELIVERIES.c.id)
)
_RELEASE = (
    update(DELIVERIES)
    .where(
        DELIVERIES.c.event_id == bindparam("event"),
        DELIVERIES.c.state == DeliveryState.PENDING,
        DELIVERIES.c.attempts == 0,
        type_coerce(DELIVERIES.c.next_at, BigInteger) > _NOW,
        ~_IS_TRANSCRIBING,
    )
    .values(next_at=_NOW)
    .returning(DELIVERIES.c.id)
)
