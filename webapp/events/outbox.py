"""Events of a form: queued deliveries, cursors, replays and polls.

A completion inserts its deliveries; deleting the response cancels them. The id of an event has the
digits of the response's session, so one response is one event, and a replay much later sends the
same id.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple, cast

import sqlalchemy as sa
from itsdangerous import BadData

from webapp.base.database import built_once, execute, from_millis, insert_into, read_rows, to_millis
from webapp.base.database.prepared_statements import all_rows
from webapp.base.sealing import signer
from webapp.base.vocabulary import DeliveryKind, DeliveryState
from webapp.records.events import EVENT_NAME, EventDelivery, EventSubscription
from webapp.records.forms import Form, get_form
from webapp.records.responses.models import Completion, ResponseSession
from webapp.records.responses.recordings import Recording

UNSETTLED = (DeliveryState.PENDING, DeliveryState.SENDING)
WORDS_MILLIS = 60_000  # the longest that an event waits for its recordings to be transcribed

DELIVERIES = cast(sa.Table, EventDelivery.__table__)
_S = cast(sa.Table, EventSubscription.__table__).c
_R = cast(sa.Table, ResponseSession.__table__).c
_NOW = sa.bindparam("now", type_=sa.BigInteger)
_FORM = sa.bindparam("form", type_=sa.String)


def event_id_of(session_id: str) -> str:
    """Return the `eventId` of the response with this id."""
    return f"evt_{digits_of(session_id)}"


def session_id_of(event_id: str) -> str:
    """Return the id of the response with this `eventId`."""
    return f"ses_{digits_of(event_id)}"


def digits_of(object_id: str) -> str:
    """Return an id without its prefix."""
    return object_id.partition("_")[2]


def event(event_id: str, form_id: str, position: int, answer_count: int) -> dict[str, object]:
    """Build the event of a completed response; `position` is its stamp, in milliseconds."""
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
    """Queue one delivery for each live subscription of the form; returns the delivery ids.

    They are due at once, or in WORDS_MILLIS while recordings of the response are being transcribed.
    Suspended subscriptions get them too, to send later. Call it last in the transaction that
    completes the response, which holds the form's row lock.
    """
    if not completion.is_awaited:
        return []
    values = {
        "form": completion.form_id,
        "session": completion.session_id,
        "digits": digits_of(completion.session_id),
        "answer_count": completion.answer_count,
        "stamp": completion.stamp,
        "now": to_millis(now),
    }
    return [row[0] for row in all_rows(connection, _QUEUE, values)]


def release_deliveries(session_id: str, *, now: datetime) -> list[str]:
    """Make deliveries due that wait for recordings, once none of this response is in transcription.

    Returns the delivery ids. The caller holds the lock of the session, or a concurrent completion
    could queue deliveries that this misses; it commits.
    """
    found = execute(_RELEASE, event=event_id_of(session_id), session=session_id, now=to_millis(now))
    return [row[0] for row in found]


def cancel_events(session_ids: Iterable[str], *, now: datetime) -> None:
    """Cancel the unsent events of responses that are withdrawn or deleted.

    The caller has locked the form's row, or a concurrent replay could queue them again; it commits.
    """
    cancel_deliveries(EventDelivery.event_id.in_(map(event_id_of, session_ids)), now=now)


def cancel_deliveries(which: sa.ColumnElement[bool], *, now: datetime) -> int:
    """Cancel the unsettled deliveries that match; returns how many. The caller commits."""
    mine = sa.update(DELIVERIES).where(which, EventDelivery.state.in_(UNSETTLED))
    return execute(mine.values(state=DeliveryState.CANCELLED, settled_at=now)).rowcount


def unsettled(subscription_ids: Iterable[str]) -> sa.ColumnElement[bool]:
    """Build the condition for unsettled deliveries of these subscriptions."""
    return sa.and_(
        EventDelivery.subscription_id.in_(list(subscription_ids)),
        EventDelivery.state.in_(UNSETTLED),
    )


def alive(now: Any) -> sa.ColumnElement[bool]:
    """Build the condition for subscriptions that have neither ended nor expired."""
    return sa.and_(EventSubscription.ended_at.is_(None), EventSubscription.expires_at > now)


def has_subscriptions(form_id: Any, now: Any) -> sa.ColumnElement[bool]:
    """Build the condition for forms with live subscriptions."""
    return sa.exists().where(EventSubscription.form_id == form_id, alive(now))


def _delivery_rows(
    digits: sa.ColumnElement[str],
    answer_count: sa.ColumnElement[int],
    stamp: sa.ColumnElement[int],
    due: sa.ColumnElement[int],
) -> sa.Select[*tuple[object, ...]]:
    """Select new delivery rows, one per subscription, by column name; times in milliseconds."""
    values = {
        "id": sa.literal_column("'dlv_'", sa.String) + digits + sa.func.substr(_S.id, 5),
        "account_id": _S.account_id,
        "form_id": _S.form_id,
        "subscription_id": _S.id,
        "endpoint_id": _S.endpoint_id,
        "host": _S.host,
        "kind": sa.literal(DeliveryKind.EVENT.value, sa.String),
        "event_id": sa.literal_column("'evt_'", sa.String) + digits,
        "answer_count": answer_count,
        "position": stamp,
        "state": sa.literal(DeliveryState.PENDING.value, sa.String),
        "attempts": sa.literal(0, sa.Integer),
        "next_at": due,
        "created_at": _NOW,
    }
    return sa.select(*(value.label(name) for name, value in values.items()))


def _is_transcribing(session_id: sa.ColumnElement[str]) -> sa.ColumnElement[bool]:
    """Build the condition for responses with a recording in transcription."""
    return sa.exists().where(
        Recording.session_id == session_id,
        Recording.transcriber != "",
        Recording.next_at.is_not(None),
    )


_WORDS = _is_transcribing(sa.bindparam("session"))
_QUEUED = _delivery_rows(
    sa.bindparam("digits", type_=sa.String),
    sa.bindparam("answer_count", type_=sa.Integer),
    sa.bindparam("stamp", type_=sa.BigInteger),
    _NOW + sa.case((_WORDS, WORDS_MILLIS), else_=0),
).where(_S.form_id == _FORM, alive(_NOW))
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
        ~_WORDS,
    )
    .values(next_at=_NOW)
    .returning(DELIVERIES.c.id)
)


CURSOR_MAX_CHARS = 256  # clients must be able to store this many
VERSION = 1
SALT = "cursor of a subscription"


def write_cursor(key: bytes, form_id: str, position: int) -> str:
    """Sign a cursor of URL-safe characters; `key` is the secret of the installation."""
    return str(signer(key, SALT).dumps([VERSION, form_id, position]))


def read_cursor(key: bytes, form_id: str, cursor: str) -> int | None:
    """Return the position of a cursor; None if it is altered, unknown or of another form."""
    if len(cursor) > CURSOR_MAX_CHARS or not cursor.isascii():
        return None
    try:
        version, form, position = signer(key, SALT).loads(cursor)
    except (BadData, TypeError, ValueError):
        return None
    return int(position) if (version, form) == (VERSION, form_id) else None


def watermark(subscription_id: str, form_id: str) -> int:
    """Return the position up to which all deliveries of a subscription are settled."""
    *lowest, newest = read_rows(_LOWEST_AND_NEWEST, subscription=subscription_id, form=form_id)[0]
    return settled_until(lowest, newest=newest or 0)


def lowest_unsettled(subscription_id: Any, *, but: Any = None) -> Iterator[sa.Label[int | None]]:
    """Yield one column per unsettled state: the lowest position of the subscription, by an index.

    but  the position of one delivery to leave out
    Termination messages have no position.
    """
    for state in UNSETTLED:
        each = DELIVERIES.alias()
        lowest = sa.select(sa.func.min(each.c.position)).where(
            each.c.subscription_id == subscription_id, each.c.state == state, each.c.position > 0
        )
        if but is not None:
            lowest = lowest.where(each.c.position != but)
        yield lowest.correlate(EventDelivery).scalar_subquery().label(f"lowest_{state}")


def settled_until(lowest: Sequence[int | None], *, newest: int) -> int:
    """Return the position before the first of `lowest_unsettled`; without any, the newest."""
    return min((position - 1 for position in lowest if position is not None), default=newest)


_LOWEST_AND_NEWEST = sa.select(
    *lowest_unsettled(sa.bindparam("subscription")),
    sa.select(Form.completed_stamp).where(Form.id == _FORM).scalar_subquery(),
)


REPLAY_MAX_EVENTS = 500


def queue_missed(
    subscription_id: str, form_id: str, *, position: int, max_age_ms: int | None, now: datetime
) -> bool:
    """Queue the events completed after a position, oldest first, settled ones again.

    Queues at most the newest REPLAY_MAX_EVENTS, and none older than `max_age_ms`; True if it left
    any out. The caller holds the row lock of the form, and commits.
    """
    moment = to_millis(now)
    after = _bounded(position, max_age_ms, moment)
    left_out = execute(_LEFT_OUT, form=form_id, after=after).scalar_one_or_none()
    after = max(after, left_out or 0)
    execute(_queue(), subscription=subscription_id, form=form_id, after=after, now=moment)
    return _any_between(form_id, position, after)


def _bounded(position: int, max_age_ms: int | None, moment: int) -> int:
    """Return the position, moved forward past everything older than `max_age_ms`."""
    return position if max_age_ms is None else max(position, moment - max_age_ms - 1)


def _any_between(form_id: str, since: int, until: int) -> bool:
    """Return whether a completion lies after `since` and not after `until`."""
    return since < until and bool(read_rows(_FIRST, form=form_id, after=since, until=until, most=1))


_AFTER_EVENT = (
    _R.form_id == _FORM,
    _R.completed_stamp > sa.bindparam("after", type_=sa.BigInteger),
)
_LEFT_OUT = (
    sa.select(_R.completed_stamp)
    .where(*_AFTER_EVENT)
    .order_by(_R.completed_stamp.desc())
    .offset(REPLAY_MAX_EVENTS)
    .limit(1)
)


@built_once
def _queue() -> sa.Insert:
    place = sa.func.row_number().over(order_by=_R.completed_stamp.desc())
    missed = (
        sa.select(_R.id, _R.form_id, _R.answer_count, _R.completed_stamp, place.label("place"))
        .where(*_AFTER_EVENT)
        .subquery("missed")
    )
    rows = _delivery_rows(
        sa.func.substr(missed.c.id, 5),
        missed.c.answer_count,
        missed.c.completed_stamp,
        _NOW - missed.c.place,  # all are due; the oldest comes first
    ).where(_S.id == sa.bindparam("subscription"), _S.form_id == missed.c.form_id)
    added = insert_into(DELIVERIES).from_select(rows.selected_columns.keys(), rows)
    return added.on_conflict_do_update(
        index_elements=["subscription_id", "event_id"],
        set_={
            "state": DeliveryState.PENDING,
            "attempts": 0,
            "next_at": added.excluded.next_at,
            "settled_at": None,
        },
        where=DELIVERIES.c.state.not_in(UNSETTLED),
    )


POLL_MAX_EVENTS = 100  # on one page


class Polled(NamedTuple):
    """A page of events, oldest first.

    cursor     the cursor of the next poll; it comes after these events
    truncated  events after the given cursor were left out
    """

    events: list[dict[str, object]]
    cursor: str
    truncated: bool
    has_more: bool


def poll(
    account_id: str,
    form_id: str,
    cursor: str | None,
    *,
    max_age_ms: int | None,
    most: int,
    cursor_key: bytes,
    now: datetime,
) -> Polled:
    """Return the events completed after the cursor, at most `most` or POLL_MAX_EVENTS.

    Without a cursor, or with one of another form, polling begins now. As with deliveries, an event
    waits for its recordings to be transcribed, and later events wait with it.
    raises  NotFound
    """
    head = get_form(account_id, form_id).completed_stamp or 0
    position = None if cursor is None else read_cursor(cursor_key, form_id, cursor)
    if position is None:
        fresh = write_cursor(cursor_key, form_id, head)
        return Polled([], fresh, truncated=cursor is not None, has_more=False)
    moment, limit = to_millis(now), min(most, POLL_MAX_EVENTS)
    after = _bounded(position, max_age_ms, moment)
    found = read_rows(_FIRST, form=form_id, after=after, until=head, most=limit + 1)
    waits = (each.is_waiting and each.completed_stamp > moment - WORDS_MILLIS for each in found)
    stop = min(next((at for at, waiting in enumerate(waits) if waiting), len(found)), limit)
    kept = found[:stop]
    reached = kept[-1].completed_stamp if kept else position
    if len(found) == len(kept):
        reached = max(position, head)
    return Polled(
        [event(event_id_of(key), form_id, stamp, answers) for key, stamp, answers, _ in kept],
        write_cursor(cursor_key, form_id, reached),
        truncated=_any_between(form_id, position, after),
        has_more=len(found) > limit == stop,
    )


_FIRST = (
    sa.select(
        *(_R.id, _R.completed_stamp, _R.answer_count),
        _is_transcribing(_R.id).label("is_waiting"),
    )
    .where(*_AFTER_EVENT, _R.completed_stamp <= sa.bindparam("until", type_=sa.BigInteger))
    .order_by(_R.completed_stamp)
    .limit(sa.bindparam("most", type_=sa.Integer))
)
