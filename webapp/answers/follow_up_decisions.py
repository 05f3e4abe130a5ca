"""Deciding about a follow-up question once an answer is stored: by the rules, or by a model.

One decision for each answer, under the lock of the session's row, within both caps of the form. A
model is asked between two transactions: the first stores a claim, which counts as a question while
its lease lasts and its answer is current; the second settles it. A claim that was not settled in
time decides nothing.

A spoken answer whose words are being written down has a claim, too: the decision is about the late
answer that has them, unless somebody passed on before.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import NamedTuple

from sqlalchemy import Connection

from webapp.answers import follow_up_statements as statements
from webapp.answers.session import RespondentSession
from webapp.answers.steps import QuestionNumber
from webapp.base.database import (
    core_transaction,
    execute_autocommit,
    new_id,
    read_rows,
    to_millis,
    tried_again,
)
from webapp.base.database.prepared_statements import all_rows, run
from webapp.base.text import token_hash
from webapp.base.vocabulary import FormStatus, SessionStatus
from webapp.follow_ups import rules
from webapp.follow_ups.messages import Brief
from webapp.follow_ups.rules import Decision, Reason, Thread
from webapp.records.content.model import follow_ups_cap, most_with_follow_ups
from webapp.records.languages import language_of_shared, language_to_ask_in

LEASE = timedelta(seconds=6)  # of a claim; a model has four seconds
WORDS_LEASE = timedelta(seconds=8)  # of a claim for words that are being written down
# nothing is asked then, by rules or a model, and no model gets the words
HARD_STOPS = {Reason.EMPTY, Reason.REFUSED, Reason.SENSITIVE, Reason.JUNK, Reason.THIN_TWICE}
_UNKNOWN = Decision(Reason.CHOSEN_BY_MODEL, writer="?")  # what a model is about to decide


@dataclass(frozen=True)
class FollowUpContext:
    """The current answer to a question, about which nothing is decided yet.

    parent_id  of the scripted question
    cap, most  how many follow-ups there may be: to one question, to all
    dropped    id of a follow-up to the same words that was dropped, "" for none
    """

    session: RespondentSession
    place: QuestionNumber
    parent_id: str
    question_id: str
    answer_id: str
    cap: int
    most: int
    thread: Thread
    dropped: str

    @property
    def writer(self) -> str:
        """The model that was named to the creator, "" for none."""
        return self.session.form.follow_up_writer

    @property
    def has_words(self) -> bool:
        """False of a spoken answer without any, or none yet."""
        return bool(self.thread.last.answer.strip())

    @cached_property
    def ruled(self) -> Decision:
        """What the rules decide, at the cost of a tenth of the request."""
        return rules.decide(self.thread)


def context_of(
    session: RespondentSession, place: QuestionNumber, *, is_new: bool = False, language: str = ""
) -> FollowUpContext | None:
    """What there is to decide about an answer. None if there is no current one, something was
    decided about it, its question of the form or a follow-up to that was skipped, a cap is reached,
    the response is sent, or the form takes no answers.

    is_new    the answer was stored just now, so that nothing is decided about it
    language  of the page, to ask in if the form may be in any
    """
    form, steps = session.form, session.steps
    is_open = form.status is FormStatus.PUBLISHED and session.completed_stamp is None
    step = steps.at(place) if is_open else None
    answer_id = session.answered.get(step.question_id) if step else None
    if step is None or answer_id is None:
        return None
    parent_id = form.questions[place.number - 1]["id"]
    asked = steps.asked_after(parent_id)
    if not {parent_id, *(each.id for each in asked)}.isdisjoint(session.skipped):
        return None
    ids = [each.answer_id for each in asked if each.dropped] + ([] if is_new else [answer_id])
    known = {row.id: row for row in read_rows(statements.WORDS, answers=ids)} if ids else {}
    is_decided = not is_new and (answer_id not in known or known[answer_id].decided)
    text = None if is_decided else session.texts.get(step.question_id)
    if text is None:  # none of a response that was withdrawn a moment ago
        return None
    said = step.question_id, text
    followed = {each.id: known.get(each.answer_id) for each in asked if each.dropped}
    again = (
        id_ for id_, row in followed.items() if row and (row.question_id, row.answer_text) == said
    )
    dropped = next((id_ for id_ in again if id_ not in session.answered), "")
    cap = follow_ups_cap(form.follow_up_mode, form.followups_given)
    scripted = len(form.questions)
    most = most_with_follow_ups(scripted, scripted * cap, form.max_total_questions) - scripted
    if not dropped and not (len(asked) < cap and len(session.follow_ups) < most):
        return None
    asks_in = language_to_ask_in(language_of_shared(form.share_token, form.questions), language)
    thread = steps.thread(form.follow_up_mode, place, session.texts, language=asks_in)
    return FollowUpContext(
        session, place, parent_id, step.question_id, answer_id, cap, most, thread, dropped
    )


def is_claimed(about: FollowUpContext, *, now: datetime) -> bool:
    """Whether a model decides at this moment."""
    moment = to_millis(now)
    return bool(read_rows(statements.CLAIMED, answer_id=about.answer_id, moment=moment))


class Claim(NamedTuple):
    """What a model is to decide."""

    id: str
    lease_until: int
    about: FollowUpContext
    brief: Brief

    @property
    def remaining(self) -> int:
        """How many follow-ups to this question may still be asked, this one included."""
        return self.about.cap - self.about.thread.depth


@tried_again
def decide_by_rules(about: FollowUpContext, *, now: datetime) -> QuestionNumber | None:
    """Ask what the rules ask; a dropped follow-up to the same words comes first. Commits.

    Returns the place of a new question.
    """
    ruled = None if _asked_again(about) else about.ruled
    if not ruled or not ruled.question:
        return None
    values = _keys(about) | _words(ruled) | {"id": new_id("q"), "moment": to_millis(now)}
    seen: int | None = about.session.last_active_at
    while seen is not None:
        asked = execute_autocommit(statements.ask(), **values, seen=seen)
        if asked:
            return QuestionNumber(about.place.number, asked[0].depth)
        seen = _changed_since(about, seen)
    return None


def may_ask_model(about: FollowUpContext) -> bool:
    """Whether a model is to decide: nothing in the answer says that nobody should ask."""
    return about.ruled.reason not in HARD_STOPS


def claim_decision(
    about: FollowUpContext, *, count_call: Callable[[], bool], now: datetime
) -> Claim | None:
    """What a model is to decide. None if nothing is to be asked, somebody else decides, or it is
    decided: by the rules where no call is left. Commits.

    count_call  counts a call unless none is left today; in transactions of its own, because all
                claims of a form wait for the row that it changes
    """
    if about.ruled.reason in HARD_STOPS or _asked_again(about):
        return None
    claim = _claim(about, now)
    if claim is None or count_call():
        return claim
    settle_claim(claim, about.ruled, now=now)
    return None


@tried_again
def claim_for_words(about: FollowUpContext, *, now: datetime) -> bool:
    """Let the decision wait for the words of a spoken answer. False if nobody writes them down, or
    nothing is to be asked. Commits.
    """
    with core_transaction() as connection:
        due = {"answer_id": about.answer_id, "moment": to_millis(now)}
        is_written = bool(all_rows(connection, statements.IN_WRITING, due))
        return is_written and bool(_insert_claim(connection, about, now, WORDS_LEASE))


def awaits_words(recording_id: str, session_key: str, *, now: datetime) -> bool:
    """Whether the decision about the answer that has this recording waits for its words, which may
    still come in time.
    """
    keys = {"recording": recording_id, "key_hash": token_hash(session_key)}
    return bool(read_rows(statements.AWAITED, **keys, moment=to_millis(now)))


@tried_again
def _claim(about: FollowUpContext, now: datetime) -> Claim | None:
    with core_transaction() as connection:
        claim_id = _insert_claim(connection, about, now, LEASE)
        if claim_id is None:
            return None
        (brief,) = all_rows(connection, statements.BRIEF, {"form_id": about.session.form.id})
        return Claim(claim_id, to_millis(now + LEASE), about, Brief._make(brief))


def _insert_claim(
    connection: Connection, about: FollowUpContext, now: datetime, lease: timedelta
) -> str | None:
    made = {"id": new_id("q"), "lease": to_millis(now + lease), "moment": to_millis(now)}
    if not (_lock(connection, about) and _free_depth(connection, about, now, _UNKNOWN)):
        return None
    claimed = all_rows(connection, statements.claim(), _keys(about) | made)
    return claimed[0].id if claimed else None


@tried_again
def settle_claim(made: Claim, decision: Decision, *, now: datetime) -> None:
    """Ask the question of a decision, or nothing. Nothing is asked if the claim was lost or its
    lease has ended, the answer was changed, the response sent, or the form closed. Commits.

    Both caps are looked at once more: where clocks differ, or this transaction had to wait, the
    question that was kept free may have been asked elsewhere.
    """
    with core_transaction() as connection:
        in_time = to_millis(now) < made.lease_until
        current = in_time and _lock(connection, made.about)
        depth = _free_depth(connection, made.about, now, decision) if current else 0
        held: dict[str, object] = {"row": made.id, "lease": made.lease_until}
        if decision.question and depth:
            asked = held | _words(decision) | {"depth": depth}
            run(connection, statements.SETTLE_ASKED, asked)
        else:
            outcome = {"model_outcome": decision.model_outcome or None}
            run(connection, statements.SETTLE_NOTHING, held | outcome)


@tried_again
def pass_on(about: FollowUpContext, *, now: datetime) -> None:
    """Let nothing follow from the answer, unless something did already. Commits."""
    made = {"id": new_id("q"), "moment": to_millis(now)}
    with core_transaction() as connection:
        if _lock(connection, about):
            run(connection, statements.pass_on(), _keys(about) | made)


def _lock(connection: Connection, about: FollowUpContext) -> bool:
    """Lock the session; False if the answer is not current any more, the response was sent, or the
    form takes no answers.
    """
    found = all_rows(connection, statements.LOCK, {"session_id": about.session.id})
    return bool(found) and _is_current(about, found[0].status, found[0].answered)


def _changed_since(about: FollowUpContext, seen: int) -> int | None:
    """The state that the session has now; None if it is the one that was seen, or nothing is to be
    decided any more.
    """
    for status, answered, now_seen in read_rows(statements.STATE, session_id=about.session.id):
        if _is_current(about, status, answered) and now_seen != seen:
            return int(now_seen)
    return None


def _is_current(about: FollowUpContext, status: SessionStatus, answered: dict[str, str]) -> bool:
    """Whether the session is open and the answer its current one."""
    is_open = status is SessionStatus.IN_PROGRESS
    return is_open and answered.get(about.question_id) == about.answer_id


def _free_depth(
    connection: Connection, about: FollowUpContext, now: datetime, decision: Decision
) -> int:
    """The depth of this question, 0 where a cap admits none or it was asked; under the lock."""
    given = _keys(about) | _words(decision) | {"moment": to_millis(now)}
    return next((depth for (depth,) in all_rows(connection, statements.FREE_DEPTH, given)), 0)


@tried_again
def _asked_again(about: FollowUpContext) -> bool:
    """Ask the dropped follow-up to the same words again; False if there is none."""
    if about.dropped:
        asked = {"row": about.dropped, "answer_id": about.answer_id}
        with core_transaction() as connection:
            if _lock(connection, about):
                run(connection, statements.ASK_AGAIN, asked)
    return bool(about.dropped)


def _keys(about: FollowUpContext) -> dict[str, object]:
    return {
        "form_id": about.session.form.id,
        "session_id": about.session.id,
        "parent_question_id": about.parent_id,
        "answer_id": about.answer_id,
        "most_of_parent": about.cap,
        "most": about.most,
    }


def _words(decision: Decision) -> dict[str, object]:
    return {
        "question_text": decision.question,
        "technique": decision.technique,
        "reason": decision.reason,
        "writer": decision.writer,
        "model_outcome": decision.model_outcome or None,
    }
