"""Which revision of a draft its creator viewed last, and which changes since they accepted."""

from datetime import datetime
from typing import NamedTuple

from sqlalchemy import ForeignKey, Text, bindparam, select, text
from sqlalchemy.orm import Mapped, mapped_column

from webapp.database import (
    Base,
    db,
    execute_autocommit,
    read_rows,
    to_millis,
    tried_again,
    write_transaction,
)
from webapp.domain.drafts.models import Draft, lock_draft, unpublished


class DraftView(Base):
    """The revision that the creator viewed last."""

    __tablename__ = "draft_views"

    draft_id: Mapped[str] = mapped_column(ForeignKey("drafts.id"), primary_key=True)
    revision: Mapped[int]
    seen_at: Mapped[datetime]
    accepted: Mapped[str] = mapped_column(Text, server_default="")


class ViewRow(NamedTuple):
    """The revision and time of the creator's last view; the keys of changes accepted since."""

    revision: int
    seen_at: datetime
    accepted: str


def list_views(account_id: str) -> dict[str, int]:
    """The last revision the creator viewed, by id of each unpublished draft that was viewed."""
    return {row.draft_id: row.revision for row in read_rows(_VIEWS, account=account_id)}


def find_view(draft_id: str) -> ViewRow | None:
    """The creator's last view of the draft, with its revision."""
    found = read_rows(_VIEW, draft=draft_id)
    return ViewRow._make(found[0]) if found else None


@tried_again
def mark_seen(account_id: str, draft_id: str, revision: int, *, now: datetime) -> None:
    """Store which revision the creator has seen; ignores a number that no revision has.

    raises  NotFound
    """
    with write_transaction():
        draft = lock_draft(account_id, draft_id)
        if 0 < revision <= draft.revision:
            view = db.session.get(DraftView, draft.id) or DraftView(draft_id=draft.id)
            view.revision, view.seen_at, view.accepted = revision, now, ""
            db.session.add(view)


def note_first_look(draft_id: str, revision: int, *, now: datetime) -> None:
    """Store the revision of the creator's first view, unless a view is stored already."""
    execute_autocommit(_FIRST_LOOK, draft=draft_id, revision=revision, seen_at=to_millis(now))


_FIRST_LOOK = text(
    "INSERT INTO draft_views (draft_id, revision, seen_at)"
    " SELECT id, :revision, :seen_at FROM drafts WHERE id = :draft"
    " ON CONFLICT (draft_id) DO NOTHING"
)
_VIEWS = (
    select(DraftView.draft_id, DraftView.revision)
    .join(Draft, Draft.id == DraftView.draft_id)
    .where(unpublished(bindparam("account")))
)
_VIEW = select(*(DraftView.__table__.c[name] for name in ViewRow._fields)).where(
    DraftView.draft_id == bindparam("draft")
)
