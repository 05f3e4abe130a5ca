"""The events of a form after a cursor, for those who ask for them; nothing of it is stored."""

from datetime import datetime
from typing import NamedTuple, cast

from sqlalchemy import BigInteger, Integer, Table, bindparam, select

from webapp.database import read_rows, to_millis
from webapp.domain.events.cursors import read_cursor, write_cursor
from webapp.domain.events.outbox import WORDS_MILLIS, is_transcribing
from webapp.domain.events.subscriptions.replay import any_between
from webapp.domain.forms.models import get_form
from webapp.domain.responses.models import ResponseSession

POLL_MAX_EVENTS = 100  # our choice: of a page


class PolledEvent(NamedTuple):
    """A completed response; `position` is the stamp of its completion.

    is_waiting  recordings of it are being written down
    """

    session_id: str
    position: int
    answer_count: int
    is_waiting: bool


class Polled(NamedTuple):
    """The next events, oldest first.

    cursor     what to ask with next: it lies behind these events
    truncated  something after the cursor that was sent is left out
    """

    events: list[PolledEvent]
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
    """What was completed after the cursor, at most `most` or POLL_MAX_EVENTS.

    Without a cursor, or with one that is not of this form, it begins now. As a delivery, an event
    waits for its recordings to be written down, and those after it with it.
    raises  NotFound
    """
    head = get_form(account_id, form_id).completed_stamp or 0
    position = None if cursor is None else read_cursor(cursor_key, form_id, cursor)
    if position is None:
        fresh = write_cursor(cursor_key, form_id, head)
        return Polled([], fresh, truncated=cursor is not None, has_more=False)
    moment, limit = to_millis(now), min(most, POLL_MAX_EVENTS)
    after = max(position, 0 if max_age_ms is None else moment - max_age_ms - 1)
    rows = read_rows(_AFTER, form=form_id, after=after, until=head, most=limit + 1)
    found = [PolledEvent(*row) for row in rows]
    young = moment - WORDS_MILLIS
    waiting = (at for at, each in enumerate(found) if each.is_waiting and each.position > young)
    stop = min(next(waiting, len(found)), limit)
    kept = found[:stop]
    reached = kept[-1].position if kept else position
    if len(found) == len(kept):
        reached = max(position, head)
    return Polled(
        kept,
        write_cursor(cursor_key, form_id, reached),
        truncated=after > position and any_between(form_id, position, after),
        has_more=len(found) > limit == stop,
    )


_SESSIONS = cast(Table, ResponseSession.__table__)
_AFTER = (
    select(
        _SESSIONS.c.id,
        _SESSIONS.c.completed_stamp,
        _SESSIONS.c.answer_count,
        is_transcribing(_SESSIONS.c.id),
    )
    .where(
        _SESSIONS.c.form_id == bindparam("form"),
        _SESSIONS.c.completed_stamp > bindparam("after", type_=BigInteger),
        _SESSIONS.c.completed_stamp <= bindparam("until", type_=BigInteger),
    )
    .order_by(_SESSIONS.c.completed_stamp)
    .limit(bindparam("most", type_=Integer))
)
