"""Read the answers and completions of a form that came after a cursor, which is a stamp.

Every answer and every completion of a form has a unique stamp (milliseconds), taken under the
lock of the form's row, so that within a form the order of stamps is the order of commits.
"""

import re
from collections import namedtuple
from datetime import datetime, timedelta
from typing import Any, NamedTuple, TypeAlias

import orjson
import sqlalchemy as sa

from webapp.base.database import on_sqlite, read_rows
from webapp.base.errors import ErrorCode, InvalidInput, sent, wrong_field
from webapp.records.responses import models
from webapp.records.responses.models import ANSWER_COLUMNS, SESSION_COLUMNS, Answer, ResponseSession
from webapp.records.responses.recordings import attachments_of

PAGE_MAX_ITEMS = 200  # answers and completions in one result page
PAGE_MAX_BYTES = 512 * 1024  # a page fits into an agent's context
NOW = sa.bindparam("now", type_=sa.BigInteger)


_RFC_3339 = re.compile(
    r"(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d):([0-5]\d|60)(?:\.(\d+))?(?:[Zz]|([+ -])(\d\d):([0-5]\d))",
    re.ASCII,
)
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 (arithmetic on naive moments cannot overflow)
_SECOND = timedelta(seconds=1)
_FIRST_SECOND = (datetime.min - _EPOCH) // _SECOND  # noqa: DTZ901
_LAST_SECOND = (datetime.max - _EPOCH) // _SECOND  # noqa: DTZ901


def parse_since(text: str | None, field: str = "since") -> int | None:
    """Return the whole milliseconds since the epoch of an RFC 3339 date-time; None for None.

    Accepts a space for `+`, because form decoding replaces it. An offset that leads out of the
    years 1 to 9999 gives the nearest moment inside. raises InvalidInput `invalid_since`, whose
    message begins with `field`
    """
    if text is None:
        return None
    found = _RFC_3339.fullmatch(text)
    if found is None:
        raise _invalid(text, field)
    day, minute, second, fraction, sign, hours, minutes = found.groups()
    try:
        moment = datetime.fromisoformat(f"{day}T{minute}:00")
    except ValueError:
        raise _invalid(text, field) from None
    if hours is not None and int(hours) > 23:
        raise _invalid(text, field)
    offset = (int(hours or 0) * 60 + int(minutes or 0)) * (-60 if sign == "-" else 60)
    seconds = (moment - _EPOCH) // _SECOND + int(second) - offset
    kept = min(max(seconds, _FIRST_SECOND), _LAST_SECOND)
    return kept * 1000 + int((fraction or "0")[:3].ljust(3, "0"))


def _invalid(text: str, field: str) -> InvalidInput:
    problem = f"is {sent(text)}; an RFC 3339 date-time with an offset is needed"
    remedy = (
        "Send the nextSince of an earlier result unchanged, as 2026-11-21T10:40:00.123Z; "
        "leave since out as long as nextSince is null."
    )
    return wrong_field(field, problem, remedy, ErrorCode.INVALID_SINCE)


class ResponsePage(NamedTuple):
    """The responses after a cursor; `next_since` is the next cursor, in milliseconds."""

    sessions: list[models.SessionAnswers]
    answer_count: int
    next_since: int | None
    truncated: bool


def next_stamp(last_stamp: sa.ColumnElement[int]) -> sa.ColumnElement[int]:
    """Return `:now` in milliseconds, or the form's newest stamp plus 1 if that is later.

    The UPDATE of the form's row takes the stamp. Its lock gives stamps the order of commits, even
    when a clock is set back.
    """
    return sa.case((last_stamp < NOW, NOW), else_=last_stamp + 1)


def read_responses(
    form: Any,
    since: int | None,
    *,
    max_items: int = PAGE_MAX_ITEMS,
    max_bytes: int = PAGE_MAX_BYTES,
) -> ResponsePage:
    """Return the answers stamped and the sessions completed after `since`, oldest first.

    form        a row with its `id` and `last_stamp`, which ends the page: what is committed during
                the read comes on a later page and is not skipped
    """
    if since is not None and since >= form.last_stamp:
        return ResponsePage([], 0, since, truncated=False)
    items = _read_items(form.id, since or 0, form.last_stamp, max_items + 1)
    items.sort(key=lambda item: item.stamp)
    kept = items[: _fitting(items, max_items, max_bytes)]
    return ResponsePage(
        _by_session(kept),
        sum(item.id is not None for item in kept),
        kept[-1].stamp if kept else since,
        truncated=len(kept) < len(items),
    )


def has_answer_after(form: Any, since: int | None) -> bool:
    """Return True if a current answer was stamped after `since` (milliseconds)."""
    if since is not None and since >= form.last_stamp:
        return False
    values = {"form_id": form.id, "since": since or 0, "until": form.last_stamp}
    return bool(read_rows(_NEXT_ANSWER, **values))


_Item: TypeAlias = Any  # a row of an answer, or of a completion (its `id` is None), and its session
_SESSION = len(ANSWER_COLUMNS)  # index of the first column of the session in an item


def _between(stamp: Any) -> sa.ColumnElement[bool]:
    return sa.and_(stamp > sa.bindparam("since"), stamp <= sa.bindparam("until"))


_IS_NEW_ANSWER = sa.and_(
    Answer.form_id == sa.bindparam("form_id"), _between(Answer.stamp), Answer.superseded.is_(False)
)
_NEXT_ANSWER = sa.select(Answer.stamp).where(_IS_NEW_ANSWER).order_by(Answer.stamp).limit(1)
_ANSWERS_AFTER = (
    sa.select(*ANSWER_COLUMNS, *SESSION_COLUMNS)
    .join(ResponseSession, ResponseSession.id == Answer.session_id)
    .where(_IS_NEW_ANSWER)
)
_NO_ANSWER = (
    ResponseSession.completed_stamp.label("stamp")
    if column.key == "stamp"
    else sa.cast(sa.null(), column.type).label(column.key)
    for column in ANSWER_COLUMNS
)
_COMPLETIONS_AFTER = sa.select(*_NO_ANSWER, *SESSION_COLUMNS).where(
    ResponseSession.form_id == sa.bindparam("form_id"), _between(ResponseSession.completed_stamp)
)


def _first(items: sa.GenerativeSelect) -> sa.Select[*tuple[object, ...]]:
    return sa.select(*items.order_by("stamp").limit(sa.bindparam("most")).subquery().c)


# One statement, because a round trip to PostgreSQL takes longer than the query. Both databases
# merge two indexes and stop at the limit, PostgreSQL only if each part has its own.
_ITEMS_AFTER = _first(sa.union_all(_first(_ANSWERS_AFTER), _first(_COMPLETIONS_AFTER)))
_ITEMS_IN_ONE_ROW = sa.select(
    sa.func.json_group_array(
        sa.func.json_array(*_first(sa.union_all(_ANSWERS_AFTER, _COMPLETIONS_AFTER)).subquery().c)
    )
)
_COLUMNS = [str(each.key) for each in (*ANSWER_COLUMNS, *SESSION_COLUMNS)]
_ItemOfJson = namedtuple("_ItemOfJson", _COLUMNS, rename=True)  # type: ignore[misc] # noqa: PYI024


def _read_items(form_id: str, since: int, until: int, most: int) -> list[_Item]:
    """Return at most `most` answers and completions.

    SQLite returns them in one row, because its driver releases the interpreter lock for each row
    and waits to take it again: with sixteen clients, it reads ten answers 1.3 times as fast.
    """
    values = {"form_id": form_id, "since": since, "until": until, "most": most}
    if not on_sqlite():
        return [*read_rows(_ITEMS_AFTER, **values)]
    ((items,),) = read_rows(_ITEMS_IN_ONE_ROW, **values)
    return list(map(_ItemOfJson._make, orjson.loads(items)))


def _fitting(items: list[_Item], max_items: int, max_bytes: int) -> int:
    room = max_bytes
    for position, item in enumerate(items[:max_items]):
        room -= 300 + (models.count_bytes(item.question_text, item.answer_text) if item.id else 0)
        if room < 0 and position:
            return position
    return max_items


def _by_session(items: list[_Item]) -> list[models.SessionAnswers]:
    attachments = attachments_of(items)
    sessions: dict[object, models.SessionAnswers] = {}
    for item in items:
        entry = sessions.get(item[_SESSION])
        if entry is None:
            session = models.SessionRow._make(item[_SESSION:])
            entry = sessions[session.id] = models.SessionAnswers(session, attachments=attachments)
        if item.id:
            entry.answers.append(models.AnswerRow._make(item[:_SESSION]))
    return list(sessions.values())
