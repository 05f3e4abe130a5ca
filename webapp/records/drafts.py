"""The tables of drafts, and the notes that creators write on them."""

import re
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from webapp.base import database, vocabulary
from webapp.base.errors import ErrorCode, NotFound, StateConflict, refused_character, wrong_field
from webapp.records.content.model import Content, DraftUpdate

AGENT_NOTE_MAX_CHARS = 300  # half a sentence next to a change, and some room
CREATOR_NOTE_MAX_CHARS = 500  # why a draft is sent back or discarded
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def clean_note(text: str, name: str = "note", *, by_agent: bool = False) -> str | None:
    """Return the note as stored, None if empty; only creators' notes may have more lines."""
    note = text if by_agent else text.strip()
    most = AGENT_NOTE_MAX_CHARS if by_agent else CREATOR_NOTE_MAX_CHARS
    if len(note) > most:
        problem = f"has {len(note)} characters; at most {most} are allowed"
        raise wrong_field(name, problem, "Shorten it to half a sentence, or send no note.")
    if found := _CONTROLS.search(note if by_agent else re.sub("[\t\n]", " ", note)):
        problem = refused_character(found[0], found.start() + 1)
        raise wrong_field(name, problem, "Send the note without that character.")
    return note.strip() or None


def with_note(said: str, note: str | None) -> str:
    """Return the sentence that `said` begins, with the creator's note quoted in it."""
    return f"{said}, with the note “{note}”." if note else f"{said}."


ABOUT_CHARS = 200  # of a goal or a question that lists show


class Draft(Content, database.Base):
    """An unpublished form. `author` is the OAuth grant that wrote last, None = creator.

    `agent_note` is that agent's note on this revision, and not part of the content. `returned_at`,
    `returned_revision` and `return_note` are set while the draft is sent back; `discard_note` is
    the creator's note on a discard.
    """

    __tablename__ = "drafts"
    repeated = False  # True for the result of a repeated create request: the draft as first created

    id: Mapped[str] = mapped_column(sa.String(40), primary_key=True)
    account_id: Mapped[str] = mapped_column(sa.ForeignKey("accounts.id"), index=True)
    status: Mapped[vocabulary.DraftStatus]
    revision: Mapped[int]
    content_hash: Mapped[str] = mapped_column(sa.String(64))
    created_by: Mapped[str | None] = mapped_column(sa.String(40))
    author: Mapped[str | None] = mapped_column(sa.String(40))
    agent_note: Mapped[str | None] = mapped_column(sa.String(AGENT_NOTE_MAX_CHARS))
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]
    deleted_at: Mapped[datetime | None]
    discard_note: Mapped[str | None] = mapped_column(sa.String(CREATOR_NOTE_MAX_CHARS))
    return_count: Mapped[int] = mapped_column(server_default="0")
    returned_at: Mapped[datetime | None]
    returned_revision: Mapped[int | None]
    return_note: Mapped[str | None] = mapped_column(sa.String(CREATOR_NOTE_MAX_CHARS))

    def end_return(self) -> None:
        self.returned_at = self.returned_revision = self.return_note = None


class DraftSummaryRow(NamedTuple):
    """An unpublished draft as lists show it, with its goal and first question shortened."""

    id: str
    title: str
    goal: str | None
    first_question: str | None
    author: str | None
    created_by: str | None
    revision: int
    created_at: datetime
    updated_at: datetime
    returned_at: datetime | None
    return_note: str | None
    question_count: int


class DraftRevision(database.Base):
    """A superseded revision of a draft."""

    __tablename__ = "draft_revisions"

    draft_id: Mapped[str] = mapped_column(sa.ForeignKey("drafts.id"), primary_key=True)
    revision: Mapped[int] = mapped_column(primary_key=True)
    content: Mapped[DraftUpdate] = mapped_column(sa.JSON)
    author: Mapped[str | None] = mapped_column(sa.String(40))
    agent_note: Mapped[str | None] = mapped_column(sa.String(AGENT_NOTE_MAX_CHARS))
    created_at: Mapped[datetime]


class DraftConfirmation(database.Base):
    """A confirmation of one revision, by the creator or `agent_attested`. Append-only.

    `return_count` is the draft's at that time: the confirmation is valid until the draft is sent
    back again. Other columns are what the page said, as in `Form`.
    """

    __tablename__ = "draft_confirmations"

    id: Mapped[str] = mapped_column(sa.String(40), primary_key=True)
    draft_id: Mapped[str] = mapped_column(sa.ForeignKey("drafts.id"), index=True)
    revision: Mapped[int]
    content_hash: Mapped[str] = mapped_column(sa.String(64))
    method: Mapped[vocabulary.ConfirmationMethod]
    grant_id: Mapped[str | None] = mapped_column(sa.String(40))
    created_at: Mapped[datetime]
    return_count: Mapped[int] = mapped_column(server_default="0")
    records_voice: Mapped[bool] = mapped_column(server_default=sa.false())
    transcriber: Mapped[str] = mapped_column(sa.String(260), server_default="")
    follow_up_writer: Mapped[str] = mapped_column(sa.String(500), server_default="")
    asker_organisation: Mapped[str] = mapped_column(sa.String(80), server_default="")
    asker_accent: Mapped[str] = mapped_column(sa.String(20), server_default="")
    asker_picture: Mapped[str] = mapped_column(sa.String(64), server_default="")


class DraftReturn(database.Base):
    """The creator's notes from one time that the draft was sent back; `number` counts from 1."""

    __tablename__ = "draft_returns"

    draft_id: Mapped[str] = mapped_column(sa.ForeignKey("drafts.id"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    revision: Mapped[int]
    returned_at: Mapped[datetime]
    note: Mapped[str | None] = mapped_column(sa.String(CREATOR_NOTE_MAX_CHARS))
    question_notes: Mapped[dict[str, str]] = mapped_column(sa.JSON)


def get_draft(account_id: str, draft_id: str) -> Draft:
    """Return the account's draft; raises NotFound `draft_not_found`."""
    draft = database.db.session.scalar(owned_draft(account_id, draft_id))
    if draft is None:
        raise missing_draft(account_id, draft_id)
    return draft


def list_drafts(account_id: str) -> list[DraftSummaryRow]:
    """Return the account's unpublished drafts, most recently changed first."""
    return list(map(DraftSummaryRow._make, database.read_rows(_LIST, account=account_id)))


def get_revision(account_id: str, draft_id: str) -> int:
    """Return the current revision of the account's draft; raises NotFound `draft_not_found`."""
    found = database.read_rows(_AT, account=account_id, draft=draft_id)
    if not found:
        raise missing_draft(account_id, draft_id)
    return int(found[0].revision)


def owned_draft(account_id: Any, draft_id: Any) -> sa.Select[Draft]:
    """Return the select of one draft of the account, by values or parameters; deleting a form
    deletes its draft, too.
    """
    return sa.select(Draft).where(
        Draft.id == draft_id, Draft.account_id == account_id, Draft.deleted_at.is_(None)
    )


def unpublished(account_id: Any) -> sa.ColumnElement[bool]:
    """Return the condition for the account's drafts that are neither published nor discarded."""
    return sa.and_(
        Draft.account_id == account_id,
        Draft.status == vocabulary.DraftStatus.DRAFT,
        Draft.deleted_at.is_(None),
    )


def missing_draft(account_id: str, draft_id: str) -> NotFound:
    """Return the refusal: when and why it was discarded, nothing of another account's."""
    discarded = database.read_rows(_DISCARDED, account=account_id, draft=draft_id)
    if discarded:
        said = f"Its creator discarded this draft at {discarded[0].deleted_at:%Y-%m-%dT%H:%M:%SZ}"
        return NotFound(
            ErrorCode.DRAFT_NOT_FOUND,
            with_note(said, discarded[0].discard_note),
            "Ask the creator whether another draft is wanted.",
        )
    return NotFound(
        ErrorCode.DRAFT_NOT_FOUND,
        "There is no draft with this draftId in this account, or its creator discarded it.",
        "Use the draftId that creating the draft returned, with the same connected account.",
    )


def require_revision(draft: Draft, expected: int) -> None:
    """Raise StateConflict `revision_conflict` unless the draft is at the expected revision."""
    if draft.revision != expected:
        raise StateConflict(
            ErrorCode.REVISION_CONFLICT,
            f"The draft is at revision {draft.revision}, not {expected}.",
            "Read the draft again, then repeat the request on its current revision.",
            field="If-Match",
        )


def open_draft(account_id: str, draft_id: str) -> Draft:
    """Lock and return the unpublished draft; raises NotFound, StateConflict."""
    draft = lock_draft(account_id, draft_id)
    require_open(draft)
    return draft


def require_open(draft: Draft) -> None:
    """Raise StateConflict `draft_already_published` if the draft is published."""
    if draft.status is vocabulary.DraftStatus.PUBLISHED:
        raise StateConflict(
            ErrorCode.DRAFT_ALREADY_PUBLISHED,
            "The draft is published and cannot change any more.",
            "Create a new draft for a changed form.",
        )


_DISCARDED = sa.select(Draft.deleted_at, Draft.discard_note).where(
    Draft.id == sa.bindparam("draft"),
    Draft.account_id == sa.bindparam("account"),
    Draft.status == vocabulary.DraftStatus.DRAFT,
    Draft.deleted_at.is_not(None),
)
_AT = owned_draft(sa.bindparam("account"), sa.bindparam("draft")).with_only_columns(Draft.revision)
_LIST = (
    sa.select(
        Draft.id,
        Draft.title,
        sa.func.substr(Draft.goal, 1, ABOUT_CHARS).label("goal"),
        sa.func.substr(Draft.questions[0]["text"].as_string(), 1, ABOUT_CHARS).label(
            "first_question"
        ),
        *(Draft.__table__.c[name] for name in DraftSummaryRow._fields[4:-1]),
        sa.func.json_array_length(Draft.questions).label("question_count"),
    )
    .where(unpublished(sa.bindparam("account")))
    .order_by(Draft.updated_at.desc(), Draft.id)
)
_LOCKED = (
    owned_draft(sa.bindparam("account"), sa.bindparam("draft"))
    .with_for_update()
    .execution_options(populate_existing=True)
)


def lock_draft(account_id: str, draft_id: str) -> Draft:
    """Lock and return the draft, published or not; raises NotFound."""
    draft = database.db.session.scalar(_LOCKED, {"draft": draft_id, "account": account_id})
    if draft is None:
        raise missing_draft(account_id, draft_id)
    return draft


class IdempotencyKey(database.Base):
    """A completed create request; repeats within a day return its draft as created.

    The key outlives its draft, and then has no draft id, so that a repeat creates nothing.
    """

    __tablename__ = "idempotency_keys"

    account_id: Mapped[str] = mapped_column(sa.ForeignKey("accounts.id"), primary_key=True)
    client_id: Mapped[str] = mapped_column(sa.String(2048), primary_key=True)
    key: Mapped[str] = mapped_column(sa.String(255), primary_key=True)
    body_hash: Mapped[str] = mapped_column(sa.String(64))
    draft_id: Mapped[str | None] = mapped_column(sa.ForeignKey("drafts.id"))
    created_at: Mapped[datetime]


IDEMPOTENCY_KEPT = timedelta(days=1)  # as long as Stripe keeps keys
CONFIRMED_COLUMNS = ("revision", "content_hash", "return_count")


def current_confirmation() -> sa.ColumnElement[bool]:
    """Return the join condition of a draft and a confirmation that permits its publication."""
    same = (getattr(DraftConfirmation, each) == getattr(Draft, each) for each in CONFIRMED_COLUMNS)
    return sa.and_(DraftConfirmation.draft_id == Draft.id, *same)


def waiting(account_id: Any) -> sa.ColumnElement[bool]:
    """Return the condition for agents' drafts that wait for their creator's confirmation."""
    by_agent = sa.or_(Draft.author.is_not(None), Draft.created_by.is_not(None))
    # last, because the length of the questions is expensive
    holds_something = sa.or_(
        sa.func.trim(Draft.title) != "", sa.func.json_array_length(Draft.questions) > 0
    )
    is_confirmed = sa.exists().where(current_confirmation())
    is_kept = Draft.returned_at.is_(None)
    return sa.and_(unpublished(account_id), by_agent, is_kept, ~is_confirmed, holds_something)
