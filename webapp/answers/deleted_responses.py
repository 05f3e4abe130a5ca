"""Deletion of responses with everything that they hold.

Responses that the creator deletes disappear from pages and files at once. They can be restored for
half a minute; then they are erased like withdrawn responses.

A deletion is one row that names its responses, so scheduling or undoing it costs the same for any
number of them. Agents read the responses until the deletion is carried out: cursors pass them like
any others, so no agent misses a response whose deletion is undone.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import chain
from typing import Any, NamedTuple, cast

import sqlalchemy as sa

from webapp.answers.reading import no_response
from webapp.answers.session import LOCKED_COLUMNS, LockedSession, change_form
from webapp.base import database
from webapp.base.ownership import OF_SESSION, deletions
from webapp.base.vocabulary import FormStatus
from webapp.events.outbox import cancel_events
from webapp.records.audit import SYSTEM, Actor, AuditKind, add_event
from webapp.records.forms import Form, get_form, lock_form
from webapp.records.responses import counters, models
from webapp.records.responses.recordings import Recording, claimed_bytes

RESPONSE_UNDO_SECONDS = 30  # how long deleting a response can be undone
BATCH_SESSIONS = 50  # per transaction: others wait for the writer lock of SQLite
LISTED_MOST = 5


class ScheduledDeletion(NamedTuple):
    """A deletion as the pages of its form show it."""

    id: str
    session_id: str | None
    responder_name: str | None
    response_count: int
    begun: bool


def delete_response(
    account_id: str, form_id: str, session_id: str, *, now: datetime, by: Actor = SYSTEM
) -> None:
    """Schedule the deletion of one response, unless it is scheduled already."""
    with database.write_transaction():
        get_form(account_id, form_id)
        # the lock orders this deletion and a concurrent withdrawal
        if database.execute(_HOLD, form_id=form_id, session_id=session_id).first() is None:
            raise no_response()
        if _schedule(form_id, session_id, 1, now):
            add_event(AuditKind.RESPONSE_DELETED, account_id, by=by, now=now, subject=form_id)


def delete_automated(account_id: str, form_id: str, *, now: datetime, by: Actor = SYSTEM) -> int:
    """Schedule the deletion of all responses that look automated; return their number.

    A response that changes before the deletion is carried out stays. Raises NotFound.
    """
    with database.write_transaction():
        lock_form(account_id, form_id)  # of two concurrent calls, the second finds none
        count = count_automated(form_id)
        if count:
            _schedule(form_id, None, count, now)
            add_event(AuditKind.AUTOMATED_DELETED, account_id, by=by, now=now, subject=form_id)
    return count


def undo_deletion(
    account_id: str, form_id: str, deletion_id: str, *, now: datetime, by: Actor = SYSTEM
) -> sa.Row[*tuple[Any, ...]] | None:
    """Undo a deletion that has not begun, and return its row. Raises NotFound for the form."""
    with database.write_transaction():
        get_form(account_id, form_id)
        row = database.execute(_UNDO, deletion=deletion_id, form_id=form_id).one_or_none()
        if row is not None:
            add_event(AuditKind.RESPONSES_RESTORED, account_id, by=by, now=now, subject=form_id)
    return row


def count_automated(form_id: str) -> int:
    """Return how many responses of the form look automated, without deleted ones."""
    return int(database.read_rows(_COUNT_AUTOMATED, form_id=form_id)[0][0])


def has_automated(form_id: str) -> bool:
    """Return True if any response of the form looks automated, deleted ones aside."""
    return bool(database.read_rows(_ANY_AUTOMATED, form_id=form_id))


def list_deletions(form_id: str) -> list[ScheduledDeletion]:
    """Return the unfinished deletions of the form, newest first; at most LISTED_MOST."""
    found = database.read_rows(_LIST, form_id=form_id, most=LISTED_MOST)
    return list(map(ScheduledDeletion._make, found))


def purge_deleted_responses(now: datetime) -> Iterator[int]:
    """Carry out the deletions that can no longer be undone, in a short transaction per batch.

    Yields the number of responses in each batch. May be abandoned at any point, and run
    concurrently: the next call continues.
    """
    latest = database.to_millis(now - timedelta(seconds=RESPONSE_UNDO_SECONDS))
    while found := database.read_rows(_DUE, latest=latest):
        due = found[0]
        with database.write_transaction():
            is_final = database.execute(_BEGIN, deletion=due.id, now=now).rowcount == 1
        if is_final:  # neither undone nor carried out meanwhile
            while deleted := _delete_batch(due, now):
                yield deleted
            with database.write_transaction():
                database.execute(_END, deletion=due.id)


def _schedule(form_id: str, session_id: str | None, count: int, now: datetime) -> bool:
    """Add a deletion; return False if the response has one already. The caller commits."""
    values = {
        "id": database.new_id("rdl"),
        "form_id": form_id,
        "session_id": session_id,
        "response_count": count,
        "scheduled_at": now,
    }
    added = (
        database.insert_into(_DELETIONS).values(values).on_conflict_do_nothing().returning(_D.id)
    )
    return database.execute(added).first() is not None


@database.tried_again
def _delete_batch(due: sa.Row[*tuple[Any, ...]], now: datetime) -> int:
    which = {"form_id": due.form_id, "at": due.scheduled_at, "most": BATCH_SESSIONS}
    locking = _LOCK_AUTOMATED if due.session_id is None else _LOCK_ONE
    with database.write_transaction():
        locked = database.execute(locking, **which | {"session_id": due.session_id})
        sessions = [LockedSession._make(row) for row in locked]
        if sessions:
            delete_sessions(due.form_id, sessions, now=now)
    return len(sessions)


def delete_sessions(form_id: str, sessions: Sequence[LockedSession], *, now: datetime) -> None:
    """Delete sessions of one form with all they hold, and lower its counters. The caller commits.

    The caller must have locked their rows, and no other row. A completed form with `response_limit`
    one takes answers again. No stamp is taken. Unsent events of the sessions are cancelled.
    """
    ids = [each.session_id for each in sessions]
    reached, size = _reached(form_id, sessions), models.stored_bytes(ids)
    of_sessions = Recording.key_hash.in_(each.key_hash for each in sessions)
    recorded = sa.delete(Recording).where(of_sessions)
    gone = database.execute(recorded.returning(Recording.size, Recording.answer_id))
    size += claimed_bytes(gone)
    for deletion in deletions(OF_SESSION, *ids):
        database.execute(deletion)
    completed = {
        each.session_id: each.completed_stamp
        for each in sessions
        if each.completed_stamp is not None
    }
    answered = sum(each.completed_stamp is not None or bool(each.answered) for each in sessions)
    changes: dict[str, object] = {
        "started_count": Form.started_count - len(sessions),
        "answer_bytes": Form.answer_bytes - size,
        "answered_count": Form.answered_count - answered,
    }
    if completed:
        changes |= _UNCOMPLETED | {"response_count": Form.response_count - len(completed)}
    change_form(form_id, changes)
    days = Counter(stamp // counters.DAY_MILLIS for stamp in completed.values())
    connection = database.db.session.connection()
    for day, number in sorted(days.items()):
        counters.count_completion(connection, form_id, day * counters.DAY_MILLIS, change=-number)
    counters.count_questions(form_id, reached)
    if completed:
        cancel_events(completed, now=now)


def _reached(form_id: str, sessions: Sequence[LockedSession]) -> dict[str, counters.QuestionCounts]:
    questions = database.execute(sa.select(Form.questions).where(Form.id == form_id)).scalar_one()
    answered = Counter(chain.from_iterable(each.answered for each in sessions))
    skipped = Counter(chain.from_iterable({*each.skipped} for each in sessions))
    return {
        each["id"]: counters.QuestionCounts(-answered[each["id"]], -skipped[each["id"]])
        for each in questions
    }


_D, _S = models.ResponseDeletion, models.ResponseSession
_DELETIONS = cast(sa.Table, _D.__table__)
_OF_FORM = _S.form_id == sa.bindparam("form_id")
_HOLD = (
    sa.select(_S.id)
    .where(_S.id == sa.bindparam("session_id"), _OF_FORM)
    .with_for_update(read=True, key_share=True)
)
_AUTOMATED = (_OF_FORM, models.LOOKS_AUTOMATED, models.IS_SHOWN)
_COUNT_AUTOMATED = sa.select(sa.func.count()).where(*_AUTOMATED)
_ANY_AUTOMATED = sa.select(_S.id).where(*_AUTOMATED).limit(1)
_LIST = (
    sa.select(
        _D.id,
        _D.session_id,
        _S.responder_name,
        _D.response_count,
        _D.begun_at.is_not(None).label("begun"),
    )
    .outerjoin(_S, _S.id == _D.session_id)
    .where(_D.form_id == sa.bindparam("form_id"))
    .order_by(_D.scheduled_at.desc(), _D.id.desc())
    .limit(sa.bindparam("most"))
)
_THIS = _D.id == sa.bindparam("deletion")
_SCHEDULED_AT = sa.type_coerce(_D.scheduled_at, sa.BigInteger)
_UNDO = (
    sa.delete(_DELETIONS)
    .where(_THIS, _D.form_id == sa.bindparam("form_id"), _D.begun_at.is_(None))
    .returning(_D.session_id, _D.response_count)
)
_DUE = (
    sa.select(_D.id, _D.form_id, _D.session_id, _SCHEDULED_AT.label("scheduled_at"))
    .where(sa.bindparam("latest") >= _SCHEDULED_AT)
    .order_by(_D.scheduled_at)
    .limit(1)
)
_BEGUN = sa.func.coalesce(_D.begun_at, sa.bindparam("now", type_=_DELETIONS.c.begun_at.type))
_BEGIN = sa.update(_DELETIONS).where(_THIS).values(begun_at=_BEGUN)
_END = sa.delete(_DELETIONS).where(_THIS)
_LEAVING = sa.select(*LOCKED_COLUMNS).with_for_update(of=_S)
_LOCK_ONE = _LEAVING.where(_S.id == sa.bindparam("session_id"))
# by id, so that concurrent calls lock in the same order
_LOCK_AUTOMATED = (
    _LEAVING.where(
        _OF_FORM,
        models.LOOKS_AUTOMATED,
        sa.type_coerce(_S.last_active_at, sa.BigInteger) <= sa.bindparam("at"),
    )
    .order_by(_S.id)
    .limit(sa.bindparam("most"))
)
_UNCOMPLETED: dict[str, object] = {
    "completed_stamp": sa.select(sa.func.max(_S.completed_stamp))
    .where(_S.form_id == Form.id)
    .scalar_subquery(),
    "status": sa.case(
        (Form.status == FormStatus.COMPLETED, FormStatus.PUBLISHED.value),
        else_=sa.type_coerce(Form.status, sa.String),
    ),
}
