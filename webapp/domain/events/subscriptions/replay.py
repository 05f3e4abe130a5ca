"""Completions that a subscription has missed, queued when it begins again."""

from datetime import datetime
from typing import cast

from sqlalchemy import BigInteger, Insert, Table, bindparam, exists, func, select

from webapp.database import built_once, execute, insert_into, to_millis
from webapp.domain.events.models import EventSubscription
from webapp.domain.events.outbox import DELIVERIES, FILLED, UNSETTLED, delivery_rows
from webapp.domain.responses.models import ResponseSession
from webapp.domain.shared.vocabulary import DeliveryState

REPLAY_MAX_EVENTS = 500  # our choice

_SESSIONS = cast(Table, ResponseSession.__table__)
_SUBSCRIPTIONS = cast(Table, EventSubscription.__table__)


def queue_missed(
    subscription_id: str,
    form_id: str,
    *,
    position: int,
    max_age_ms: int | None,
    now: datetime,
) -> bool:
    """Queue what was completed after a position, oldest first; what was settled waits again.

    At most the newest REPLAY_MAX_EVENTS, and none older than `max_age_ms`. True if anything
    was left out. The caller holds the row lock of the form, and commits.
    """
    oldest = 0 if max_age_ms is None else to_millis(now) - max_age_ms - 1
    after = max(position, oldest)
    left_out = execute(_LEFT_OUT, form=form_id, after=after).scalar_one_or_none()
    after = max(after, left_out or 0)
    execute(_queue(), subscription=subscription_id, form=form_id, after=after, now=to_millis(now))
    return any_between(form_id, position, after)


def any_between(form_id: str, since: int, until: int) -> bool:
    """Whether anything was completed after one position, and not after another."""
    return bool(execute(_ANY_BETWEEN, form=form_id, since=since, until=until).scalar_one())


_AFTER = (
    _SESSIONS.c.form_id == bindparam("form"),
    _SESSIONS.c.completed_stamp > bindparam("after", type_=BigInteger),
)
_LEFT_OUT = (
    select(_SESSIONS.c.completed_stamp)
    .where(*_AFTER)
    .order_by(_SESSIONS.c.completed_stamp.desc())
    .offset(REPLAY_MAX_EVENTS)
    .limit(1)
)
_ANY_BETWEEN = select(
    exists().where(
        _SESSIONS.c.form_id == bindparam("form"),
        _SESSIONS.c.completed_stamp > bindparam("since", type_=BigInteger),
        _SESSIONS.c.completed_stamp <= bindparam("until", type_=BigInteger),
    )
)


def _build_queue() -> Insert:
    missed = (
        select(
            _SESSIONS.c.id,
            _SESSIONS.c.form_id,
            _SESSIONS.c.answer_count,
            _SESSIONS.c.completed_stamp,
            func.row_number().over(order_by=_SESSIONS.c.completed_stamp.desc()).label("place"),
        )
        .where(*_AFTER)
        .subquery("missed")
    )
    rows = delivery_rows(
        func.substr(missed.c.id, 5),
        missed.c.answer_count,
        missed.c.completed_stamp,
        # all are due, the oldest for longest
        bindparam("now", type_=BigInteger) - missed.c.place,
    ).where(
        _SUBSCRIPTIONS.c.id == bindparam("subscription"),
        _SUBSCRIPTIONS.c.form_id == missed.c.form_id,
    )
    added = insert_into(DELIVERIES).from_select(FILLED, rows)
    return added.on_conflict_do_update(
        index_elements=["subscription_id", "event_id"],
        set_={
            "state": DeliveryState.PENDING,
            "attempts": 0,
            "next_at": added.excluded.next_at,
            "lease_until": None,
            "settled_at": None,
        },
        where=DELIVERIES.c.state.not_in(UNSETTLED),
    )


_queue = built_once(_build_queue)
