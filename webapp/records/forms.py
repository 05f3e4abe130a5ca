"""Published forms: the content as confirmed, a public link and the counters of its responses.

States: published -> completed (`one` form has its response) / closed <-> published. Counters and
the last stamp change only in the transaction that writes an answer or a completion. `deleted_at`
marks a form in the trash, which only `form_trash` reads.
"""

from collections.abc import Collection
from datetime import datetime
from types import SimpleNamespace
from typing import Any, NamedTuple, TypeAlias, cast

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from webapp.base import database
from webapp.base.errors import ErrorCode, NotFound
from webapp.base.vocabulary import FormStatus, ResponseLimit
from webapp.records.audit import SYSTEM, Actor, AuditKind, add_event
from webapp.records.content.model import Content
from webapp.records.responses.models import ANSWER_MAX_CHARS, raw_column

FORM_BYTES_MAX = 1024**3  # default limit for the texts and recordings of one form
BYTES_OF_CHAR = 4  # at most, in UTF-8


class Form(Content, database.Base):
    """A public form. Stamps are milliseconds since the epoch, strictly increasing per form.

    `last_stamp` is the newest stamp taken (at first the publishing time), `completed_stamp` the
    stamp of the newest completed response. `response_count` counts completed responses,
    `answered_count` sessions with at least one answer, `started_count` all sessions.
    `answer_bytes` is the size in UTF-8 of all stored answers, superseded ones included, each with
    the text of its question, plus the size of their recordings.
    `records_voice` and `transcriber` are the terms that the creator confirmed, or agreed to later:
    whether people may speak, and which host transcribes the recordings ("" for none).
    `follow_up_writer` is the model and its host that the creator was shown, "" for the rules.
    `seen_stamp` is the stamp up to which its creator has read everything.
    """

    __tablename__ = "forms"
    __table_args__ = (sa.Index("ix_forms_listed", "account_id", "published_at", "id"),)

    id: Mapped[str] = mapped_column(sa.String(40), primary_key=True)
    account_id: Mapped[str] = mapped_column(sa.ForeignKey("accounts.id"))
    draft_id: Mapped[str] = mapped_column(sa.ForeignKey("drafts.id"), unique=True)
    share_token: Mapped[str] = mapped_column(sa.String(40), unique=True)
    status: Mapped[FormStatus]
    last_stamp: Mapped[int] = mapped_column(sa.BigInteger)
    completed_stamp: Mapped[int | None] = mapped_column(sa.BigInteger)
    response_count: Mapped[int] = mapped_column(default=0)
    answered_count: Mapped[int] = mapped_column(default=0)
    started_count: Mapped[int] = mapped_column(default=0)
    answer_bytes: Mapped[int] = mapped_column(sa.BigInteger, default=0, server_default="0")
    published_at: Mapped[datetime]
    closed_at: Mapped[datetime | None]
    frame_origins: Mapped[str] = mapped_column(sa.Text, server_default="")
    deleted_at: Mapped[datetime | None]
    records_voice: Mapped[bool] = mapped_column(server_default=sa.false())
    transcriber: Mapped[str] = mapped_column(sa.String(260), server_default="")
    spoken_language: Mapped[str] = mapped_column(sa.String(20), server_default="")
    follow_up_writer: Mapped[str] = mapped_column(sa.String(500), server_default="")
    asker_organisation: Mapped[str] = mapped_column(sa.String(80), server_default="")
    asker_accent: Mapped[str] = mapped_column(sa.String(20), server_default="")
    asker_picture: Mapped[str] = mapped_column(sa.String(64), server_default="")
    seen_stamp: Mapped[int] = mapped_column(sa.BigInteger, server_default="0")


def owned_form(account_id: Any, form_id: Any) -> sa.ColumnElement[bool]:
    """Return the condition for one form of the account that is not in the trash."""
    return sa.and_(Form.id == form_id, Form.account_id == account_id, Form.deleted_at.is_(None))


def shared_form(share_token: Any) -> sa.ColumnElement[bool]:
    """Return the condition for the form behind a public link, unless it is in the trash."""
    return sa.and_(Form.share_token == share_token, Form.deleted_at.is_(None))


FormRow: TypeAlias = Form  # or a row of its columns, which takes a fifth of the time to read
FORM_COLUMNS = tuple(Form.__table__.c)
HEAD = ("id", "status", "response_count", "last_stamp")  # what streams look at


def form_of(row: sa.Row[*tuple[Any, ...]]) -> FormRow:
    """Return a row of FORM_COLUMNS as a read-only form."""
    return cast(FormRow, row)


def with_counts(form: FormRow, **counts: int) -> FormRow:
    """Return a read-only copy of the form with other counts."""
    values = {column.key: getattr(form, column.key) for column in FORM_COLUMNS}
    return cast(FormRow, SimpleNamespace(**values | counts))


class FormSummaryRow(NamedTuple):
    """A form as lists show it; times in milliseconds since the epoch, enums as plain text."""

    id: str
    title: str
    share_token: str
    status: str
    response_limit: str
    response_count: int
    completed_stamp: int | None
    published_at: int
    question_count: int


_LIST = (
    sa.select(
        *(raw_column(getattr(Form, name)) for name in FormSummaryRow._fields[:-1]),
        sa.func.json_array_length(Form.questions).label("question_count"),
    )
    .where(Form.account_id == sa.bindparam("account_id"), Form.deleted_at.is_(None))
    .order_by(Form.published_at.desc(), Form.id.desc())
    .limit(sa.bindparam("most"))
)
_HEADS = sa.select(*(Form.__table__.c[name] for name in HEAD)).where(
    database.among(Form.id, "forms"), Form.deleted_at.is_(None)
)
_OWNED = owned_form(sa.bindparam("account_id"), sa.bindparam("form_id"))
_ONE = sa.select(*FORM_COLUMNS).where(_OWNED)
_LOCK = sa.select(Form.completed_stamp).where(_OWNED).with_for_update(key_share=True)


def list_forms(account_id: str, most: int = 10**9) -> list[FormSummaryRow]:
    """Return the newest forms of the account, including closed ones, newest first."""
    found = database.read_rows(_LIST, account_id=account_id, most=most)
    return list(map(FormSummaryRow._make, found))


def get_form(account_id: str, form_id: str) -> FormRow:
    """Return the account's form; raises NotFound `form_not_found`."""
    found = database.read_rows(_ONE, account_id=account_id, form_id=form_id)
    if not found:
        raise no_form()
    return form_of(found[0])


def lock_form(account_id: str, form_id: str) -> int:
    """Lock the account's form; return the stamp of its newest completion, 0 without one."""
    found = database.execute(_LOCK, account_id=account_id, form_id=form_id).one_or_none()
    if found is None:
        raise no_form()
    return int(found.completed_stamp or 0)


def read_heads(form_ids: Collection[str]) -> dict[str, FormRow]:
    """Return the columns in HEAD of forms by id, without forms that are deleted or in the trash."""
    found = database.read_rows(_HEADS, forms=list(form_ids))
    return {row.id: form_of(row) for row in found}


def is_full(answer_bytes: int, most_bytes: int) -> bool:
    """Return True if an answer of maximum length would exceed the limit of stored bytes."""
    return most_bytes - answer_bytes < ANSWER_MAX_CHARS * BYTES_OF_CHAR


def close_form(account_id: str, form_id: str, *, now: datetime, by: Actor = SYSTEM) -> None:
    """Close the form to answers; idempotent. raises NotFound"""
    with database.write_transaction():
        form = _lock(account_id, form_id)
        if form.status is not FormStatus.CLOSED:
            form.status, form.closed_at = FormStatus.CLOSED, now
            database.note_change(form_id)
            add_event(AuditKind.CLOSED, account_id, by=by, now=now, subject=form_id)


def reopen_form(account_id: str, form_id: str, *, now: datetime, by: Actor = SYSTEM) -> None:
    """Reopen the form to answers, but make a `one` form that has its response `completed`."""
    with database.write_transaction():
        form = _lock(account_id, form_id)
        if form.status is FormStatus.CLOSED:
            full = form.response_limit is ResponseLimit.ONE and form.response_count > 0
            form.status = FormStatus.COMPLETED if full else FormStatus.PUBLISHED
            form.closed_at = None
            database.note_change(form_id)
            add_event(AuditKind.REOPENED, account_id, by=by, now=now, subject=form_id)


def no_form() -> NotFound:
    """Return the refusal of an unknown form, or of another account's form."""
    return NotFound(
        ErrorCode.FORM_NOT_FOUND,
        "There is no form with this formId in this account, or its creator deleted it.",
        "Use a formId that publishing or listing forms returned, with the same connected account.",
    )


def _lock(account_id: str, form_id: str) -> Form:
    form = database.db.session.scalar(
        sa.select(Form)
        .where(owned_form(account_id, form_id))
        .with_for_update()
        .execution_options(populate_existing=True)
    )
    if form is None:
        raise no_form()
    return form


class AgentToken(database.Base):
    """A token for one form, or for all forms of the account where `form_id` is null."""

    __tablename__ = "agent_tokens"
    token = ""  # the text of a new token, which is not stored

    id: Mapped[str] = mapped_column(sa.String(40), primary_key=True)
    account_id: Mapped[str] = mapped_column(sa.ForeignKey("accounts.id"), index=True)
    form_id: Mapped[str | None] = mapped_column(sa.ForeignKey("forms.id"), index=True)
    # no foreign key: the token outlives its connection
    grant_id: Mapped[str | None] = mapped_column(sa.String(40), index=True)
    token_hash: Mapped[str] = mapped_column(sa.String(64), unique=True)
    hint: Mapped[str] = mapped_column(sa.String(20))
    label: Mapped[str] = mapped_column(sa.String(120))
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    last_used_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]
