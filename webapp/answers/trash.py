"""Deleted forms and discarded drafts: hidden at once, restorable for a while, then purged."""

from collections.abc import Collection, Iterator
from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy import BindParameter, ColumnElement, Update, and_, bindparam, func, select, update

from webapp.base.database import execute, from_millis, note_change, read_rows, write_transaction
from webapp.base.ownership import OF_DRAFT, OF_FORM, delete_in_batches, deletions, rows_below
from webapp.base.vocabulary import DraftStatus
from webapp.records.audit import SYSTEM, Actor, AuditKind, add_event
from webapp.records.drafts import Draft, IdempotencyKey, open_draft, unpublished
from webapp.records.forms import Form, no_form, owned_form

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
    form = and_(Form.id == form_id, _in_trash(account_id, _oldest(now)))
    _mark_form(AuditKind.RESTORED, account_id, form, None, now=now, by=by)


def erase_form(account_id: str, form_id: str, *, now: datetime, by: Actor = SYSTEM) -> None:
    """Let the next purge delete a form; raises NotFound if it is not in the trash."""
    form = and_(Form.id == form_id, _in_trash(account_id, _oldest(now)))
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
        given_up = update(table).where(table.account_id == account_id)
        for row in execute(given_up.values(deleted_at=_oldest(now)).returning(table.id)):
            note_change(row.id)


def purge_deleted(now: datetime) -> Iterator[int]:
    """Delete what can no longer be restored; may be abandoned: the next call continues."""
    while forms := read_rows(_EXPIRED, oldest=_oldest(now)):
        expired = update(Form).where(Form.id == forms[0].id, Form.deleted_at <= _oldest(now))
        with write_transaction():
            note_change(forms[0].id)
            is_final = execute(expired.values(deleted_at=_LONG_AGO)).rowcount == 1
        if not is_final:  # restored meanwhile
            continue
        for table, theirs in rows_below(OF_FORM, forms[0].id):
            yield from delete_in_batches(table, theirs)
        yield _delete_rest(forms[0].id, forms[0].draft_id)


def _in_trash(
    account_id: str | BindParameter[str], oldest: datetime | BindParameter[datetime]
) -> ColumnElement[bool]:
    return and_(Form.account_id == account_id, Form.deleted_at > oldest)


_RESTORABLE = _in_trash(bindparam("account"), bindparam("oldest"))
_ROWS = select(*(Form.__table__.c[name] for name in DeletedFormRow._fields)).where(_RESTORABLE)
_LIST = _ROWS.order_by(Form.deleted_at.desc(), Form.id)
_EXPIRED = (
    select(Form.id, Form.draft_id)
    .where(Form.deleted_at <= bindparam("oldest"))
    .order_by(Form.deleted_at)
    .limit(1)
)
_LONG_AGO = from_millis(0)  # so that no request that began before the purge restores the form


def _oldest(now: datetime) -> datetime:
    return now - timedelta(seconds=TRASH_KEPT_SECONDS)


def _mark_form(
    kind: AuditKind,
    account_id: str,
    which: ColumnElement[bool],
    deleted_at: datetime | None,
    *,
    now: datetime,
    by: Actor,
) -> None:
    with write_transaction():
        changed = update(Form).where(which).values(deleted_at=deleted_at)
        form = execute(changed.returning(Form.id, Form.draft_id)).one_or_none()
        if form is None:
            raise no_form()
        note_change(form.id)
        execute(update(Draft).where(Draft.id == form.draft_id).values(deleted_at=deleted_at))
        add_event(kind, account_id, by=by, now=now, subject=form.id)


def _delete_rest(form_id: str, draft_id: str) -> int:
    """Delete the other rows, parents last; idempotency keys stay, so a repeat makes no draft."""
    rest = deletions(OF_FORM, form_id) + deletions(OF_DRAFT, draft_id)
    keys = update(IdempotencyKey).where(IdempotencyKey.draft_id == draft_id)
    with write_transaction():
        execute(keys.values(draft_id=None))
        return sum(execute(each).rowcount for each in rest)


_EXPIRED_DRAFTS = (
    select(Draft.id)
    .where(Draft.status == DraftStatus.DRAFT, Draft.deleted_at <= bindparam("latest"))
    .limit(1)
)
_LOCKED = _EXPIRED_DRAFTS.where(Draft.id == bindparam("draft_id")).with_for_update()


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
    which = and_(unpublished(account_id), Draft.id.in_(draft_ids))
    discarded = update(Draft).where(which).values(deleted_at=now, discard_note=note)
    return _change_drafts(AuditKind.DISCARDED, account_id, discarded, now, by)


def count_discarded(account_id: str, discarded_at: datetime, *, now: datetime) -> int:
    """Return how many drafts were discarded at that moment and can be restored."""
    query = select(func.count(Draft.id)).where(_restorable(account_id, discarded_at, now))
    return int(execute(query).scalar_one())


def restore(account_id: str, discarded_at: datetime, *, now: datetime, by: Actor = SYSTEM) -> int:
    """Undo the discard of that moment; return how many drafts are restored."""
    restored = update(Draft).where(_restorable(account_id, discarded_at, now))
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
            for deletion in deletions(OF_DRAFT, draft_id) if locked else ():
                execute(deletion)
        yield int(locked is not None)


def _restorable(account_id: str, discarded_at: datetime, now: datetime) -> ColumnElement[bool]:
    return and_(
        Draft.account_id == account_id,
        Draft.status == DraftStatus.DRAFT,
        Draft.deleted_at == discarded_at,
        Draft.deleted_at > now - timedelta(seconds=DISCARDED_KEPT_SECONDS),
    )


def _change_drafts(
    kind: AuditKind, account_id: str, change: Update, now: datetime, by: Actor
) -> int:
    with write_transaction():
        ids = execute(change.returning(Draft.id)).scalars().all()
        for draft_id in ids:
            add_event(kind, account_id, by=by, now=now, subject=draft_id)
    return len(ids)
