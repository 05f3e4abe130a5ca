"""The tables of sessions and answers, and of their pending deletions."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.orm import InstrumentedAttribute, Mapped, mapped_column

from webapp.base import database, vocabulary

ANSWER_MAX_CHARS = 20_000  # longer typed answers stay in the box with a message
SPOKEN_ANSWER_MAX_CHARS = 100_000  # contract; an answer with a recording
RECORDING_MAX_SECONDS = 600
ABANDONED_AFTER_SECONDS = 24 * 3600


class ResponseSession(database.Base):
    """One respondent's session with a form; `key_hash` is the SHA-256 of the respondent's key.

    `answered` holds the ids of the current answers by question id, `answer_count` their number.
    `suspect` flags a response that looks automated. `read_stamp` is the session's newest stamp
    at the time its creator read it alone, ahead of the form's `seen_stamp`.
    """

    __tablename__ = "response_sessions"
    __table_args__ = (
        sa.UniqueConstraint("form_id", "completed_stamp"),
        sa.Index("ix_response_sessions_listed", "form_id", "created_at", "id"),
        sa.Index(
            "ix_response_sessions_suspect",
            "form_id",
            "suspect",
            "id",
            sqlite_where=sa.text("suspect IS 1"),
        ),
    )

    id: Mapped[str] = mapped_column(sa.String(40), primary_key=True)
    form_id: Mapped[str] = mapped_column(sa.ForeignKey("forms.id"))
    key_hash: Mapped[str] = mapped_column(sa.String(64), unique=True)
    status: Mapped[vocabulary.SessionStatus]
    responder_name: Mapped[str | None] = mapped_column(sa.Text)
    skipped: Mapped[list[str]] = mapped_column(sa.JSON)
    answered: Mapped[dict[str, str]] = mapped_column(sa.JSON, default=dict)
    answer_count: Mapped[int] = mapped_column(default=0)
    suspect: Mapped[bool] = mapped_column(default=False)
    created_at: Mapped[datetime]
    last_active_at: Mapped[datetime]
    completed_stamp: Mapped[int | None] = mapped_column(sa.BigInteger)
    read_stamp: Mapped[int | None] = mapped_column(sa.BigInteger)


class Answer(database.Base):
    """One answer as sent. A correction is a new row; the superseded one is never read again."""

    __tablename__ = "answers"
    __table_args__ = (
        sa.UniqueConstraint("form_id", "stamp"),
        sa.UniqueConstraint("session_id", "answer_key"),
        # by question, newest first; with the word count, so that "usually" reads no text
        sa.Index(
            "ix_answers_of_question",
            "form_id",
            "question_id",
            "superseded",
            "stamp",
            "word_count",
        ),
    )

    id: Mapped[str] = mapped_column(sa.String(40), primary_key=True)
    form_id: Mapped[str] = mapped_column(sa.ForeignKey("forms.id"))
    session_id: Mapped[str] = mapped_column(sa.ForeignKey("response_sessions.id"))
    question_id: Mapped[str] = mapped_column(sa.String(200))
    question_text: Mapped[str] = mapped_column(sa.Text)
    answer_text: Mapped[str] = mapped_column(sa.Text)
    response_type: Mapped[vocabulary.ResponseType]
    question_kind: Mapped[vocabulary.QuestionKind]
    parent_question_id: Mapped[str | None] = mapped_column(sa.String(200))
    answer_key: Mapped[str] = mapped_column(sa.String(64))
    word_count: Mapped[int] = mapped_column(server_default="0")
    superseded: Mapped[bool] = mapped_column(default=False)
    stamp: Mapped[int] = mapped_column(sa.BigInteger)


class Completion(NamedTuple):
    """A completed response before the commit; `stamp` is in milliseconds."""

    form_id: str
    session_id: str
    stamp: int
    answer_count: int
    is_awaited: bool


class AnswerRow(NamedTuple):
    """An answer as read in bulk; `stamp` in milliseconds, enums as plain text."""

    id: str
    session_id: str
    question_id: str
    question_text: str
    answer_text: str
    response_type: str
    question_kind: str
    parent_question_id: str | None
    stamp: int


class SessionRow(NamedTuple):
    """A session as read in bulk; all times in milliseconds since the epoch."""

    id: str
    status: str
    responder_name: str | None
    suspect: bool | int  # 0 or 1 on SQLite
    created_at: int
    last_active_at: int
    completed_stamp: int | None


class AttachmentRow(NamedTuple):
    """The recording of a spoken answer as read in bulk; times in milliseconds."""

    answer_id: str
    id: str
    object_key: str
    media_type: str
    size: int
    duration_ms: int
    created_at: int

    @property
    def name(self) -> str:
        """Return a file name made here, as the client's name for the file is not stored."""
        day = database.from_millis(self.created_at).date().isoformat()
        return f"recording-{day}-{self.id[-6:]}{PurePosixPath(self.object_key).suffix}"


@dataclass(slots=True)
class SessionAnswers:
    """A session with the answers on one page, oldest first."""

    session: SessionRow
    answers: list[AnswerRow] = field(default_factory=list)
    attachments: Mapping[str, AttachmentRow] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)  # read for one person, and for exports


def current_answers(session_ids: Iterable[str]) -> list[AnswerRow]:
    """Return the answers of these sessions that no correction superseded, oldest first."""
    found = database.read_rows(_CURRENT_ANSWERS, sessions=list(session_ids))
    return [AnswerRow._make(row) for row in found]


def count_words(answer_text: str) -> int:
    """Estimate the number of words; in scripts without spaces, 1.7 characters count as one."""
    unspaced = len(_UNSPACED.findall(answer_text))
    return len(_UNSPACED.sub(" ", answer_text).split()) + round(unspaced / 1.7)


def count_bytes(question_text: str, answer_text: str) -> int:
    """Return the bytes that an answer adds to its form's `answer_bytes`."""
    return len((question_text + answer_text).encode("utf-8", "surrogatepass"))


def stored_bytes(session_ids: Collection[str]) -> int:
    """Return the bytes that all answers of these sessions added, superseded ones included."""
    texts = Answer.question_text.concat(Answer.answer_text)
    length = sa.func.length(sa.cast(texts, sa.LargeBinary))  # else SQLite counts characters
    if not database.on_sqlite():
        length = sa.func.octet_length(texts)
    query = sa.select(sa.func.coalesce(sa.func.sum(length), 0)).where(
        Answer.session_id.in_(session_ids)
    )
    return int(database.execute(query).scalar_one())


def session_status(session: SessionRow, now_millis: int) -> vocabulary.SessionStatus:
    """Return the stored status, or `abandoned` after 24 hours without activity."""
    unfinished = session.status != vocabulary.SessionStatus.COMPLETED
    if unfinished and now_millis - session.last_active_at > ABANDONED_AFTER_SECONDS * 1000:
        return vocabulary.SessionStatus.ABANDONED
    return vocabulary.SessionStatus(session.status)


_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")


RAW = {database.UtcDateTime: sa.BigInteger, sa.Enum: sa.String, sa.Boolean: sa.Integer}


def raw_column(column: InstrumentedAttribute[Any]) -> sa.ColumnElement[Any]:
    """Return the stored value without conversion, the main cost of pages with many rows."""
    stored = next((raw for kind, raw in RAW.items() if isinstance(column.type, kind)), None)
    return sa.type_coerce(column, stored).label(column.key) if stored else column.expression


ANSWER_COLUMNS = tuple(raw_column(getattr(Answer, name)) for name in AnswerRow._fields)
SESSION_COLUMNS = tuple(raw_column(getattr(ResponseSession, name)) for name in SessionRow._fields)
_CURRENT_ANSWERS = (
    sa.select(*ANSWER_COLUMNS)
    .where(database.among(Answer.session_id, "sessions"), Answer.superseded.is_(False))
    .order_by(Answer.stamp)
)


class ResponseDeletion(database.Base):
    """One deletion of responses; its row is deleted when all the work is done.

    session_id      the response; null for all responses of the form that look automated and have
                    not changed since `scheduled_at`
    begun_at        when the work began; from then on the deletion cannot be undone
    """

    __tablename__ = "response_deletions"

    id: Mapped[str] = mapped_column(sa.String(40), primary_key=True)
    form_id: Mapped[str] = mapped_column(sa.ForeignKey("forms.id"), index=True)
    session_id: Mapped[str | None] = mapped_column(
        sa.ForeignKey("response_sessions.id"), unique=True
    )
    response_count: Mapped[int]
    scheduled_at: Mapped[datetime] = mapped_column(index=True)
    begun_at: Mapped[datetime | None]


_D, _S = ResponseDeletion, ResponseSession
LOOKS_AUTOMATED = _S.suspect.is_(True)  # spelled as in the index of these sessions
_HIDES = (
    _D.form_id == _S.form_id,
    sa.or_(
        _D.session_id == _S.id,
        sa.and_(_D.session_id.is_(None), LOOKS_AUTOMATED, _S.last_active_at <= _D.scheduled_at),
    ),
)
# a CASE, because PostgreSQL turns a plain EXISTS into a join and may then read all sessions
IS_SHOWN: sa.ColumnElement[bool] = sa.case(
    (sa.exists(sa.select(_D.id).where(*_HIDES).correlate(_S)), False), else_=True
)
