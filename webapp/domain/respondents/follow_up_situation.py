"""What there is to decide after an answer: the thread it belongs to and the caps of its form."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from webapp.database import read_rows, to_millis
from webapp.domain.content.model import follow_ups_cap
from webapp.domain.follow_ups.asked import AskedFollowUp, read_follow_ups
from webapp.domain.follow_ups.thread import Thread
from webapp.domain.respondents.follow_up_statements import CLAIMED, SITUATION, WORDS
from webapp.domain.respondents.session_state import (
    STATE_COLUMNS,
    SessionState,
    read_session_state,
)
from webapp.domain.respondents.steps import Place, Step, steps_of
from webapp.domain.respondents.threads import thread_of
from webapp.domain.shared.secrets import token_hash
from webapp.domain.shared.vocabulary import FollowUpMode, FormStatus, SessionStatus


class FormTerms(NamedTuple):
    """What a form says of follow-ups; `writer` is the model that its creator was told of."""

    title: str
    goal: str | None
    private_context: str | None
    mode: FollowUpMode
    given: int | None
    max_total: int | None
    writer: str

    @property
    def cap(self) -> int:
        """Follow-ups to one question, at most."""
        return follow_ups_cap(self.mode, self.given)


class Situation(NamedTuple):
    """The current answer to a question, about which nothing is decided yet.

    parent_id  of the scripted question
    scripted   how many questions the form has
    dropped    id of a follow-up to the same words that was dropped, "" for none
    """

    form_id: str
    session_id: str
    place: Place
    parent_id: str
    question_id: str
    answer_id: str
    scripted: int
    terms: FormTerms
    thread: Thread
    dropped: str


class _Asked(NamedTuple):
    """What a session was asked so far; `of_parent` because of the question at hand."""

    step: Step
    of_parent: Sequence[AskedFollowUp]
    all: Sequence[AskedFollowUp]


class _Known(NamedTuple):
    """The words of an answer, and whether something is decided about it."""

    question_id: str
    text: str
    decided: bool


def read_situation(share_token: str, session_key: str, place: Place) -> Situation | None:
    """None if nothing is to be decided: there is no current answer, something was decided about it,
    a follow-up of the same question was skipped, a cap is reached, the form takes no answers.

    raises  NotFound, StateConflict as `read_session_state`
    """
    found = _read_state(share_token, session_key)
    if not found:
        return None
    state, terms = found
    asked = _read_asked(state, place) if state.form_status == FormStatus.PUBLISHED else None
    answer_id = state.answered.get(asked.step.question_id) if asked else None
    if asked is None or answer_id is None:
        return None
    if any(each.id in state.skipped for each in asked.of_parent):
        return None
    known = _words(state, asked)
    if known[answer_id].decided:
        return None
    dropped = _same_words(state, asked, known, known[answer_id])
    if not dropped and not _has_room(terms, state, asked):
        return None
    return Situation(
        state.form_id,
        state.session_id,
        place,
        parent_id=state.questions[place.number - 1]["id"],
        question_id=asked.step.question_id,
        answer_id=answer_id,
        scripted=len(state.questions),
        terms=terms,
        thread=_thread(state, asked, known, terms.mode),
        dropped=dropped,
    )


def is_claimed(about: Situation, *, now: datetime) -> bool:
    """Whether a model decides at this moment."""
    return bool(read_rows(CLAIMED, answer=about.answer_id, moment=to_millis(now)))


def _read_asked(state: SessionState, place: Place) -> _Asked | None:
    follow_ups = read_follow_ups(state.session_id)
    steps = steps_of(state.questions, follow_ups, state.answered)
    step = next((each for each in steps if each.place == place), None)
    if step is None:
        return None
    parent = state.questions[place.number - 1]["id"]
    of_parent = [each for each in follow_ups if each.parent_question_id == parent]
    return _Asked(step, of_parent, follow_ups)


def _has_room(terms: FormTerms, state: SessionState, asked: _Asked) -> bool:
    """As far as can be seen without the lock."""
    most = terms.max_total
    total = len(state.questions) + len(asked.all) + 1
    return len(asked.of_parent) < terms.cap and (most is None or total <= most)


def _read_state(share_token: str, session_key: str) -> tuple[SessionState, FormTerms] | None:
    """None if nothing is stored yet; raises as `read_session_state`."""
    found = read_rows(SITUATION, share_token=share_token, key_hash=token_hash(session_key))
    state = SessionState._make(found[0][: len(STATE_COLUMNS)]) if found else None
    if state is None or state.status == SessionStatus.COMPLETED:
        read_session_state(share_token, session_key)
        return None
    return state, FormTerms._make(found[0][len(STATE_COLUMNS) :])


def _words(state: SessionState, asked: _Asked) -> dict[str, _Known]:
    """By id of the answer: those of the thread, and those that dropped follow-ups followed."""
    ids = [state.questions[asked.step.place.number - 1]["id"], *(x.id for x in asked.of_parent)]
    answers = [state.answered[id_] for id_ in ids if id_ in state.answered]
    answers += [each.answer_id for each in asked.of_parent if each.dropped]
    return {row[0]: _Known._make(row[1:]) for row in read_rows(WORDS, answers=answers)}


def _same_words(
    state: SessionState, asked: _Asked, known: Mapping[str, _Known], answer: _Known
) -> str:
    """The id of an open follow-up to the same words that was dropped, "" for none."""
    for each in asked.of_parent:
        followed = known.get(each.answer_id) if each.dropped else None
        if followed and followed[:2] == answer[:2] and each.id not in state.answered:
            return each.id
    return ""


def _thread(
    state: SessionState, asked: _Asked, known: Mapping[str, _Known], mode: FollowUpMode
) -> Thread:
    """The thread up to this answer."""
    texts = {
        question: known[answer].text
        for question, answer in state.answered.items()
        if answer in known
    }
    place = asked.step.place
    return thread_of(mode, state.questions, asked.all, place, texts, seed=state.session_id)
