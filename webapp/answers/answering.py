"""What respondents do: answer, skip, complete and withdraw."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from webapp.answers.answer_statements import TAKE_BACK
from webapp.answers.answer_writes import (
    NewAnswer,
    is_repeat,
    is_unchanged,
    require_shown,
    store_answer,
    store_completion,
    supersede,
    touch_session,
)
from webapp.answers.public_form import get_public_form
from webapp.answers.session_deletion import LeavingSession, delete_sessions
from webapp.answers.session_state import (
    SessionState,
    change_form,
    is_new,
    lock_or_create_session_state,
    lock_session_state,
    not_open,
    read_session_state,
    recordings_of,
    refusal,
    step_at,
)
from webapp.answers.steps import QuestionNumber, Step, next_open, steps_of
from webapp.base.database import core_transaction, execute, write_transaction
from webapp.base.error_codes import PageCode
from webapp.base.errors import InvalidInput, Phrase, StateConflict
from webapp.base.limits import (
    ANSWER_MAX_CHARS,
    ANSWER_MIN_SECONDS,
    FORM_BYTES_MAX,
    RESPONDER_NAME_MAX_CHARS,
    SPOKEN_ANSWER_MAX_CHARS,
)
from webapp.base.text import in_one_line
from webapp.base.vocabulary import FollowUpMode, FormStatus, QuestionKind, SessionStatus
from webapp.events.outbox import queue_deliveries
from webapp.records.follow_ups import read_follow_ups
from webapp.records.forms import Form
from webapp.records.responses.counters import QuestionCounts, count_questions
from webapp.records.responses.recordings import claimed_bytes


@dataclass(frozen=True, slots=True)
class Signs:
    """Evidence of how a respondent's page was used.

    begun_at         when the first page of this session was rendered; None for an unsigned key
    honeypot_filled  the field that people neither see nor reach has a value
    """

    begun_at: datetime | None
    honeypot_filled: bool = False

    def looks_automated(self, answers: int, now: datetime) -> bool:
        """True if a person cannot have answered this many questions by `now`."""
        if self.honeypot_filled or self.begun_at is None:
            return True
        return now - self.begun_at < timedelta(seconds=ANSWER_MIN_SECONDS * answers)


def require_answer(answer_text: str, *, spoken: bool) -> None:
    """Raise InvalidInput `answer_empty` or `answer_too_long`.

    spoken  there is a recording: the text may be empty, and longer
    """
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
    """The name in one line, without control characters; None for an empty one.

    raises  InvalidInput `name_too_long`
    """
    name = in_one_line(name)
    if len(name) > RESPONDER_NAME_MAX_CHARS:
        raise InvalidInput(
            PageCode.NAME_TOO_LONG,
            Phrase("The name is longer than %(limit)s characters.", limit=RESPONDER_NAME_MAX_CHARS),
            Phrase("Shorten it or leave it out."),
            field="name",
        )
    return name or None


class Following(NamedTuple):
    """What comes after an answer.

    place      None at the end, and where it is not decided yet
    may_probe  the form asks follow-ups: somebody has to decide
    stored     the session with the answer; None if nothing was stored
    """

    place: QuestionNumber | None
    may_probe: bool
    stored: SessionState | None


def answer_question(  # noqa: PLR0913 - a value of the request each, besides the limit
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
    form_bytes_max: int = FORM_BYTES_MAX,
) -> Following:
    """Store one answer durably; a repeat of `answer_key`, or of the current answer, stores nothing.

    An answer without a recording deletes the one that it corrects, and the uploads.

    position      0-based place of the scripted question
    follow_up     which follow-up to it, from 1; 0 for itself
    answer_key    made for each rendered question, so that a retry is stored once
    recording_id  an upload of this session to this question, or what its answer has; "" if typed
    blank         the page showed no words of this recording: leaving them out removes none
    replaces      `version_of` the answer that the page showed; None replaces any
    signs         how the page was used: flags the session if it looks automated
    returns       the next open question, unless a follow-up to this answer is to be decided
    raises        NotFound; StateConflict `form_closed`, `form_completed`, `response_completed`,
                  `form_full`, `answer_differs` (this key stored another), `answer_newer` (one
                  that was not shown); InvalidInput as `require_answer`, `recording_unknown`
    """
    require_answer(answer_text, spoken=bool(recording_id))
    while True:
        state = read_session_state(share_token, session_key)
        step = step_at(state, QuestionNumber(position + 1, follow_up))
        answer = _new_answer(step, answer_text, answer_key, recording_id)
        stored = None
        if is_unchanged(state, answer, blank=blank, replaces=replaces):
            break
        suspect = _is_suspect(signs, state, step, now)
        stored = store_answer(
            state, answer, now=now, suspect=suspect, form_bytes_max=form_bytes_max
        )
        if stored or is_repeat(state, answer, form_bytes_max=form_bytes_max):
            break
    if state.follow_up_mode != FollowUpMode.NONE:
        return Following(None, may_probe=True, stored=stored)
    answered = {step.question_id, *state.answered}
    place = _next_place(state, answered, {*state.skipped}, after=step.place)
    return Following(place, may_probe=False, stored=stored)


def _is_suspect(signs: Signs | None, state: SessionState, step: Step, now: datetime) -> bool:
    reached = len(state.answered.keys() | {step.question_id})
    return signs is not None and signs.looks_automated(reached, now)


def _new_answer(step: Step, text: str, answer_key: str, recording_id: str) -> NewAnswer:
    kind = QuestionKind.FOLLOW_UP if step.asked else QuestionKind.SCRIPTED
    parent = step.asked.parent_question_id if step.asked else None
    return NewAnswer(step.question_id, step.text, text, answer_key, recording_id, kind, parent)


def skip_question(
    share_token: str,
    session_key: str,
    *,
    position: int,
    now: datetime,
    follow_up: int = 0,
    replaces: str | None = None,
) -> QuestionNumber | None:
    """Skip a question, supersede an answer it has, delete its recordings; repeats change nothing.

    The answers to follow-ups of a scripted question go with its own.

    replaces  as in `answer_question`
    returns   place of the next question that is neither answered nor skipped, None at the end
    raises    NotFound; StateConflict as `answer_question`
    """
    with write_transaction() as connection:
        state = lock_or_create_session_state(connection, share_token, session_key, now)
        if state.form_status != FormStatus.PUBLISHED:
            raise not_open(state.form_status)
        step = step_at(state, QuestionNumber(position + 1, follow_up))
        require_shown(state, step.question_id, replaces)
        taken = _take_back(state, step)
        answered = {key: value for key, value in state.answered.items() if key not in taken}
        _count_skip(state, taken_back=bool(state.answered) and not answered)
        if not follow_up:
            _count_scripted_skip(state, step.question_id)
        skipped = [*(each for each in state.skipped if each not in taken), step.question_id]
        touch_session(state, now, skipped=skipped, answered=answered)
    return _next_place(state, answered.keys(), {*skipped}, after=step.place)


def _take_back(state: SessionState, step: Step) -> set[str]:
    """Supersede the answers of a step and of the follow-ups to it; ids of all those questions."""
    taken = {step.question_id}
    if not step.asked and state.follow_up_mode != FollowUpMode.NONE:
        follow_ups = read_follow_ups(state.session_id)
        taken |= {each.id for each in follow_ups if each.parent_question_id == step.question_id}
    freed = 0
    for question_id in sorted(taken):
        supersede(state.answered.get(question_id))
        if state.has_recordings:
            freed += claimed_bytes(execute(TAKE_BACK, **recordings_of(state, question_id)))
    if freed:
        change_form(state.form_id, {"answer_bytes": Form.answer_bytes - freed})
    return taken


def _count_scripted_skip(state: SessionState, question_id: str) -> None:
    change = QuestionCounts(
        -int(question_id in state.answered), int(question_id not in state.skipped)
    )
    count_questions(state.form_id, {question_id: change})


def _next_place(
    state: SessionState, answered: Collection[str], skipped: set[str], *, after: QuestionNumber
) -> QuestionNumber | None:
    """Of the questions as they are after the write; a form without follow-ups needs no read."""
    none = state.follow_up_mode == FollowUpMode.NONE
    steps = steps_of(state.questions, () if none else read_follow_ups(state.session_id), answered)
    step = next_open(steps, skipped.union(answered), after=after)
    return step.place if step else None


def complete_response(
    share_token: str,
    session_key: str,
    *,
    responder_name: str,
    now: datetime,
    signs: Signs | None = None,
    events: bool = True,
) -> list[str] | None:
    """Complete the response and queue its event; `signs` as in `answer_question`.

    events   False queues nothing
    returns  the ids of the queued deliveries; None if the response is complete already
    raises   NotFound; StateConflict `form_closed`, `form_completed`, `nothing_answered`;
             InvalidInput `name_too_long`
    """
    name = clean_name(responder_name)
    with core_transaction() as connection:
        state = lock_session_state(connection, share_token, session_key)
        if state is None:
            get_public_form(share_token)
        if state is None or (state.answer_count == 0 and state.status != SessionStatus.COMPLETED):
            raise StateConflict(
                PageCode.NOTHING_ANSWERED,
                Phrase("Nothing is answered yet."),
                Phrase("Answer at least one question."),
            )
        if state.status == SessionStatus.COMPLETED:
            return None
        suspect = signs is not None and signs.looks_automated(state.answer_count, now)
        done = store_completion(connection, state, responder_name=name, suspect=suspect, now=now)
        if done is None:
            raise refusal(state.form_id) or not_open(FormStatus.CLOSED)
        return queue_deliveries(connection, done, now=now) if events else []


def withdraw_response(share_token: str, session_key: str, *, now: datetime) -> bool:
    """Delete the session of this key, as `delete_sessions`; False if there is none."""
    with write_transaction() as connection:
        state = lock_session_state(connection, share_token, session_key)
        if state is None:
            return False
        leaving = LeavingSession(*(getattr(state, name) for name in LeavingSession._fields))
        delete_sessions(state.form_id, [leaving], now=now)
    return True


def _count_skip(state: SessionState, *, taken_back: bool) -> None:
    """Count the session if it begins with this skip; uncount it as answered if none is left."""
    values: dict[str, object] = {}
    if is_new(state):
        values["started_count"] = Form.started_count + 1
    if taken_back:
        values["answered_count"] = Form.answered_count - 1
    if values:
        change_form(state.form_id, values)
