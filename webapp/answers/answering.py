"""The actions of respondents: answer, skip, complete and withdraw."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from webapp.answers import answer_writes as writes
from webapp.answers.answer_statements import SUPERSEDE, TAKE_BACK
from webapp.answers.answer_writes import NewAnswer
from webapp.answers.deleted_responses import delete_sessions
from webapp.answers.session import (
    RespondentSession,
    change_form,
    lock_session,
    not_open,
    read_form,
    read_open_session,
    read_session,
    refusal,
)
from webapp.answers.steps import QuestionNumber, Step
from webapp.base.config import settings
from webapp.base.database import core_transaction, execute, write_transaction
from webapp.base.errors import InvalidInput, PageCode, Phrase, StateConflict
from webapp.base.text import in_one_line
from webapp.base.vocabulary import FormStatus
from webapp.events.outbox import queue_deliveries
from webapp.records.forms import Form
from webapp.records.responses.counters import QuestionCounts, count_questions
from webapp.records.responses.models import ANSWER_MAX_CHARS, SPOKEN_ANSWER_MAX_CHARS
from webapp.records.responses.recordings import claimed_bytes

ANSWER_MIN_SECONDS = 2  # per answer: people do not read, type and continue faster
RESPONDER_NAME_MAX_CHARS = 80


@dataclass(frozen=True, slots=True)
class Signs:
    """Evidence of how a respondent's page was used.

    begun_at         when the first page of this session was rendered; None for an unsigned key
    honeypot_filled  the field that people neither see nor reach has a value
    """

    begun_at: datetime | None
    honeypot_filled: bool = False

    def looks_automated(self, answers: int, now: datetime) -> bool:
        if self.honeypot_filled or self.begun_at is None:
            return True
        return now - self.begun_at < timedelta(seconds=ANSWER_MIN_SECONDS * answers)


def require_answer(answer_text: str, *, spoken: bool) -> None:
    """Raise InvalidInput `answer_empty` or `answer_too_long`; a spoken one may be empty."""
    if not spoken and not answer_text.strip():
        raise InvalidInput(
            PageCode.ANSWER_EMPTY,
            Phrase("There is no answer yet."),
            Phrase("Write one, or skip the question."),
            field="answer",
        )
    most = SPOKEN_ANSWER_MAX_CHARS if spoken else ANSWER_MAX_CHARS
    if len(answer_text) > most:
        raise InvalidInput(
            PageCode.ANSWER_TOO_LONG,
            Phrase("The answer is longer than %(limit)s characters.", limit=most),
            Phrase("Shorten it; nothing you wrote is lost."),
            field="answer",
        )


def clean_name(name: str) -> str | None:
    """Return the name in one line; None if empty. raises InvalidInput `name_too_long`"""
    name = in_one_line(name)
    if len(name) > RESPONDER_NAME_MAX_CHARS:
        raise InvalidInput(
            PageCode.NAME_TOO_LONG,
            Phrase(
                "The name is longer than %(limit)s characters.",
                limit=RESPONDER_NAME_MAX_CHARS,
            ),
            Phrase("Shorten it or leave it out."),
            field="name",
        )
    return name or None


class Answered(NamedTuple):
    """The session with an answer; `is_new` is False if the answer was stored before."""

    session: RespondentSession
    is_new: bool


def answer_question(  # noqa: PLR0913 - a value of the request each
    share_token: str,
    session_key: str,
    *,
    position: int,
    answer_text: str,
    answer_key: str,
    now: datetime,
    follow_up: int = 0,
    recording_id: str = "",
    blank: bool = False,
    replaces: str | None = None,
    signs: Signs | None = None,
) -> Answered:
    """Store one answer durably; a repeat of `answer_key`, or of the current answer, stores nothing.

    An answer without a recording deletes the question's earlier recording and uploads.

    position      0-based index of the scripted question
    follow_up     number of the follow-up, from 1; 0 for the scripted question itself
    answer_key    generated for each rendered question, so that a retry is stored once
    recording_id  id of an upload to this question or of its answer's recording; "" if typed
    blank         the page showed no words of this recording, so an empty text removes none
    replaces      `version_of` the answer that the page showed; None replaces any
    signs         how the page was used: flags the session if it looks automated
    raises        NotFound; StateConflict `form_closed`, `form_completed`, `response_completed`,
                  `form_full`, `answer_differs` (this key stored another), `answer_newer` (the page
                  showed an older one); InvalidInput as `require_answer`, `recording_unknown`
    """
    require_answer(answer_text, spoken=bool(recording_id))
    while True:
        state = read_open_session(share_token, session_key)
        step = state.asked_step(QuestionNumber(position + 1, follow_up))
        parent = step.asked.parent_question_id if step.asked else None
        answer = NewAnswer(
            step.question_id, step.text, answer_text, answer_key, recording_id, parent
        )
        if writes.is_unchanged(state, answer, blank=blank, replaces=replaces):
            return Answered(state, is_new=False)
        reached = len(state.answered.keys() | {step.question_id})
        suspect = signs is not None and signs.looks_automated(reached, now)
        if stored := writes.store_answer(state, answer, now=now, suspect=suspect):
            return Answered(stored, is_new=True)
        if writes.is_repeat(state, answer):
            return Answered(read_session(share_token, session_key), is_new=False)


def skip_question(
    share_token: str,
    session_key: str,
    *,
    position: int,
    now: datetime,
    follow_up: int = 0,
    replaces: str | None = None,
) -> RespondentSession:
    """Skip a question and take back its answer and those to its follow-ups; idempotent."""
    while True:
        state = read_open_session(share_token, session_key)
        if state.form.status is not FormStatus.PUBLISHED:
            raise not_open(state.form.status)
        step = state.asked_step(QuestionNumber(position + 1, follow_up))
        writes.require_shown(state, step.question_id, replaces)
        if after := _skip(state, step, now):
            return after


def _skip(state: RespondentSession, step: Step, now: datetime) -> RespondentSession | None:
    taken = {step.question_id, *(each.id for each in state.steps.asked_after(step.question_id))}
    after = state.changed(
        now,
        skipped=[*(each for each in state.skipped if each not in taken), step.question_id],
        answered={key: value for key, value in state.answered.items() if key not in taken},
    )
    with write_transaction() as connection:
        if not writes.write_progress(connection, state, after, now=now):
            return None
        changes = {
            "started_count": int(not state.started),
            "answered_count": -int(bool(state.answered) and not after.answered),
            "answer_bytes": -_take_back(state, taken),
        }
        if any(changes.values()):
            change_form(state.form.id, {k: getattr(Form, k) + n for k, n in changes.items()})
        if not step.asked:  # follow-ups have no counters
            answered, skipped = (
                step.question_id in each for each in (state.answered, state.skipped)
            )
            change = QuestionCounts(-int(answered), int(not skipped))
            count_questions(state.form.id, {step.question_id: change})
    return after


def _take_back(state: RespondentSession, taken: set[str]) -> int:
    freed = 0
    for question_id in sorted(taken):
        if question_id in state.answered:
            execute(SUPERSEDE, earlier=state.answered[question_id])
        if state.has_recordings:
            freed += claimed_bytes(execute(TAKE_BACK, **state.recording_keys(question_id)))
    return freed


def complete_response(
    share_token: str,
    session_key: str,
    *,
    responder_name: str,
    now: datetime,
    signs: Signs | None = None,
) -> list[str] | None:
    """Complete the response and queue its event, if this server sends events.

    returns  the ids of the queued deliveries; None if the response is complete already
    raises   NotFound; StateConflict `form_closed`, `form_completed`, `nothing_answered`;
             InvalidInput `name_too_long`
    """
    name = clean_name(responder_name)
    with core_transaction() as connection:
        session = lock_session(connection, share_token, session_key)
        if session is None:
            read_form(share_token)
        elif session.completed_stamp is not None:
            return None
        if session is None or not session.answered:
            raise StateConflict(
                PageCode.NOTHING_ANSWERED,
                Phrase("Nothing is answered yet."),
                Phrase("Answer at least one question."),
            )
        suspect = signs is not None and signs.looks_automated(len(session.answered), now)
        done = writes.store_completion(
            connection, session, responder_name=name, suspect=suspect, now=now
        )
        if done is None:
            raise refusal(session.form_id) or not_open(FormStatus.CLOSED)
        return queue_deliveries(connection, done, now=now) if settings().mcp_events_enabled else []


def withdraw_response(share_token: str, session_key: str, *, now: datetime) -> bool:
    """Delete the session of this key with `delete_sessions`; return False if there is none."""
    with write_transaction() as connection:
        session = lock_session(connection, share_token, session_key)
        if session is None:
            return False
        delete_sessions(session.form_id, [session], now=now)
    return True
