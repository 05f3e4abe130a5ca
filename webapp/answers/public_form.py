"""What respondents may see: the public part of a form and their progress in it."""

from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import PurePosixPath
from typing import NamedTuple, cast

from sqlalchemy import Label, and_, bindparam, exists, select

from webapp.base.database import from_millis, read_rows
from webapp.base.error_codes import ErrorCode
from webapp.base.errors import NotFound, Phrase
from webapp.base.limits import FORM_BYTES_MAX
from webapp.base.text import token_hash
from webapp.base.vocabulary import (
    FollowUpMode,
    FormStatus,
    ResponseLimit,
    ResponseMode,
    SessionStatus,
    TranscriptState,
)
from webapp.follow_ups.rules import most_asked
from webapp.records.accounts.models import Account
from webapp.records.content.model import (
    AnyContent,
    ContentRow,
    QuestionRow,
    asks_follow_ups,
    form_settings,
    most_questions,
)
from webapp.records.follow_ups import AskedFollowUp, read_follow_ups
from webapp.records.forms import Form, is_full, shared_form
from webapp.records.languages import language_of_content, language_of_shared
from webapp.records.responses.models import Answer, ResponseSession
from webapp.records.responses.recordings import Recording


@dataclass(frozen=True, slots=True)
class RespondentForm:
    """The public columns of a form: never goal or private context."""

    share_token: str
    title: str
    questions: list[QuestionRow] = field(hash=False)
    status: FormStatus
    response_limit: ResponseLimit
    asker: str
    closed_at: datetime | None
    frame_origins: str
    records_voice: bool
    response_mode: ResponseMode
    transcriber: str  # the host that writes recordings down, "" for none
    follow_up_mode: FollowUpMode
    follow_up_writer: str  # the model and its host that were named to its creator, "" for the rules
    organisation: str  # of who asks, "" for none
    accent: str
    picture: str  # its digest
    reason: str | None  # why they ask, in one line
    most_questions: int  # that one respondent is asked where a model writes
    most_without_model: int
    is_full: bool  # no room for new sessions; what is left is for those that have begun


class RecordingShown(NamedTuple):
    """A recording as its respondent knows it, besides its key in the audio store.

    levels   the loudness in 64 steps of equal length, each a digit; None until it was looked at
    claimed  it is part of an answer
    """

    id: str
    question_id: str
    object_key: str
    media_type: str
    size: int
    duration_ms: int
    levels: str | None
    transcript_state: TranscriptState
    transcript: str | None
    claimed: bool

    @property
    def name(self) -> str:
        """A file name of ours."""
        return self.id + PurePosixPath(self.object_key).suffix

    @property
    def seconds(self) -> int:
        """Its length, rounded up."""
        return -(-self.duration_ms // 1000)


@dataclass(frozen=True, slots=True)
class Progress:
    """A respondent's current answers by question id; not `started` if nothing is stored.

    follow_ups  all that were asked, dropped ones included
    recordings  those of the current answers, by question id
    uploads     the newest of each question that no answer has claimed; also before the session
                has started
    """

    texts: dict[str, str]
    skipped: frozenset[str] = frozenset()
    started: bool = True
    completed_at: datetime | None = None
    responder_name: str | None = None
    follow_ups: tuple[AskedFollowUp, ...] = ()
    recordings: dict[str, RecordingShown] = field(default_factory=dict)
    uploads: dict[str, RecordingShown] = field(default_factory=dict)

    @property
    def settled(self) -> frozenset[str]:
        """Ids of the questions answered or skipped."""
        return self.skipped | self.texts.keys()


NOTHING_YET = Progress({}, started=False)


def has_recordings() -> Label[bool]:
    """A column: whether any were uploaded under `:key_hash`."""
    uploaded = exists().where(Recording.key_hash == bindparam("key_hash"))
    return uploaded.label("has_recordings")


SHOWN_COLUMNS = (
    *(Recording.__table__.c[name] for name in RecordingShown._fields[:-1]),
    Recording.answer_id.is_not(None).label("claimed"),
)
_FORM = (
    select(
        Form.share_token,
        Form.title,
        Form.questions,
        Form.status,
        Form.response_limit,
        Account.name.label("asker"),
        Form.closed_at,
        Form.frame_origins,
        Form.records_voice,
        Form.response_mode,
        Form.transcriber,
        Form.follow_up_mode,
        Form.follow_up_writer,
        Form.asker_organisation,
        Form.asker_accent,
        Form.asker_picture,
        Form.public_reason,
        Form.answer_bytes,
        Form.followups_given,
        Form.max_total_questions,
    )
    .join(Account, Account.id == Form.account_id)
    .where(shared_form(bindparam("share_token")))
)
# one statement, outside of the session: with two inside of it, the requests for an answer with the
# next page take a third more CPU time
_PROGRESS = (
    select(
        ResponseSession.id,
        ResponseSession.status,
        ResponseSession.skipped,
        ResponseSession.completed_stamp,
        ResponseSession.responder_name,
        Answer.question_id,
        Answer.answer_text,
        has_recordings(),
    )
    .join(Form, Form.id == ResponseSession.form_id)
    .outerjoin(Answer, and_(Answer.session_id == ResponseSession.id, Answer.superseded.is_(False)))
    .where(
        ResponseSession.key_hash == bindparam("key_hash"),
        shared_form(bindparam("share_token")),
    )
)
_RECORDINGS = (
    select(*SHOWN_COLUMNS)
    .join(Form, Form.id == Recording.form_id)
    .where(Recording.key_hash == bindparam("key_hash"), shared_form(bindparam("share_token")))
    .order_by(Recording.created_at, Recording.id)
)


def most_asked_with(writer: str, content: AnyContent) -> int:
    """How many questions one respondent can be asked; `writer` is a model, "" for the rules."""
    if writer or not asks_follow_ups(content):
        return most_questions(content)
    return most_asked(content.questions, language_of_content(content), form_settings(content))


def get_public_form(share_token: str, *, form_bytes_max: int = FORM_BYTES_MAX) -> RespondentForm:
    """The form behind a public link, whatever its status; raises NotFound `not_found`."""
    found = read_rows(_FORM, share_token=share_token)
    if not found:
        raise no_public_form()
    *shown, answer_bytes, _, _ = found[0]
    form = cast(ContentRow, found[0])  # it has what caps and language come from
    most = ruled = most_questions(form)
    if asks_follow_ups(form):
        language = language_of_shared(share_token, form.questions)
        ruled = most_asked(form.questions, language, form_settings(form))
    values = [*shown, most, ruled, is_full(answer_bytes, form_bytes_max)]
    return RespondentForm(*values)


def read_progress(
    share_token: str, session_key: str, *, may_record: bool = True, follow_ups: bool = True
) -> Progress:
    """What is stored under this key for this form; NOTHING_YET for a key of another form.

    may_record  False if the key cannot have recordings before a session, or nobody asks for them
    follow_ups  False if the form asks none, or nobody wants to know
    """
    keys = {"share_token": share_token, "key_hash": token_hash(session_key)}
    found = read_rows(_PROGRESS, **keys)
    any_recorded = found[0].has_recordings if found else may_record
    recorded = read_rows(_RECORDINGS, **keys) if any_recorded else []
    shown = list(map(RecordingShown._make, recorded))
    uploads = {each.question_id: each for each in shown if not each.claimed}
    if not found:
        return replace(NOTHING_YET, uploads=uploads)
    session = found[0]
    completed = session.status is SessionStatus.COMPLETED
    return Progress(
        {row.question_id: row.answer_text for row in found if row.question_id is not None},
        frozenset(session.skipped),
        completed_at=from_millis(session.completed_stamp) if completed else None,
        responder_name=session.responder_name,
        follow_ups=tuple(read_follow_ups(session.id)) if follow_ups else (),
        recordings={each.question_id: each for each in shown if each.claimed},
        uploads=uploads,
    )


def no_public_form() -> NotFound:
    """The outcome for a share token that no form has."""
    return NotFound(
        ErrorCode.NOT_FOUND, Phrase("There is no form at this address."), Phrase("Check the link.")
    )
