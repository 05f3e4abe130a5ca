"""Deletion, each restorable for a while: of forms and drafts, and of responses.

Deleted forms and discarded drafts are hidden at once, and purged later.

Responses that the creator deletes disappear from pages and files at once. They can be restored for
half a minute; then they are erased like withdrawn responses.

A deletion of responses is one row that names them, so scheduling or undoing it costs the same for
any number of them. Agents read the responses until the deletion is carried out: cursors pass them
like any others, so no agent misses a response whose deletion is undone.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import chain
from typing import Any, NamedTuple, cast

import sqlalchemy as sa

from webapp.answers.reading import no_response
from webapp.answers.session import LOCKED_COLUMNS, LockedSession, change_form
from webapp.base import database, ownership
from webapp.base.database import execute, from_millis, read_rows, write_transaction
from webapp.base.vocabulary import DraftStatus, FormStatus
from webapp.events.outbox import cancel_events
from webapp.records.audit import SYSTEM, Actor, AuditKind, add_event
from webapp.records.drafts import Draft, IdempotencyKey, open_draft, unpublished
from webapp.records.forms import Form, get_form, lock_form, no_form, owned_form
from webapp.records.responses import counters, models
from webapp.records.responses.recordings import Recording, claimed_bytes

DISCARDED_KEPT_SECONDS = 24 * 3600  # how long a discard can be undone
TRASH_KEPT_SECONDS = 30 * 24 * 3600  # how long a deleted form can be restored


class DeletedFormRow(NamedTuple):
    """A form in the trash, as the pages show it."""

    id: str
    title: str
    response_count: int
    answered_count: int
    deleted_at: datetime


def delete_form(account_id: str, form_id: str, *, now: datetime, by: Actor = SYSTEM) -> None:
    """Move the form and its draft to the trash. Raises NotFound."""
    form = owned_form(account_id, form_id)
    _mark_form(AuditKind.DELETED, account_id, form, now, now=now, by=by)


def restore_form(account_id: str, form_id: str, *, now: datetime, by: Actor = SYSTEM) -> None:
    """Restore the form as it was; raises NotFound if it is not in the trash."""
    form = sa.and_(Form.id == form_id, _in_trash(account_id, _oldest(now)))
    _mark_form(AuditKind.RESTORED, account_id, form, None, now=now, by=by)


def erase_form(account_id: str, form_id: str, *, now: datetime, by: Actor = SYSTEM) -> None:
    """Let the next purge delete a form; raises NotFound if it is not in the trash."""
    form = sa.and_(Form.id == form_id, _in_trash(account_id, _oldest(now)))
    _mark_form(AuditKind.ERASED, account_id, form, _oldest(now), now=now, by=by)


def list_deleted_forms(account_id: str, *, now: datetime) -> list[DeletedFormRow]:
    """Return the forms that the account can restore, most recently deleted first."""
    found = read_rows(_LIST, account=account_id, oldest=_oldest(now))
    return list(map(DeletedFormRow._make, found))


def find_deleted_form(account_id: str, form_id: str, *, now: datetime) -> DeletedFormRow | None:
    """Return a form that the account can restore; None if it cannot."""
    found = (each for each in list_deleted_forms(account_id, now=now) if each.id == form_id)
    return next(found, None)


def give_up_forms(account_id: str, *, now: datetime) -> None:
    """Let the next purge delete every form of the account. The caller commits."""
    for table in (Form, Draft):
        given_up = sa.update(table).where(table.account_id == account_id)
        for row in execute(given_up.values(deleted_at=_oldest(now)).returning(table.id)):
            database.note_change(row.id)


def purge_deleted(now: datetime) -> Iterator[int]:
    """Delete what can no longer be restored; may be abandoned: the next call continues."""
    while forms := read_rows(_EXPIRED, oldest=_oldest(now)):
        expired = sa.update(Form).where(Form.id == forms[0].id, Form.deleted_at <= _oldest(now))
        with write_transaction():
            database.note_change(forms[0].id)
            is_final = execute(expired.values(deleted_at=_LONG_AGO)).rowcount == 1
        if not is_final:  # restored meanwhile
            continue
        for table, theirs in ownership.rows_below(ownership.OF_FORM, forms[0].id):
            yield from ownership.delete_in_batches(table, theirs)
        yield _delete_rest(forms[0].id, forms[0].draft_id)


def _in_trash(
    account_id: str | sa.BindParameter[str], oldest: datetime | sa.BindParameter[datetime]
) -> sa.ColumnElement[bool]:
    return sa.and_(Form.account_id == account_id, Form.deleted_at > oldest)


_RESTORABLE = _in_trash(sa.bindparam("account"), sa.bindparam("oldest"))
_ROWS = sa.select(*(Form.__table__.c[name] for name in DeletedFormRow._fields)).where(_RESTORABLE)
_LIST = _ROWS.order_by(Form.deleted_at.desc(), Form.id)
_EXPIRED = (
    sa.select(Form.id, Form.draft_id)
    .where(Form.deleted_at <= sa.bindparam("oldest"))
    .order_by(Form.deleted_at)
    .limit(1)
)
_LONG_AGO = from_millis(0)  # so that no request that began before the purge restores the form


def _oldest(now: datetime) -> datetime:
    return now - timedelta(seconds=TRASH_KEPT_SECONDS)


def _mark_form(
    kind: AuditKind,
    account_id: str,
    which: sa.ColumnElement[bool],
    deleted_at: datetime | None,
    *,
    now: datetime,
    by: Actor,
) -> None:
    with write_transaction():
        changed = sa.update(Form).where(which).values(deleted_at=deleted_at)
        form = execute(changed.returning(Form.id, Form.draft_id)).one_or_none()
        if form is None:
            raise no_form()
        database.note_change(form.id)
        execute(sa.update(Draft).where(Draft.id == form.draft_id).values(deleted_at=deleted_at))
        add_event(kind, account_id, by=by, now=now, subject=form.id)


def _delete_rest(form_id: str, draft_id: str) -> int:
    """Delete the other rows, parents last; idempotency keys stay, so a repeat makes no draft."""
    rest = ownership.deletions(ownership.OF_FORM, form_id) + ownership.deletions(
        ownership.OF_DRAFT, draft_id
    )
    keys = sa.update(IdempotencyKey).where(IdempotencyKey.draft_id == draft_id)
    with write_transaction():
        execute(keys.values(draft_id=None))
        return sum(execute(each).rowcount for each in rest)


_EXPIRED_DRAFTS = (
    sa.select(Draft.id)
    .where(Draft.status == DraftStatus.DRAFT, Draft.deleted_at <= sa.bindparam("latest"))
    .limit(1)
)
_LOCKED = _EXPIRED_DRAFTS.where(Draft.id == sa.bindparam("draft_id")).with_for_update()


def discard_draft(account_id: str, draft_id: str, *, now: datetime, by: Actor = SYSTEM) -> None:
    """Discard one unpublished draft; raises NotFound, StateConflict `draft_already_published`."""
    if not discard_drafts(account_id, [draft_id], now=now, by=by):
        open_draft(account_id, draft_id)


def discard_drafts(
    account_id: str,
    draft_ids: Collection[str],
    *,
    now: datetime,
    note: str | None = None,
    by: Actor = SYSTEM,
) -> int:
    """Discard the drafts that exist and are unpublished; return their number.

    Their idempotency keys stay, so that a repeated request makes no draft.
    """
    which = sa.and_(unpublished(account_id), Draft.id.in_(draft_ids))
    discarded = sa.update(Draft).where(which).values(deleted_at=now, discard_note=note)
    return _change_drafts(AuditKind.DISCARDED, account_id, discarded, now, by)


def count_discarded(account_id: str, discarded_at: datetime, *, now: datetime) -> int:
    """Return how many drafts were discarded at that moment and can be restored."""
    query = sa.select(sa.func.count(Draft.id)).where(_restorable(account_id, discarded_at, now))
    return int(execute(query).scalar_one())


def restore(account_id: str, discarded_at: datetime, *, now: datetime, by: Actor = SYSTEM) -> int:
    """Undo the discard of that moment; return how many drafts are restored."""
    restored = sa.update(Draft).where(_restorable(account_id, discarded_at, now))
    kept = restored.values(deleted_at=None, discard_note=None)
    return _change_drafts(AuditKind.TAKEN_BACK, account_id, kept, now, by)


def purge_discarded(now: datetime) -> Iterator[int]:
    """Delete expired drafts, a short transaction for each."""
    latest = now - timedelta(seconds=DISCARDED_KEPT_SECONDS)
    while found := read_rows(_EXPIRED_DRAFTS, latest=latest):
        draft_id = found[0].id
        with write_transaction():
            # the draft may have been restored since it was read
            locked = execute(_LOCKED, latest=latest, draft_id=draft_id).first()
            for deletion in ownership.deletions(ownership.OF_DRAFT, draft_id) if locked else ():
                execute(deletion)
        yield int(locked is not None)


def _restorable(account_id: str, discarded_at: datetime, now: datetime) -> sa.ColumnElement[bool]:
    return sa.and_(
        Draft.account_id == account_id,
        Draft.status == DraftStatus.DRAFT,
        Draft.deleted_at == discarded_at,
        Draft.deleted_at > now - timedelta(seconds=DISCARDED_KEPT_SECONDS),
    )


def _change_drafts(
    kind: AuditKind, account_id: str, change: sa.Update, now: datetime, by: Actor
) -> int:
    with write_transaction():
        ids = execute(change.returning(Draft.id)).scalars().all()
        for draft_id in ids:
            add_event(kind, account_id, by=by, now=now, subject=draft_id)
    return len(ids)


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
    with write_transaction():
        get_form(account_id, form_id)
        # the lock orders this deletion and a concurrent withdrawal
        if execute(_HOLD, form_id=form_id, session_id=session_id).first() is None:
            raise no_response()
        if _schedule(form_id, session_id, 1, now):
            add_event(AuditKind.RESPONSE_DELETED, account_id, by=by, now=now, subject=form_id)


def delete_automated(account_id: str, form_id: str, *, now: datetime, by: Actor = SYSTEM) -> int:
    """Schedule the deletion of all responses that look automated; return their number.

    A response that changes before the deletion is carried out stays. Raises NotFound.
    """
    with write_transaction():
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
    with write_transaction():
        get_form(account_id, form_id)
        row = execute(_UNDO, deletion=deletion_id, form_id=form_id).one_or_none()
        if row is not None:
            add_event(AuditKind.RESPONSES_RESTORED, account_id, by=by, now=now, subject=form_id)
    return row


def count_automated(form_id: str) -> int:
    """Return how many responses of the form look automated, without deleted ones."""
    return int(read_rows(_COUNT_AUTOMATED, form_id=form_id)[0][0])


def has_automated(form_id: str) -> bool:
    """Return True if any response of the form looks automated, deleted ones aside."""
    return bool(read_rows(_ANY_AUTOMATED, form_id=form_id))


def list_deletions(form_id: str) -> list[ScheduledDeletion]:
    """Return the unfinished deletions of the form, newest first; at most LISTED_MOST."""
    found = read_rows(_UNFINISHED, form_id=form_id, most=LISTED_MOST)
    return list(map(ScheduledDeletion._make, found))


def purge_deleted_responses(now: datetime) -> Iterator[int]:
    """Carry out the deletions that can no longer be undone, in a short transaction per batch.

    Yields the number of responses in each batch. May be abandoned at any point, and run
    concurrently: the next call continues.
    """
    latest = database.to_millis(now - timedelta(seconds=RESPONSE_UNDO_SECONDS))
    while found := read_rows(_DUE, latest=latest):
        due = found[0]
        with write_transaction():
            is_final = execute(_BEGIN, deletion=due.id, now=now).rowcount == 1
        if is_final:  # neither undone nor carried out meanwhile
            while deleted := _delete_batch(due, now):
                yield deleted
            with write_transaction():
                execute(_END, deletion=due.id)


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
    return execute(added).first() is not None


@database.tried_again
def _delete_batch(due: sa.Row[*tuple[Any, ...]], now: datetime) -> int:
    which = {"form_id": due.form_id, "at": due.scheduled_at, "most": BATCH_SESSIONS}
    locking = _LOCK_AUTOMATED if due.session_id is None else _LOCK_ONE
    with write_transaction():
        locked = execute(locking, **which | {"session_id": due.session_id})
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
    gone = execute(recorded.returning(Recording.size, Recording.answer_id))
    size += claimed_bytes(gone)
    for deletion in ownership.deletions(ownership.OF_SESSION, *ids):
        execute(deletion)
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
    questions = execute(sa.select(Form.questions).where(Form.id == form_id)).scalar_one()
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
_UNFINISHED = (
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
