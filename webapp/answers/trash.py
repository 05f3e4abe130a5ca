"""Deleted forms and discarded drafts: hidden at once, restorable for a while, then purged."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy import ColumnElement, and_, bindparam, func, select, update

from webapp.base.database import db, from_millis, note_change, read_rows, write_transaction
from webapp.base.ownership import OF_DRAFT, OF_FORM, delete_in_batches, deletion_of, table_of
from webapp.base.vocabulary import DraftStatus
from webapp.records.audit import SYSTEM, Actor, AuditKind, add_event
from webapp.records.drafts import Draft, IdempotencyKey, open_draft, unpublished
from webapp.records.forms import Form, no_form, owned_form

DISCARDED_KEPT_SECONDS = 24 * 3600  # how long a discard can be undone
TRASH_KEPT_SECONDS = 30 * 24 * 3600  # deleted forms can be restored for that long


class DeletedFormRow(NamedTuple):
    """A form of the trash as its pages show it."""

    id: str
    title: str
    response_count: int
    answered_count: int
    deleted_at: datetime


def delete_form(account_id: str, form_id: str, *, now: datetime, by: Actor = SYSTEM) -> None:
    """Move the form with its draft into the trash. raises NotFound"""
    with write_transaction():
        _mark(owned_form(account_id, form_id), now)
        add_event(AuditKind.DELETED, account_id, by=by, now=now, subject=form_id)


def restore_form(account_id: str, form_id: str, *, now: datetime, by: Actor = SYSTEM) -> None:
    """Restore the form as it was; raises NotFound if it is not in the trash."""
    with write_transaction():
        _mark(and_(Form.id == form_id, _in_trash(account_id, now)), None)
        add_event(AuditKind.RESTORED, account_id, by=by, now=now, subject=form_id)


def erase_form(account_id: str, form_id: str, *, now: datetime, by: Actor = SYSTEM) -> None:
    """Let the next purge delete a form; raises NotFound if it is not in the trash."""
    with write_transaction():
        _mark(and_(Form.id == form_id, _in_trash(account_id, now)), _oldest(now))
        add_event(AuditKind.ERASED, account_id, by=by, now=now, subject=form_id)


def list_deleted_forms(account_id: str, *, now: datetime) -> list[DeletedFormRow]:
    """The forms that the account can restore, most recently deleted first."""
    found = read_rows(_LIST, account=account_id, oldest=_oldest(now))
    return list(map(DeletedFormRow._make, found))


def count_deleted_forms(account_id: str, *, now: datetime) -> int:
    """How many forms the account can restore."""
    return int(read_rows(_COUNT, account=account_id, oldest=_oldest(now))[0][0])


def find_deleted_form(account_id: str, form_id: str, *, now: datetime) -> DeletedFormRow | None:
    """A form that the account can restore."""
    found = read_rows(_ONE, account=account_id, oldest=_oldest(now), form=form_id)
    return DeletedFormRow._make(found[0]) if found else None


def give_up_forms(account_id: str, *, now: datetime) -> None:
    """Let the next purge delete every form of the account. The caller commits."""
    gone = {"deleted_at": _oldest(now)}
    for table in (Form, Draft):
        given_up = db.session.scalars(
            update(table)
            .where(table.account_id == account_id)
            .values(gone)
            .returning(table.id)
            .execution_options(synchronize_session=False)
        )
        for object_id in given_up:
            note_change(object_id)


def purge_deleted(now: datetime) -> Iterator[int]:
    """Delete what can no longer be restored, a short transaction for each item.

    Yields the rows deleted by each; may be abandoned at any point, the next call continues.
    """
    while forms := read_rows(_EXPIRED, oldest=_oldest(now)):
        if not _take_for_good(forms[0].id, now):
            continue
        for owned in OF_FORM:
            if owned.many:
                table = table_of(owned)
                yield from delete_in_batches(table, table.c[owned.column] == forms[0].id)
        yield _delete_rest(forms[0].id, forms[0].draft_id)


_RESTORABLE = and_(Form.account_id == bindparam("account"), Form.deleted_at > bindparam("oldest"))
_ROWS = select(*(Form.__table__.c[name] for name in DeletedFormRow._fields)).where(_RESTORABLE)
_LIST = _ROWS.order_by(Form.deleted_at.desc(), Form.id)
_ONE = _ROWS.where(Form.id == bindparam("form"))
_COUNT = select(func.count(Form.id)).where(_RESTORABLE)
_EXPIRED = (
    select(Form.id, Form.draft_id)
    .where(Form.deleted_at <= bindparam("oldest"))
    .order_by(Form.deleted_at)
    .limit(1)
)
_LONG_AGO = from_millis(0)  # a request that began before the purge restores it no more


def _oldest(now: datetime) -> datetime:
    return now - timedelta(seconds=TRASH_KEPT_SECONDS)


def _in_trash(account_id: str, now: datetime) -> ColumnElement[bool]:
    return and_(Form.account_id == account_id, Form.deleted_at > _oldest(now))


def _mark(which: ColumnElement[bool], deleted_at: datetime | None) -> None:
    marked = db.session.execute(
        update(Form)
        .where(which)
        .values(deleted_at=deleted_at)
        .returning(Form.id, Form.draft_id)
        .execution_options(synchronize_session=False)
    ).one_or_none()
    if marked is None:
        raise no_form()
    note_change(marked.id)
    gone = update(Draft).where(Draft.id == marked.draft_id).values(deleted_at=deleted_at)
    db.session.execute(gone)


def _take_for_good(form_id: str, now: datetime) -> bool:
    """Put a form beyond restoring, before its rows go; False if it was restored in the meantime."""
    with write_transaction() as connection:
        taken = connection.execute(
            update(Form)
            .where(Form.id == form_id, Form.deleted_at <= _oldest(now))
            .values(deleted_at=_LONG_AGO)
        )
        note_change(form_id)
    return taken.rowcount == 1


def _delete_rest(form_id: str, draft_id: str) -> int:
    """Delete the small tables, parents last. Idempotency keys stay: a repeat makes no new draft."""
    rest = [deletion_of(owned, form_id) for owned in OF_FORM if not owned.many]
    rest += [deletion_of(owned, draft_id) for owned in OF_DRAFT]
    keys = update(IdempotencyKey).where(IdempotencyKey.draft_id == draft_id)
    with write_transaction() as connection:
        connection.execute(keys.values(draft_id=None))
        return sum(connection.execute(each).rowcount for each in rest)


_EXPIRED_DRAFTS = (
    select(Draft.id)
    .where(Draft.status == DraftStatus.DRAFT, Draft.deleted_at <= bindparam("latest"))
    .limit(1)
)
_LOCKED = _EXPIRED_DRAFTS.where(Draft.id == bindparam("draft_id")).with_for_update()


def discard_draft(
    account_id: str,
    draft_id: str,
    *,
    now: datetime,
    note: str | None = None,
    by: Actor = SYSTEM,
) -> None:
    """Discard one unpublished draft; raises NotFound, StateConflict `draft_already_published`.

    note  what the creator says of it, for its agent
    """
    with write_transaction():
        open_draft(account_id, draft_id)
        _discard(account_id, [draft_id], note, now, by)


def discard_drafts(
    account_id: str,
    draft_ids: Collection[str],
    *,
    now: datetime,
    note: str | None = None,
    by: Actor = SYSTEM,
) -> int:
    """Discard those that exist and are unpublished, all with one note; returns how many."""
    with write_transaction():
        return _discard(account_id, draft_ids, note, now, by)


def count_discarded(account_id: str, discarded_at: datetime, *, now: datetime) -> int:
    """How many drafts were discarded at that moment and can be restored."""
    query = select(func.count(Draft.id)).where(_restorable(account_id, discarded_at, now))
    return db.session.scalar(query) or 0


def restore(account_id: str, discarded_at: datetime, *, now: datetime, by: Actor = SYSTEM) -> int:
    """Undo the discard of that moment; returns how many drafts are restored."""
    with write_transaction():
        ids = _mark_drafts(_restorable(account_id, discarded_at, now), None, None)
        _add_events(AuditKind.TAKEN_BACK, account_id, ids, now, by)
    return len(ids)


def purge_discarded(now: datetime) -> Iterator[int]:
    """Delete expired drafts, a short transaction for each.

    Yields the drafts deleted by each; may be abandoned at any point.
    """
    latest = now - timedelta(seconds=DISCARDED_KEPT_SECONDS)
    while found := read_rows(_EXPIRED_DRAFTS, latest=latest):
        draft_id = found[0].id
        with write_transaction() as connection:
            # it may have been restored since it was read
            locked = connection.execute(_LOCKED, {"latest": latest, "draft_id": draft_id}).first()
            for owned in OF_DRAFT if locked else ():
                connection.execute(deletion_of(owned, draft_id))
        yield int(locked is not None)


def _restorable(account_id: str, discarded_at: datetime, now: datetime) -> ColumnElement[bool]:
    return and_(
        Draft.account_id == account_id,
        Draft.status == DraftStatus.DRAFT,
        Draft.deleted_at == discarded_at,
        Draft.deleted_at > now - timedelta(seconds=DISCARDED_KEPT_SECONDS),
    )


def _discard(
    account_id: str, draft_ids: Collection[str], note: str | None, now: datetime, by: Actor
) -> int:
    """The idempotency keys that made them stay, so that a repeated request makes no new draft."""
    ids = _mark_drafts(and_(unpublished(account_id), Draft.id.in_(draft_ids)), now, note)
    _add_events(AuditKind.DISCARDED, account_id, ids, now, by)
    return len(ids)


def _mark_drafts(
    which: ColumnElement[bool], deleted_at: datetime | None, note: str | None
) -> Sequence[str]:
    """The ids of the drafts that were changed."""
    return db.session.scalars(
        update(Draft)
        .where(which)
        .values(deleted_at=deleted_at, discard_note=note)
        .returning(Draft.id)
        .execution_options(synchronize_session=False)
    ).all()


def _add_events(
    kind: AuditKind, account_id: str, draft_ids: Iterable[str], now: datetime, by: Actor
) -> None:
    for draft_id in draft_ids:
        add_event(kind, account_id, by=by, now=now, subject=draft_id)
