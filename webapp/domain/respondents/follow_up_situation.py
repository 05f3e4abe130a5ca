"""What there is to decide after an answer: the thread it belongs to and the caps of its form."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import NamedTuple

from webapp.database import read_rows, to_millis
from webapp.domain.content.model import follow_ups_cap, most_with_follow_ups
from webapp.domain.follow_ups import rules
from webapp.domain.follow_ups.asked import AskedFollowUp, read_follow_ups
from webapp.domain.follow_ups.languages import language_to_ask_in
from webapp.domain.follow_ups.thread import Decision, Thread
from webapp.domain.forms.form_language import language_of_shared
from webapp.domain.respondents.follow_up_statements import CLAIMED, WORDS
from webapp.domain.respondents.session_state import (
    SessionState,
    read_session_state,
)
from webapp.domain.respondents.steps import Place
from webapp.domain.respondents.threads import thread_of
from webapp.domain.shared.vocabulary import FollowUpMode, FormStatus


@dataclass(frozen=True)
class Situation:
    """The current answer to a question, about which nothing is decided yet.

    parent_id  of the scripted question
    seen       the state of the session, its `last_active_at` in milliseconds
    cap, most  how many follow-ups there may be: to one question, to all
    writer     the model that the creator was told of, "" for none
    dropped    id of a follow-up to the same words that was dropped, "" for none
    """

    form_id: str
    session_id: str
    place: Place
    parent_id: str
    question_id: str
    answer_id: str
    seen: int
    cap: int
    most: int
    writer: str
    thread: Thread
    dropped: str

    @property
    def has_words(self) -> bool:
        """False of a spoken answer without any, or none yet."""
        return bool(self.thread.last.answer.strip())

    @property
    def may_be_asked(self) -> bool:
        """Whether anything may be asked without a model, whatever the answer says."""
        return rules.may_follow(self.thread)

    @cached_property
    def ruled(self) -> Decision:
        """What the rules decide, at the cost of a tenth of the request."""
        return rules.decide(self.thread)


class _Asked(NamedTuple):
    """What a session was asked so far; `of_parent` because of the question at hand."""

    question_id: str
    of_parent: Sequence[AskedFollowUp]
    all: Sequence[AskedFollowUp]


class _Known(NamedTuple):
    """The words of an answer, and whether something is decided about it."""

    question_id: str
    text: str
    decided: bool


def read_situation(
    share_token: str, session_key: str, place: Place, *, page_language: str = ""
) -> Situation | None:
    """None if nothing is to be decided: there is no current answer, something was decided about it,
    its question of the form or a follow-up to that was skipped, a cap is reached, the form takes no
    answers.

    raises  NotFound, StateConflict as `read_session_state`
    """
    state = read_session_state(share_token, session_key)
    return situation_of(state, place, page_language=page_language)


def situation_of(
    state: SessionState, place: Place, words: str | None = None, *, page_language: str = ""
) -> Situation | None:
    """As `read_situation`, of a session that is known.

    words          of the answer if it was stored just now, so that nothing is decided about it
    page_language  to ask in if the form may be in any
    """
    asked = _read_asked(state, place) if state.form_status == FormStatus.PUBLISHED else None
    answer_id = state.answered.get(asked.question_id) if asked else None
    if asked is None or answer_id is None:
        return None
    parent_id = state.questions[place.number - 1]["id"]
    if not {parent_id, *(each.id for each in asked.of_parent)}.isdisjoint(state.skipped):
        return None
    new = {} if words is None else {answer_id: _Known(asked.question_id, words, decided=False)}
    known = _words(state, asked, place, new)
    answer = known.get(answer_id)  # none of a response that was withdrawn a moment ago
    if answer is None or answer.decided:
        return None
    dropped = _same_words(state, asked, known, answer)
    mode = FollowUpMode(state.follow_up_mode)
    cap = follow_ups_cap(mode, state.follow_ups_given)
    scripted = len(state.questions)
    most = most_with_follow_ups(scripted, scripted * cap, state.max_total_questions) - scripted
    if not dropped and not (len(asked.of_parent) < cap and len(asked.all) < most):
        return None
    return Situation(
        state.form_id,
        state.session_id,
        place,
        parent_id=parent_id,
        question_id=asked.question_id,
        answer_id=answer_id,
        seen=state.last_active_at,
        cap=cap,
        most=most,
        writer=state.follow_up_writer,
        thread=_thread(state, asked, place, known, page_language),
        dropped=dropped,
    )


def is_claimed(about: Situation, *, now: datetime) -> bool:
    """Whether a model decides at this moment."""
    return bool(read_rows(CLAIMED, answer_id=about.answer_id, moment=to_millis(now)))


def _read_asked(state: SessionState, place: Place) -> _Asked | None:
    if not 1 <= place.number <= len(state.questions):
        return None
    parent = state.questions[place.number - 1]["id"]
    follow_ups = read_follow_ups(state.session_id)
    of_parent = [each for each in follow_ups if each.parent_question_id == parent]
    ids = {0: parent} | {each.depth: each.id for each in of_parent}
    if place.follow_up not in ids:
        return None
    return _Asked(ids[place.follow_up], of_parent, follow_ups)


def _words(
    state: SessionState, asked: _Asked, place: Place, new: Mapping[str, _Known]
) -> dict[str, _Known]:
    """By id of the answer: those of the thread, and those that dropped follow-ups followed."""
    ids = [state.questions[place.number - 1]["id"], *(each.id for each in asked.of_parent)]
    answers = [state.answered[id_] for id_ in ids if id_ in state.answered]
    answers += [each.answer_id for each in asked.of_parent if each.dropped]
    unknown = [each for each in answers if each not in new]
    found = read_rows(WORDS, answers=unknown) if unknown else ()
    return {**new, **{row[0]: _Known._make(row[1:]) for row in found}}


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
    state: SessionState,
    asked: _Asked,
    place: Place,
    known: Mapping[str, _Known],
    page_language: str,
) -> Thread:
    """The thread up to this answer."""
    texts = {
        question: known[answer].text
        for question, answer in state.answered.items()
        if answer in known
    }
    of_form = language_of_shared(state.share_token, state.questions)
    return thread_of(
        FollowUpMode(state.follow_up_mode),
        state.questions,
        asked.all,
        place,
        texts,
        language=language_to_ask_in(of_form, page_language),
    )
