"""Discarded drafts: hidden at once, restorable for a day, then purged.

Drafts that were discarded together have the same `deleted_at`, by which they are restored.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, and_, bindparam, func, select, update

from webapp.database import db, read_rows, write_transaction
from webapp.domain.audit.trail import SYSTEM, Actor, AuditKind, add_event
from webapp.domain.drafts.models import Draft, open_draft, unpublished
from webapp.domain.shared.limits import DISCARDED_KEPT_SECONDS
from webapp.domain.shared.ownership import OF_DRAFT, deletion_of
from webapp.domain.shared.vocabulary import DraftStatus

_EXPIRED = (
    select(Draft.id)
    .where(Draft.status == DraftStatus.DRAFT, Draft.deleted_at <= bindparam("latest"))
    .limit(1)
)
_LOCKED = _EXPIRED.where(Draft.id == bindparam("draft_id")).with_for_update()


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
        ids = _mark(_restorable(account_id, discarded_at, now), None, None)
        _add_events(AuditKind.TAKEN_BACK, account_id, ids, now, by)
    return len(ids)


def purge_discarded(now: datetime) -> Iterator[int]:
    """Delete expired drafts, a short transaction for each.

    Yields the drafts deleted by each; may be abandoned at any point.
    """
    latest = now - timedelta(seconds=DISCARDED_KEPT_SECONDS)
    while found := read_rows(_EXPIRED, latest=latest):
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
    ids = _mark(and_(unpublished(account_id), Draft.id.in_(draft_ids)), now, note)
    _add_events(AuditKind.DISCARDED, account_id, ids, now, by)
    return len(ids)


def _mark(
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
