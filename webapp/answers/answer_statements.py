"""SQL statements that write answers, completions and their sessions.

All are built once and take times in milliseconds. Locks are taken in a fixed order: session,
recordings, form, counters.
"""

from functools import cache
from typing import cast

import sqlalchemy as sa

from webapp.base.database import built_once, insert_into
from webapp.base.vocabulary import FormStatus, ResponseLimit, SessionStatus, TranscriptState
from webapp.events.outbox import has_subscriptions
from webapp.records.forms import Form
from webapp.records.responses.counters import question_count_upsert
from webapp.records.responses.cursor import NOW, next_stamp
from webapp.records.responses.models import Answer, ResponseSession
from webapp.records.responses.recordings import Recording

_FORMS = cast(sa.Table, Form.__table__)
_SESSIONS = cast(sa.Table, ResponseSession.__table__)
_ANSWERS = cast(sa.Table, Answer.__table__)
_RECORDINGS = cast(sa.Table, Recording.__table__)
_SUSPECT = sa.or_(_SESSIONS.c.suspect, sa.bindparam("suspect", type_=sa.Boolean))
_AS_SEEN = (
    _SESSIONS.c.id == sa.bindparam("session_id"),
    _SESSIONS.c.status == SessionStatus.IN_PROGRESS,
    _SESSIONS.c.last_active_at == sa.bindparam("seen", type_=sa.BigInteger),
)
_KEY_UNUSED = ~sa.exists().where(
    _ANSWERS.c.session_id == sa.bindparam("session_id"),
    _ANSWERS.c.answer_key == sa.bindparam("answer_key"),
)
_HOLD = sa.select(_SESSIONS.c.id).where(*_AS_SEEN, _KEY_UNUSED).with_for_update()
TOUCH = (
    sa.update(_SESSIONS)
    .where(*_AS_SEEN)
    .values(
        skipped=sa.bindparam("skipped"),
        answered=sa.bindparam("answered"),
        answer_count=sa.bindparam("answer_count"),
        suspect=_SUSPECT,
        last_active_at=sa.bindparam("active", type_=sa.BigInteger),
    )
)
TOUCH_BY_NEW_KEY = TOUCH.where(_KEY_UNUSED)
_STAMP_OF_ANY = (
    sa.update(_FORMS)
    .where(_FORMS.c.id == sa.bindparam("form_id"), _FORMS.c.deleted_at.is_(None))
    .values(last_stamp=next_stamp(_FORMS.c.last_stamp))
    .returning(_FORMS.c.last_stamp)
)
_STAMP = _STAMP_OF_ANY.where(_FORMS.c.status == FormStatus.PUBLISHED)
_COUNTED = _STAMP.values(
    answered_count=_FORMS.c.answered_count + sa.bindparam("first"),
    started_count=_FORMS.c.started_count + sa.bindparam("started"),
)
_MOST_BYTES = sa.bindparam("most_bytes", type_=sa.BigInteger)
_FILLED = _FORMS.c.answer_bytes + sa.bindparam("bytes")
STAMP_ANSWER = _COUNTED.where(_FILLED <= _MOST_BYTES).values(answer_bytes=_FILLED)
# whatever the status of the form
STAMP_LATE_ANSWER = _STAMP_OF_ANY.where(_FILLED <= _MOST_BYTES).values(answer_bytes=_FILLED)
STAMP_COMPLETION = _STAMP.values(
    completed_stamp=next_stamp(_FORMS.c.last_stamp),
    response_count=_FORMS.c.response_count + 1,
    status=sa.case(
        (_FORMS.c.response_limit == ResponseLimit.ONE, FormStatus.COMPLETED.value),
        else_=FormStatus.PUBLISHED.value,
    ),
)
COMPLETE = (
    sa.update(_SESSIONS)
    .where(_SESSIONS.c.id == sa.bindparam("session_id"))
    .values(
        status=SessionStatus.COMPLETED,
        completed_stamp=sa.bindparam("stamp"),
        responder_name=sa.bindparam("name"),
        suspect=_SUSPECT,
        last_active_at=NOW,
    )
    # the form is locked by now: a subscription that is stored at this moment waits for it
    .returning(has_subscriptions(sa.bindparam("form"), NOW))
)
SUPERSEDE = (
    sa.update(_ANSWERS).where(_ANSWERS.c.id == sa.bindparam("earlier")).values(superseded=sa.true())
)
_GIVEN = [each.name for each in _ANSWERS.c if each.name not in {"superseded", "stamp"}]
RECORDINGS_OF_QUESTION = (
    _RECORDINGS.c.key_hash == sa.bindparam("key_hash"),
    _RECORDINGS.c.form_id == sa.bindparam("form_id"),
    _RECORDINGS.c.question_id == sa.bindparam("question_id"),
)


def _claimable(recordings: sa.FromClause) -> sa.ColumnElement[bool]:
    columns = recordings.c
    free = sa.or_(columns.answer_id.is_(None), columns.answer_id == sa.bindparam("earlier"))
    return sa.and_(columns.id == sa.bindparam("recording"), free)


_IS_WAITING = _RECORDINGS.c.transcript_state == TranscriptState.WAITING
_BEGINS = sa.and_(_IS_WAITING, _RECORDINGS.c.answer_id.is_(None))
_BEGINS_ANEW = sa.and_(_BEGINS, _RECORDINGS.c.lease_until.is_(None))
_CLAIM = sa.update(_RECORDINGS).values(
    answer_id=sa.bindparam("id"),
    session_id=sa.bindparam("session_id"),
    # transcription is due now, with all attempts left unless one is under way
    next_at=sa.case((_BEGINS, NOW), else_=_RECORDINGS.c.next_at),
    attempts=sa.case((_BEGINS_ANEW, sa.literal_column("0")), else_=_RECORDINGS.c.attempts),
    address_hash=sa.case((_IS_WAITING, _RECORDINGS.c.address_hash)),  # whose minutes are used
)
CLAIM_RECORDING = _CLAIM.where(*RECORDINGS_OF_QUESTION, _claimable(_RECORDINGS))
DELETE_RECORDINGS = sa.delete(_RECORDINGS).where(*RECORDINGS_OF_QUESTION)
TAKE_BACK = DELETE_RECORDINGS.returning(_RECORDINGS.c.size, _RECORDINGS.c.answer_id)
_IS_OURS = _RECORDINGS.c.id == sa.bindparam("recording")
DELETE_OTHER_RECORDINGS = DELETE_RECORDINGS.where(~_IS_OURS)


def _recorded(recordings: sa.FromClause) -> sa.ColumnElement[int]:
    """Return the bytes of the recording to claim, less those of the claimed one it replaces."""
    columns = recordings.c
    is_ours, is_claimed = columns.id == sa.bindparam("recording"), columns.answer_id.is_not(None)
    change = sa.cast(is_ours, sa.Integer) - sa.cast(is_claimed, sa.Integer)
    return sa.func.coalesce(sa.func.sum(columns.size * change), sa.literal_column("0"))


RECORDED = sa.select(_recorded(_RECORDINGS)).where(*RECORDINGS_OF_QUESTION)


def _session_insert() -> sa.Insert:
    """Build the INSERT of a session; it inserts nothing if the key has one."""
    columns = _SESSIONS.c
    given = ("form_id", "key_hash", "skipped", "answered", "answer_count", "suspect")
    return (
        insert_into(_SESSIONS)
        .values(
            {name: sa.bindparam(name, type_=columns[name].type) for name in given}
            | {
                "id": sa.bindparam("session_id"),
                "status": SessionStatus.IN_PROGRESS,
                "created_at": NOW,
                "last_active_at": sa.bindparam("active", type_=sa.BigInteger),
            }
        )
        .on_conflict_do_nothing()
    )


insert_session = built_once(_session_insert)


def _insert_answer(stamp: sa.ColumnElement[int], *sources: sa.FromClause) -> sa.Insert:
    given = [sa.bindparam(name, type_=_ANSWERS.c[name].type) for name in _GIVEN]
    row = sa.select(*given, sa.false(), stamp).select_from(*sources)
    return sa.insert(_ANSWERS).from_select([*_GIVEN, "superseded", "stamp"], row)


ADD_ANSWER = _insert_answer(sa.bindparam("stamp", type_=sa.BigInteger))


def _held(opened: sa.FromClause) -> sa.FromClause:
    return (
        sa.select(_RECORDINGS.c.id, _RECORDINGS.c.answer_id, _RECORDINGS.c.size)
        .join(opened, sa.true())
        .where(*RECORDINGS_OF_QUESTION)
        .with_for_update(of=_RECORDINGS)
        .cte("h")
    )


def _heard(held: sa.FromClause) -> sa.FromClause:
    found = sa.func.count().filter(_claimable(held))
    return sa.select(found.label("found"), _recorded(held).label("bytes")).cte("s")


@cache
def answer_in_one_statement(*, begins: bool, recordings: bool) -> sa.Insert:
    """Build all parts as one PostgreSQL statement, ordered by data dependency.

    It returns no row if the session has changed. There is no stamp if the form takes no answers or
    the recording cannot be claimed: then no later part writes, and NOT NULL rolls back an inserted
    session. Names are short because psycopg caches no statement longer than 4 KiB.
    """
    # not the statement that is kept: once prepared, it takes no further columns
    opened = (_session_insert().returning(_SESSIONS.c.id) if begins else _HOLD).cte("o")
    stamp = STAMP_ANSWER
    if recordings:
        held = _held(opened)
        heard = _heard(held)
        filled = _FILLED + heard.c.bytes
        stamp = _COUNTED.where(heard.c.found == sa.bindparam("claims"), filled <= _MOST_BYTES)
        stamp = stamp.values(answer_bytes=filled)
    stamped = stamp.where(opened.c.id.is_not(None)).cte("t")
    taken = stamped.c.last_stamp.is_not(None)
    source = opened.outerjoin(stamped, sa.true()) if begins else stamped
    changes: list[sa.Insert | sa.Update | sa.Delete] = (
        [] if begins else [TOUCH.where(taken), SUPERSEDE.where(taken)]
    )
    if recordings:
        others = sa.delete(_RECORDINGS).where(_RECORDINGS.c.id == held.c.id, ~_IS_OURS, taken)
        changes += [_CLAIM.where(_IS_OURS, taken), others]
    changes.append(question_count_upsert(taken))
    parts = (change.cte(f"part_{number}") for number, change in enumerate(changes))
    return _insert_answer(stamped.c.last_stamp, source).add_cte(*parts).returning(_ANSWERS.c.stamp)
