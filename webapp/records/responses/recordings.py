"""Recordings of spoken answers, and the objects to erase from the audio store.

Uploading creates no session: until an answer claims it, a recording belongs to the hash of a
session key and to a question. When its row is deleted for any reason (withdrawal, trash, account
or replacement), a trigger of the table notes the key of its object for erasure, in the same
transaction.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import InstrumentedAttribute, Mapped, mapped_column

from webapp.base import database, vocabulary
from webapp.base.errors import ErrorCode, NotFound
from webapp.records.responses import models
from webapp.records.responses.models import Answer, AttachmentRow, ResponseSession


class Recording(database.Base):
    """One recording; its object is in the audio store before the row is.

    upload_key         made for each recorder, so that a retry is stored once
    session_id         set with `answer_id` by the answer that claims it; a correction moves both
    object_key         in the audio store; the server, not the client, sets media type and size
    transcriber        the host that the page named, "" for none; no other host gets the recording
    levels             the loudness in 64 steps of equal length, each a digit from 0 to 9
    transcript         as transcribed; the respondent may have sent another text
    attempts           at transcription; the next is due at `next_at`, none if that is null
    address_hash       keyed hash of the sender's network; null once an answer has the transcript
    """

    __tablename__ = "recordings"
    __table_args__ = (
        sa.UniqueConstraint("key_hash", "upload_key"),
        # by answer, and by age for those that no answer claimed
        sa.Index("ix_recordings_claimed", "answer_id", "created_at"),
        sa.Index("ix_recordings_session_id", "session_id"),
        sa.Index("ix_recordings_of_question", "form_id", "key_hash", "question_id"),
        sa.Index("ix_recordings_due", "next_at"),
        # for unclaimed recordings
        sa.Index("ix_recordings_of_form", "form_id", "answer_id", "created_at"),
        sa.Index("ix_recordings_of_address", "address_hash", "created_at"),
    )

    id: Mapped[str] = mapped_column(sa.String(40), primary_key=True)
    form_id: Mapped[str] = mapped_column(sa.ForeignKey("forms.id"))
    question_id: Mapped[str] = mapped_column(sa.String(200))
    key_hash: Mapped[str] = mapped_column(sa.String(64))
    upload_key: Mapped[str] = mapped_column(sa.String(64))
    session_id: Mapped[str | None] = mapped_column(sa.ForeignKey("response_sessions.id"))
    answer_id: Mapped[str | None] = mapped_column(sa.ForeignKey("answers.id"))
    object_key: Mapped[str] = mapped_column(sa.String(200), unique=True)
    media_type: Mapped[str] = mapped_column(sa.String(40))
    size: Mapped[int]
    duration_ms: Mapped[int]
    levels: Mapped[str | None] = mapped_column(sa.String(64))
    transcriber: Mapped[str] = mapped_column(sa.String(260), server_default="")
    transcript_state: Mapped[vocabulary.TranscriptState]
    transcript: Mapped[str | None] = mapped_column(sa.Text)
    attempts: Mapped[int] = mapped_column(default=0)
    next_at: Mapped[datetime | None]
    lease_until: Mapped[datetime | None]
    address_hash: Mapped[str | None] = mapped_column(sa.String(64))
    created_at: Mapped[datetime]


class ObjectDeletion(database.Base):
    """An object to erase from the audio store; its row is gone. `noted_at` is in milliseconds."""

    __tablename__ = "object_deletions"

    object_key: Mapped[str] = mapped_column(sa.String(200), primary_key=True)
    noted_at: Mapped[int] = mapped_column(sa.BigInteger)


VOICE = vocabulary.ResponseType.VOICE.value  # plain text, compared with every answer of a page
LATE = "late:"  # prefix of answer keys that no respondent sends, or could send


def late_answer_key(answer_id: str) -> str:
    """Return the key of the late transcript that replaces this answer."""
    return LATE + answer_id


def written_late(answer_key: InstrumentedAttribute[str]) -> sa.ColumnElement[bool]:
    """Return the condition that an answer is a late transcript, unseen by its respondent."""
    return answer_key.startswith(LATE, autoescape=True)


def replaced_by_late(answer_key: InstrumentedAttribute[str]) -> sa.ColumnElement[str]:
    """Return the id of the answer that a late transcript replaced."""
    return sa.func.substr(answer_key, len(LATE) + 1)


def spoken_ids(answers: Iterable[Any]) -> list[str]:
    """Return the ids of the answers that were given with a recording; rows may lack an answer."""
    return [each.id for each in answers if each.response_type == VOICE and each.id]


def attachments_of(answers: Iterable[Any]) -> dict[str, AttachmentRow]:
    """Return recordings by the id of their answer; run no statement if all were typed."""
    ids = spoken_ids(answers)
    rows = database.read_rows(_ATTACHMENTS, answers=ids) if ids else ()
    return {row.answer_id: AttachmentRow._make(row) for row in rows}


def claimed_bytes(deleted: Iterable[sa.Row[int, str | None]]) -> int:
    """Return the share of deleted recordings in `answer_bytes`; rows have `size`, `answer_id`."""
    return sum(row.size for row in deleted if row.answer_id)


def find_attachment(form_id: str, attachment_id: str, *, shown_only: bool = False) -> AttachmentRow:
    """Return the recording of a current answer to this form.

    shown_only  refuse that of a response which its creator has deleted, as pages do
    """
    query = _SHOWN_ATTACHMENT if shown_only else _ATTACHMENT
    rows = database.read_rows(query, form_id=form_id, attachment_id=attachment_id)
    if not rows:
        raise NotFound(
            ErrorCode.NOT_FOUND,
            "There is no attachment with this attachmentId in this form; it may have been replaced "
            "or withdrawn.",
            "Use the id of an attachment that reading responses returned.",
        )
    return AttachmentRow._make(rows[0])


_COLUMNS = tuple(models.raw_column(getattr(Recording, name)) for name in AttachmentRow._fields)
_ATTACHMENTS = sa.select(*_COLUMNS).where(database.among(Recording.answer_id, "answers"))
_ATTACHMENT = (
    sa.select(*_COLUMNS)
    .join(Answer, Answer.id == Recording.answer_id)
    .where(
        Recording.id == sa.bindparam("attachment_id"),
        Recording.form_id == sa.bindparam("form_id"),
        Answer.superseded.is_(False),
    )
)
_SHOWN_ATTACHMENT = _ATTACHMENT.join(
    ResponseSession, ResponseSession.id == Answer.session_id
).where(models.IS_SHOWN)

_NOTED = "INSERT INTO object_deletions (object_key, noted_at) VALUES (old.object_key, {now})"
NOTE_ON_SQLITE = (
    "CREATE TRIGGER recordings_deleted AFTER DELETE ON recordings BEGIN "
    + _NOTED.format(now="CAST(strftime('%s', 'now') AS INTEGER) * 1000")
    + "; END"
)
NOTE_ON_POSTGRESQL = (
    "CREATE OR REPLACE FUNCTION note_object_deletion() RETURNS trigger LANGUAGE plpgsql "
    "AS $$ BEGIN "
    + _NOTED.format(now="CAST(EXTRACT(epoch FROM clock_timestamp()) * 1000 AS BIGINT)")
    + "; RETURN NULL; END $$",
    "CREATE TRIGGER recordings_deleted AFTER DELETE ON recordings "
    "FOR EACH ROW EXECUTE FUNCTION note_object_deletion()",
)


def _note_on(dialect: str, *statements: str) -> None:
    for statement in statements:
        made: Any = sa.DDL(statement)  # type: ignore[no-untyped-call]
        sa.event.listen(Recording.__table__, "after_create", made.execute_if(dialect=dialect))


_note_on("sqlite", NOTE_ON_SQLITE.replace("%", "%%"))
_note_on("postgresql", *NOTE_ON_POSTGRESQL)
