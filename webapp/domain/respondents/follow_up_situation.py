"""What there is to decide after an answer: the thread it belongs to and the caps of its form."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from webapp.database import read_rows, to_millis
from webapp.domain.content.model import follow_ups_cap
from webapp.domain.follow_ups.asked import AskedFollowUp, read_follow_ups
from webapp.domain.follow_ups.thread import Thread
from webapp.domain.respondents.follow_up_statements import CLAIMED, TERMS, WORDS
from webapp.domain.respondents.session_state import SessionState, read_session_state
from webapp.domain.respondents.steps import Place, Step, steps_of
from webapp.domain.respondents.threads import thread_of
from webapp.domain.shared.vocabulary import FollowUpMode, FormStatus


class FormTerms(NamedTuple):
    """What a form says of follow-ups, and whether something is decided about the answer at hand.

    writer  the model that its creator was told of, "" for the rules
    """

    title: str
    goal: str | None
    private_context: str | None
    mode: FollowUpMode
    given: int | None
    max_total: int | None
    writer: str
    decided: bool

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

    share_token: str
    session_key: str
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


def read_situation(share_token: str, session_key: str, place: Place) -> Situation | None:
    """None if nothing is to be decided: there is no current answer, something was decided about it,
    a follow-up of the same question was skipped, a cap is reached, the form takes no answers.

    raises  NotFound, StateConflict as `read_session_state`
    """
    state = read_session_state(share_token, session_key)
    asked = _read_asked(state, place) if state.form_status == FormStatus.PUBLISHED else None
    answer_id = state.answered.get(asked.step.question_id) if asked else None
    if asked is None or answer_id is None:
        return None
    if any(each.id in state.skipped for each in asked.of_parent):
        return None
    terms = FormTerms._make(read_rows(TERMS, form=state.form_id, answer=answer_id)[0])
    if terms.decided:
        return None
    thread, dropped = _thread(state, asked, answer_id, terms.mode)
    if not dropped and not _has_room(terms, state, asked):
        return None
    return Situation(
        share_token,
        session_key,
        state.form_id,
        state.session_id,
        place,
        parent_id=state.questions[place.number - 1]["id"],
        question_id=asked.step.question_id,
        answer_id=answer_id,
        scripted=len(state.questions),
        terms=terms,
        thread=thread,
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


def _thread(
    state: SessionState, asked: _Asked, answer_id: str, mode: FollowUpMode
) -> tuple[Thread, str]:
    """The thread up to this answer, and the dropped follow-up to the same words."""
    parent = state.questions[asked.step.place.number - 1]
    ids = [parent["id"], *(each.id for each in asked.of_parent)]
    answers = {id_: state.answered[id_] for id_ in ids if id_ in state.answered}
    open_ = [each for each in asked.of_parent if each.dropped and each.id not in state.answered]
    rows = read_rows(WORDS, answers=[*answers.values(), *(each.answer_id for each in open_)])
    words = {row.id: (row.question_id, row.answer_text) for row in rows}
    texts = {id_: words[answer][1] for id_, answer in answers.items()}
    thread = thread_of(
        mode, state.questions, asked.all, asked.step.place, texts, seed=state.session_id
    )
    same = (each.id for each in open_ if words.get(each.answer_id) == words[answer_id])
    return thread, next(same, "")
