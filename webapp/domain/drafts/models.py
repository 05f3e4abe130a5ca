"""Drafts with their revisions and confirmations: tables and lookups.

States: draft -> published. Every change of content raises `revision` and keeps the superseded
content; a confirmation is bound to revision and hash, so any change of content voids it.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import (
    JSON,
    BindParameter,
    ColumnElement,
    ForeignKey,
    Select,
    String,
    and_,
    bindparam,
    false,
    func,
    select,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column

from webapp.database import (
    Base,
    db,
    enum_type,
    execute_autocommit,
    read_rows,
    to_millis,
    tried_again,
    write_transaction,
)
from webapp.domain.content.model import Content, ContentRow, DraftUpdate
from webapp.domain.shared.error_codes import ErrorCode
from webapp.domain.shared.errors import NotFound, StateConflict
from webapp.domain.shared.limits import AGENT_NOTE_MAX_CHARS
from webapp.domain.shared.vocabulary import (
    ConfirmationMethod,
    DraftStatus,
)


class Draft(Content, Base):
    """An unpublished form. `author` is the OAuth grant that wrote last, None = creator.

    `agent_note` is what that agent wrote beside this revision, and nobody's content.
    """

    __tablename__ = "drafts"
    repeated = False  # true of what a repeated create request got: the draft as first created

    id: Mapped[str] = mapped_column(String(40), primary_key=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id"), index=True)
    status: Mapped[DraftStatus] = mapped_column(enum_type(DraftStatus, "status"))
    revision: Mapped[int]
    content_hash: Mapped[str] = mapped_column(String(64))
    created_by: Mapped[str | None] = mapped_column(String(40))
    author: Mapped[str | None] = mapped_column(String(40))
    agent_note: Mapped[str | None] = mapped_column(String(AGENT_NOTE_MAX_CHARS))
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]
    deleted_at: Mapped[datetime | None]


@dataclass(slots=True)
class DraftRow(ContentRow):
    """The columns of `Draft` as a statement read them."""

    id: str
    account_id: str
    status: DraftStatus
    revision: int
    content_hash: str
    created_by: str | None
    author: str | None
    agent_note: str | None
    created_at: datetime
    updated_at: datetime
    deleted_at: datetime | None


class DraftSummaryRow(NamedTuple):
    """An unpublished draft as lists show it."""

    id: str
    title: str
    author: str | None
    created_by: str | None
    revision: int
    created_at: datetime
    updated_at: datetime
    question_count: int


class DraftRevision(Base):
    """A superseded content of a draft."""

    __tablename__ = "draft_revisions"

    draft_id: Mapped[str] = mapped_column(ForeignKey("drafts.id"), primary_key=True)
    revision: Mapped[int] = mapped_column(primary_key=True)
    content: Mapped[DraftUpdate] = mapped_column(JSON)
    author: Mapped[str | None] = mapped_column(String(40))
    agent_note: Mapped[str | None] = mapped_column(String(AGENT_NOTE_MAX_CHARS))
    created_at: Mapped[datetime]


class DraftConfirmation(Base):
    """A confirmation of one revision, by the creator or `agent_attested`. Append-only.

    `records_voice`, `transcriber` and `follow_up_writer` are what the page said of them, as in
    `Form`.
    """

    __tablename__ = "draft_confirmations"

    id: Mapped[str] = mapped_column(String(40), primary_key=True)
    draft_id: Mapped[str] = mapped_column(ForeignKey("drafts.id"), index=True)
    revision: Mapped[int]
    content_hash: Mapped[str] = mapped_column(String(64))
    method: Mapped[ConfirmationMethod] = mapped_column(enum_type(ConfirmationMethod, "method"))
    grant_id: Mapped[str | None] = mapped_column(String(40))
    created_at: Mapped[datetime]
    records_voice: Mapped[bool] = mapped_column(server_default=false())
    transcriber: Mapped[str] = mapped_column(String(260), server_default="")
    follow_up_writer: Mapped[str] = mapped_column(String(500), server_default="")


class DraftView(Base):
    """The revision that the creator viewed last."""

    __tablename__ = "draft_views"

    draft_id: Mapped[str] = mapped_column(ForeignKey("drafts.id"), primary_key=True)
    revision: Mapped[int]
    seen_at: Mapped[datetime]


class ViewRow(NamedTuple):
    """The revision and time of the creator's last view."""

    revision: int
    seen_at: datetime


def get_draft(account_id: str, draft_id: str) -> Draft:
    """The account's draft; raises NotFound `draft_not_found`."""
    draft = db.session.scalar(owned_draft(account_id, draft_id))
    if draft is None:
        raise no_draft()
    return draft


def list_drafts(account_id: str) -> list[DraftSummaryRow]:
    """The account's unpublished drafts, most recently changed first."""
    return list(map(DraftSummaryRow._make, read_rows(_LIST, account=account_id)))


def list_views(account_id: str) -> dict[str, int]:
    """The last revision the creator viewed, by id of each unpublished draft that was viewed."""
    return {row.draft_id: row.revision for row in read_rows(_VIEWS, account=account_id)}


def get_revision(account_id: str, draft_id: str) -> int:
    """At which revision the account's draft is; raises NotFound `draft_not_found`."""
    found = read_rows(_AT, account=account_id, draft=draft_id)
    if not found:
        raise no_draft()
    return int(found[0].revision)


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
            view.revision, view.seen_at = revision, now
            db.session.add(view)


def note_first_look(draft_id: str, revision: int, *, now: datetime) -> None:
    """Store the revision of the creator's first view, unless a view is stored already."""
    execute_autocommit(_FIRST_LOOK, draft=draft_id, revision=revision, seen_at=to_millis(now))


_FIRST_LOOK = text(
    "INSERT INTO draft_views (draft_id, revision, seen_at)"
    " SELECT id, :revision, :seen_at FROM drafts WHERE id = :draft"
    " ON CONFLICT (draft_id) DO NOTHING"
)


def owned_draft(
    account_id: str | BindParameter[str], draft_id: str | BindParameter[str]
) -> Select[Draft]:
    """The select of one draft of the account; a deleted form has taken its draft with it."""
    return select(Draft).where(
        Draft.id == draft_id, Draft.account_id == account_id, Draft.deleted_at.is_(None)
    )


def unpublished(account_id: str | BindParameter[str]) -> ColumnElement[bool]:
    """The condition for the drafts of an account that are neither published nor discarded."""
    return and_(
        Draft.account_id == account_id,
        Draft.status == DraftStatus.DRAFT,
        Draft.deleted_at.is_(None),
    )


def no_draft() -> NotFound:
    """The refusal of an unknown draft and of another account's."""
    return NotFound(
        ErrorCode.DRAFT_NOT_FOUND,
        "There is no draft with this draftId in this account, or its creator discarded it.",
        "Use the draftId that creating the draft returned, with the same connected account.",
    )


def require_revision(draft: Draft | DraftRow, expected: int) -> None:
    """Raises StateConflict `revision_conflict` unless the draft is at that revision."""
    if draft.revision != expected:
        raise StateConflict(
            ErrorCode.REVISION_CONFLICT,
            f"The draft is at revision {draft.revision}, not {expected}.",
            "Read the draft again, then repeat the request on its current revision.",
            field="If-Match",
        )


def open_draft(account_id: str, draft_id: str) -> Draft:
    """The unpublished draft, its row locked; raises NotFound, StateConflict."""
    draft = lock_draft(account_id, draft_id)
    require_open(draft)
    return draft


def require_open(draft: Draft | DraftRow) -> None:
    """Raises StateConflict `draft_already_published` for one that is."""
    if draft.status is DraftStatus.PUBLISHED:
        raise StateConflict(
            ErrorCode.DRAFT_ALREADY_PUBLISHED,
            "The draft is published and cannot change any more.",
            "Create a new draft for a changed form.",
        )


_AT = owned_draft(bindparam("account"), bindparam("draft")).with_only_columns(Draft.revision)
_LIST = (
    select(
        *(Draft.__table__.c[name] for name in DraftSummaryRow._fields[:-1]),
        func.json_array_length(Draft.questions).label("question_count"),
    )
    .where(unpublished(bindparam("account")))
    .order_by(Draft.updated_at.desc(), Draft.id)
)
_VIEWS = (
    select(DraftView.draft_id, DraftView.revision)
    .join(Draft, Draft.id == DraftView.draft_id)
    .where(unpublished(bindparam("account")))
)
_VIEW = select(DraftView.revision, DraftView.seen_at).where(
    DraftView.draft_id == bindparam("draft")
)
_LOCKED = (
    owned_draft(bindparam("account"), bindparam("draft"))
    .with_for_update()
    .execution_options(populate_existing=True)
)


def lock_draft(account_id: str, draft_id: str) -> Draft:
    """The draft under a row lock, published or not; raises NotFound."""
    draft = db.session.scalar(_LOCKED, {"draft": draft_id, "account": account_id})
    if draft is None:
        raise no_draft()
    return draft
