"""Deleted forms: hidden at once, restorable by their creator for a while, then purged.

A deleted form takes its draft with it. After TRASH_KEPT_SECONDS, or when its creator erases it, it
cannot be restored any more, and purging deletes it with everything it holds, in short transactions.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy import ColumnElement, and_, bindparam, func, select, update

from webapp.database import db, from_millis, note_change, read_rows, write_transaction
from webapp.domain.audit.trail import SYSTEM, Actor, AuditKind, add_event
from webapp.domain.drafts.idempotency import IdempotencyKey
from webapp.domain.drafts.models import Draft
from webapp.domain.forms.models import Form, no_form, owned_form
from webapp.domain.shared.limits import TRASH_KEPT_SECONDS
from webapp.domain.shared.ownership import (
    OF_DRAFT,
    OF_FORM,
    delete_in_batches,
    deletion_of,
    table_of,
)


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
