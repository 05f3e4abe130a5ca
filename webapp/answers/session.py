"""The state of a form and of one respondent's session with it, read once per request; its steps.

A write succeeds only if the session is unchanged since it was read: each state has its own
`last_active_at`. Rows are locked in a fixed order: session, then form.
"""

import hashlib
import re
from collections import defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any, NamedTuple, Self, cast

from sqlalchemy import BigInteger, Connection, bindparam, exists, select, type_coerce, update

from webapp.base import vocabulary
from webapp.base.config import settings
from webapp.base.database import db, from_millis, new_id, note_change, read_rows, to_millis
from webapp.base.database.prepared_statements import all_rows
from webapp.base.errors import ErrorCode, NotFound, Outcome, PageCode, Phrase, StateConflict
from webapp.base.text import token_hash
from webapp.follow_ups.rules import Exchange, Thread, most_asked, most_prepared
from webapp.records.accounts.models import Account
from webapp.records.content import model as content
from webapp.records.content.model import Content, PreparedFollowUp, QuestionRow
from webapp.records.follow_ups import AskedFollowUp, read_follow_ups
from webapp.records.forms import Form, is_full, shared_form
from webapp.records.languages import language_of_content, language_of_shared
from webapp.records.responses.models import Answer, ResponseSession
from webapp.records.responses.recordings import Recording

VERSION_CHARS = 16  # 64 bits
_PATH = re.compile(r"([1-9]\d{0,2})(?:/f/([1-9]\d?))?", re.ASCII)


class QuestionNumber(NamedTuple):
    """The position of a question; positions are ordered as questions are asked."""

    number: int
    follow_up: int = 0

    @property
    def path(self) -> str:
        return f"{self.number}/f/{self.follow_up}" if self.follow_up else str(self.number)


START = QuestionNumber(0)  # before the first question


class Step(NamedTuple):
    """One question that a respondent is asked."""

    place: QuestionNumber
    question_id: str
    text: str
    hint: str | None = None
    asked: AskedFollowUp | None = None


def read_place(path: str) -> QuestionNumber | None:
    """Parse a path that `QuestionNumber.path` wrote; return None if it is malformed."""
    found = _PATH.fullmatch(path)
    return QuestionNumber(int(found[1]), int(found[2] or 0)) if found else None


@dataclass(frozen=True)
class Steps:
    """The questions that one respondent is asked, and which are settled."""

    questions: Sequence[QuestionRow]
    follow_ups: Sequence[AskedFollowUp]
    answered: Container[str]
    skipped: Container[str]

    @cached_property
    def in_order(self) -> list[Step]:
        """All steps in order; a dropped follow-up is one of them only if it has an answer."""
        return [
            step
            for number, question in enumerate(self.questions, start=1)
            for step in (_scripted(number, question), *self._follow_ups(number, question["id"]))
        ]

    def at(self, place: QuestionNumber) -> Step | None:
        """Return the question at a place, even a dropped one; None if it was never asked."""
        if not 0 < place.number <= len(self.questions):
            return None
        question = self.questions[place.number - 1]
        if not place.follow_up:
            return _scripted(place.number, question)
        found = (each for each in self.asked_after(question["id"]) if each.depth == place.follow_up)
        return next((_follow_up(place.number, each) for each in found), None)

    def next_place(self, after: QuestionNumber = START) -> QuestionNumber | None:
        """Return the next open question after a place, else the first; None if none is open."""
        unsettled = [
            step.place
            for step in self.in_order
            if step.question_id not in self.answered and step.question_id not in self.skipped
        ]
        following = (place for place in unsettled if place > after)
        return next(following, unsettled[0] if unsettled else None)

    def place_before(self, place: QuestionNumber) -> QuestionNumber | None:
        return max((step.place for step in self.in_order if step.place < place), default=None)

    def asked_after(self, question_id: str) -> Sequence[AskedFollowUp]:
        return self._by_parent.get(question_id, ())

    def has_answered_follow_ups(self, step: Step) -> bool:
        return any(each.id in self.answered for each in self.asked_after(step.question_id))

    @cached_property
    def _by_parent(self) -> Mapping[str, Sequence[AskedFollowUp]]:
        found: dict[str, list[AskedFollowUp]] = defaultdict(list)
        for each in self.follow_ups:
            found[each.parent_question_id].append(each)
        return found

    def _follow_ups(self, number: int, question_id: str) -> Iterator[Step]:
        for each in self.asked_after(question_id):
            if not each.dropped or each.id in self.answered:
                yield _follow_up(number, each)

    def thread(
        self,
        mode: vocabulary.FollowUpMode,
        place: QuestionNumber,
        texts: Mapping[str, str],
        *,
        language: str,
    ) -> Thread:
        parent = self.questions[place.number - 1]
        of_parent = self.asked_after(parent["id"])
        asked = (each for each in of_parent if each.depth <= place.follow_up)
        said = [(parent["id"], parent["text"]), *((each.id, each.question_text) for each in asked)]
        return Thread(
            mode,
            tuple(Exchange(text, texts[id_]) for id_, text in said if id_ in texts),
            questions=(
                *(question["text"] for question in self.questions),
                *(each.question_text for each in self.follow_ups),
            ),
            written=tuple(each.question_text for each in self.follow_ups if each.by_model),
            hints=tuple(question.get("context", "") for question in self.questions),
            corrected=any(each.dropped for each in of_parent),
            prepared=_left(mode, parent, of_parent),
            built_in_asked=any(not each.writer for each in self.follow_ups),
            depth=len(of_parent),
            language=language,
        )


def _scripted(number: int, question: QuestionRow) -> Step:
    return Step(QuestionNumber(number), question["id"], question["text"], question.get("context"))


def _follow_up(number: int, asked: AskedFollowUp) -> Step:
    return Step(QuestionNumber(number, asked.depth), asked.id, asked.question_text, asked=asked)


def _left(
    mode: vocabulary.FollowUpMode, parent: QuestionRow, asked: Sequence[AskedFollowUp]
) -> tuple[PreparedFollowUp, ...]:
    """Return the prepared follow-ups that are left, none once the announced number was asked."""
    prepared = parent.get("follow_ups", ())
    texts = {each.question_text for each in asked}
    left = tuple(each for each in prepared if each["text"] not in texts)
    return left if len(prepared) - len(left) < most_prepared(mode, prepared) else ()


@dataclass(frozen=True, slots=True)
class RespondentForm:
    """The public columns of a form: never goal or private context."""

    id: str
    share_token: str
    title: str
    questions: list[QuestionRow] = field(hash=False)
    status: vocabulary.FormStatus
    response_limit: vocabulary.ResponseLimit
    closed_at: datetime | None
    frame_origins: str
    records_voice: bool
    response_mode: vocabulary.ResponseMode
    transcriber: str  # host that transcribes recordings, "" for none
    follow_up_mode: vocabulary.FollowUpMode
    follow_up_writer: str  # model and host shown to the creator, "" for the rules
    followups_given: int | None  # most per question; None: the default of the mode
    max_total_questions: int | None
    asker_organisation: str  # "" for none
    asker_accent: str
    asker_picture: str  # digest
    public_reason: str | None  # why the asker asks, in one line
    asker: str
    is_full: bool  # takes no new sessions; the remaining bytes are for those that have begun

    @property
    def may_record(self) -> bool:
        return self.records_voice and self.response_mode is not vocabulary.ResponseMode.TEXT_ONLY

    @property
    def asks_follow_ups(self) -> bool:
        return self.follow_up_mode is not vocabulary.FollowUpMode.NONE


class RecordingShown(NamedTuple):
    """A recording as shown to its respondent, with its key in the audio store."""

    id: str
    question_id: str
    object_key: str
    media_type: str
    size: int
    duration_ms: int
    levels: str | None
    transcript_state: vocabulary.TranscriptState
    transcript: str | None
    claimed: bool

    @property
    def name(self) -> str:
        return self.id + PurePosixPath(self.object_key).suffix

    @property
    def seconds(self) -> int:
        return -(-self.duration_ms // 1000)


@dataclass(frozen=True)
class RespondentSession:
    """The state of a respondent at a form; texts, follow-ups and recordings are read lazily.

    id              provisional until something is stored
    last_active_at  milliseconds, unique for each state; 0 if nothing is stored
    is_foreign      its key belongs to a session with another form
    """

    form: RespondentForm
    key_hash: str
    id: str
    skipped: list[str] = field(default_factory=list)
    answered: dict[str, str] = field(default_factory=dict)
    completed_stamp: int | None = None
    responder_name: str | None = None
    last_active_at: int = 0
    has_recordings: bool = False
    is_foreign: bool = False

    @property
    def started(self) -> bool:
        return self.last_active_at > 0

    @property
    def completed_at(self) -> datetime | None:
        return None if self.completed_stamp is None else from_millis(self.completed_stamp)

    @cached_property
    def texts(self) -> Mapping[str, str]:
        found = read_rows(_TEXTS, session=self.id) if self.answered else ()
        return {row.question_id: row.answer_text for row in found}

    @cached_property
    def follow_ups(self) -> Sequence[AskedFollowUp]:
        """All follow-up questions that were asked, including dropped ones."""
        return read_follow_ups(self.id) if self.started and self.form.asks_follow_ups else ()

    @cached_property
    def steps(self) -> Steps:
        return Steps(self.form.questions, self.follow_ups, self.answered, self.skipped)

    @cached_property
    def recordings(self) -> Mapping[str, RecordingShown]:
        return {each.question_id: each for each in self.recorded if each.claimed}

    @cached_property
    def uploads(self) -> Mapping[str, RecordingShown]:
        """The newest unclaimed recording of each question, also from before the session began."""
        return {each.question_id: each for each in self.recorded if not each.claimed}

    @cached_property
    def recorded(self) -> Sequence[RecordingShown]:
        keys = {"key_hash": self.key_hash, "form_id": self.form.id}
        found = read_rows(_RECORDINGS, **keys) if self.has_recordings else ()
        return list(map(RecordingShown._make, found))

    def version(self, question_id: str) -> str:
        recording = self.recordings.get(question_id)
        return version_of(self.texts.get(question_id), recording.id if recording else None)

    def asked_step(self, place: QuestionNumber) -> Step:
        """Return a question that this respondent is or was asked, even if it was dropped."""
        follow_ups = self.follow_ups if place.follow_up else ()
        steps = Steps(self.form.questions, follow_ups, self.answered, self.skipped)
        if found := steps.at(place):
            return found
        raise NotFound(
            ErrorCode.NOT_FOUND, "This question was not asked.", "Answer those that the form asks."
        )

    def changed(self, now: datetime, **changes: Any) -> Self:
        """Return the next state; texts, follow-ups and recordings are read again."""
        active = max(to_millis(now), self.last_active_at + 1)
        return replace(self, last_active_at=active, **changes)

    def with_parts(self, **parts: object) -> Self:
        copy = replace(self)
        copy.__dict__.update(parts)
        return copy

    def recording_keys(self, question_id: str) -> dict[str, str]:
        return {"key_hash": self.key_hash, "form_id": self.form.id, "question_id": question_id}


class LockedSession(NamedTuple):
    """The locked row of a stored session; `completed_stamp` is None until it is completed."""

    session_id: str
    form_id: str
    key_hash: str
    skipped: list[str]
    answered: dict[str, str]
    completed_stamp: int | None


_S = ResponseSession
LOCKED_COLUMNS = (
    _S.id.label("session_id"),
    *(_S.form_id, _S.key_hash, _S.skipped, _S.answered, _S.completed_stamp),
)
RECORDING_COLUMNS = (
    *(Recording.__table__.c[name] for name in RecordingShown._fields[:-1]),
    Recording.answer_id.is_not(None).label("claimed"),
)
_FORM_COLUMNS = (
    *(getattr(Form, each.name) for each in fields(RespondentForm)[:-2]),
    *(Account.name.label("asker"), Form.answer_bytes),
)
_FORM = (
    select(*_FORM_COLUMNS)
    .join(Account, Account.id == Form.account_id)
    .where(shared_form(bindparam("share_token")))
)
# one statement for both, even if the key has no session, or one with another form: with three
# statements, the form of a first answer takes twice the CPU time on PostgreSQL
_SESSION = _FORM.add_columns(
    _S.form_id.label("form_of_key"),
    *(_S.id.label("session_id"), _S.skipped, _S.answered, _S.completed_stamp, _S.responder_name),
    type_coerce(_S.last_active_at, BigInteger).label("last_active_at"),
    exists().where(Recording.key_hash == bindparam("key_hash")).label("has_recordings"),
).outerjoin(_S, _S.key_hash == bindparam("key_hash"))
_TEXTS = select(Answer.question_id, Answer.answer_text).where(
    Answer.session_id == bindparam("session"), Answer.superseded.is_(False)
)
_RECORDINGS = (
    select(*RECORDING_COLUMNS)
    .where(Recording.key_hash == bindparam("key_hash"), Recording.form_id == bindparam("form_id"))
    .order_by(Recording.created_at, Recording.id)
)
_LOCKED = (
    select(*LOCKED_COLUMNS)
    .join(Form, Form.id == _S.form_id)
    .where(shared_form(bindparam("share_token")), _S.key_hash == bindparam("key_hash"))
    .with_for_update(of=_S)
)
_STATUS = select(Form.status, Form.answer_bytes).where(
    Form.id == bindparam("form"), Form.deleted_at.is_(None)
)


def read_form(share_token: str) -> RespondentForm:
    """Return the form behind a public link, whatever its status; raises NotFound `not_found`."""
    found = read_rows(_FORM, share_token=share_token)
    if not found:
        raise _no_public_form()
    return _form_of(found[0])


def read_session(share_token: str, session_key: str) -> RespondentSession:
    """Return the session of this key, or a new one; raises NotFound for an unknown form."""
    key_hash = token_hash(session_key)
    found = read_rows(_SESSION, share_token=share_token, key_hash=key_hash)
    if not found:
        raise _no_public_form()
    form = _form_of(found[0])
    form_of_key, *stored = found[0][len(_FORM_COLUMNS) :]
    if form_of_key == form.id:
        return RespondentSession(form, key_hash, *stored)
    return replace(
        new_session(form, session_key),
        has_recordings=stored[-1],
        is_foreign=form_of_key is not None,
    )


def new_session(form: RespondentForm, session_key: str) -> RespondentSession:
    """Return a session of which nothing is stored yet."""
    return RespondentSession(form, token_hash(session_key), new_id("ses"))


def read_open_session(share_token: str, session_key: str) -> RespondentSession:
    """Return the session; raises NotFound, or StateConflict if it is sent or may not begin."""
    session = read_session(share_token, session_key)
    if session.is_foreign:
        raise _no_public_form()
    if session.completed_stamp is not None:
        raise StateConflict(
            PageCode.RESPONSE_COMPLETED,
            Phrase("These answers are sent already."),
            Phrase("Start another response to say more."),
        )
    if not session.started and session.form.status is not vocabulary.FormStatus.PUBLISHED:
        raise not_open(session.form.status)
    return session


def lock_session(
    connection: Connection, share_token: str, session_key: str
) -> LockedSession | None:
    """Lock and return the session of this key; None if nothing is stored under it yet."""
    keys = {"share_token": share_token, "key_hash": token_hash(session_key)}
    found = all_rows(connection, _LOCKED, keys)
    return LockedSession._make(found[0]) if found else None


def version_of(text: str | None, recording_id: str | None) -> str:
    """Return a hash that identifies this version of an answer; "" if there is no answer."""
    if text is None:
        return ""
    return hashlib.sha256(f"{recording_id or ''} {text}".encode()).hexdigest()[:VERSION_CHARS]


def most_asked_with(writer: str, of: Content | RespondentForm) -> int:
    """Return the most questions one respondent can be asked; `writer`: a model, "" for rules."""
    row = cast(Content, of)  # a shared form has the columns that the caps come from
    if writer or not content.asks_follow_ups(row):
        return content.most_questions(row)
    if isinstance(of, RespondentForm):
        language = language_of_shared(of.share_token, of.questions)
    else:
        language = language_of_content(of)
    return most_asked(of.questions, language, content.form_settings(row))


def change_form(form_id: str, values: Mapping[str, object]) -> None:
    """Update the counters of a form whose session the caller has locked."""
    note_change(form_id)
    db.session.execute(
        update(Form)
        .where(Form.id == form_id)
        .values(values)
        .execution_options(synchronize_session=False)
    )


def refusal(form_id: str, *, more_bytes: int = 0) -> Outcome | None:
    """Return why a form takes no answer of this size; None if it takes one."""
    found = read_rows(_STATUS, form=form_id)
    if not found:
        return _no_public_form()
    form = found[0]
    if form.status is not vocabulary.FormStatus.PUBLISHED:
        return not_open(form.status)
    if form.answer_bytes + more_bytes <= settings().limit_form_bytes:
        return None
    return StateConflict(
        PageCode.FORM_FULL,
        Phrase("This form has no room for more answers."),
        Phrase(
            "Your words are still here: copy them, and tell whoever sent you the link. "
            "Anything you saved before is safe, and you can still send it."
        ),
    )


def not_open(status: str | None) -> StateConflict:
    """Return the error for a form that takes no answers, by its status."""
    copy = Phrase("Copy what you wrote if you want to keep it.")
    if status == vocabulary.FormStatus.COMPLETED:
        return StateConflict(
            PageCode.FORM_COMPLETED, Phrase("This form has already been answered."), copy
        )
    return StateConflict(PageCode.FORM_CLOSED, Phrase("This form takes no more answers."), copy)


def _no_public_form() -> NotFound:
    return NotFound(ErrorCode.NOT_FOUND, "There is no form at this address.", "Check the link.")


def _form_of(row: Sequence[Any]) -> RespondentForm:
    *shown, answer_bytes = row[: len(_FORM_COLUMNS)]
    return RespondentForm(*[*shown, is_full(answer_bytes, settings().limit_form_bytes)])
