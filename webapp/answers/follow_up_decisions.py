"""Decisions about follow-up questions to stored answers, by the rules or by a model.

Each answer gets one decision, under the lock of the session's row and within both caps of the form.
A model is asked between two transactions: the first stores a claim, which counts as a question
while its lease lasts and its answer is current; the second settles it. A claim that is not settled
in time decides nothing.

A spoken answer that is being transcribed has a claim, too. The decision is then about the late
answer that holds the transcript, unless the respondent passed on before.
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
from webapp.base.database import core_transaction, new_id, read_rows, to_millis, tried_again
from webapp.base.database.prepared_statements import all_rows, run
from webapp.base.text import token_hash
from webapp.base.vocabulary import FormStatus
from webapp.follow_ups import rules
from webapp.follow_ups.messages import Brief
from webapp.follow_ups.rules import Decision, Reason, Thread
from webapp.records.content.model import follow_ups_cap, most_with_follow_ups
from webapp.records.languages import language_of_shared, language_to_ask_in

LEASE = timedelta(seconds=6)  # of a claim for a model, which has four seconds
WORDS_LEASE = timedelta(seconds=8)  # of a claim that waits for a transcript
# neither the rules nor a model ask then, and no model receives the answer
HARD_STOPS = {Reason.EMPTY, Reason.REFUSED, Reason.SENSITIVE, Reason.JUNK, Reason.THIN_TWICE}
_UNKNOWN = Decision(Reason.CHOSEN_BY_MODEL, writer="?")  # a decision that a model has yet to make


@dataclass(frozen=True)
class FollowUpContext:
    """The current answer to a question, with no decision about it yet."""

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
        return self.session.form.follow_up_writer

    @property
    def has_words(self) -> bool:
        """False for a spoken answer without words, or not transcribed yet."""
        return bool(self.thread.last.answer.strip())

    @cached_property
    def ruled(self) -> Decision:
        """The decision of the rules; computing it takes a tenth of the request."""
        return rules.decide(self.thread)


def context_of(
    session: RespondentSession, place: QuestionNumber, *, is_new: bool = False, language: str = ""
) -> FollowUpContext | None:
    """Return the context for a decision about an answer, None if there is nothing to decide."""
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
    """Return True if a model is deciding about the answer at this moment."""
    moment = to_millis(now)
    return bool(read_rows(statements.CLAIMED, answer_id=about.answer_id, moment=moment))


class Claim(NamedTuple):
    """The right to let a model decide about an answer until `lease_until` (milliseconds)."""

    id: str
    lease_until: int
    about: FollowUpContext
    brief: Brief

    @property
    def remaining(self) -> int:
        """The number of follow-ups to this question that are left, including this one."""
        return self.about.cap - self.about.thread.depth


@tried_again
def decide_by_rules(about: FollowUpContext, *, now: datetime) -> QuestionNumber | None:
    """Ask a dropped follow-up again, else what the rules ask; return its place. Commits."""
    ruled = None if _asked_again(about) else about.ruled
    if not ruled or not ruled.question:
        return None
    with core_transaction() as connection:
        depth = _free_depth(connection, about, now, ruled) if _lock(connection, about) else 0
        made = {"id": new_id("q"), "moment": to_millis(now), "depth": depth}
        values = _keys(about) | _words(ruled) | made
        asked = bool(depth) and all_rows(connection, statements.ask(), values)
    return QuestionNumber(about.place.number, depth) if asked else None


def may_ask_model(about: FollowUpContext) -> bool:
    """Return True unless the answer is one that nobody should follow up (HARD_STOPS)."""
    return about.ruled.reason not in HARD_STOPS


def claim_decision(
    about: FollowUpContext, *, count_call: Callable[[], bool], now: datetime
) -> Claim | None:
    """Claim the decision for a model, or decide by the rules if no call is left. Commits.

    count_call  counts a call unless none is left today; in its own transactions, because all
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
    """Claim the decision until a spoken answer is transcribed. Commits."""
    with core_transaction() as connection:
        due = {"answer_id": about.answer_id, "moment": to_millis(now)}
        is_written = bool(all_rows(connection, statements.IN_WRITING, due))
        return is_written and bool(_insert_claim(connection, about, now, WORDS_LEASE))


def awaits_words(recording_id: str, session_key: str, *, now: datetime) -> bool:
    """Return True if a decision waits for this recording's transcript and its lease still runs."""
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
    """Settle a claim with a decision, and ask the question that it has, if any. Commits.

    Nothing is asked if the claim was lost, its lease has ended, the answer was changed, the
    response was sent, or the form was closed. Both caps are checked again: if clocks differ, or
    this transaction had to wait, another request may have used the place that the claim kept.
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
    """Decide that nothing follows from the answer, unless it has a decision. Commits."""
    made = {"id": new_id("q"), "moment": to_millis(now)}
    with core_transaction() as connection:
        if _lock(connection, about):
            run(connection, statements.pass_on(), _keys(about) | made)


def _lock(connection: Connection, about: FollowUpContext) -> bool:
    found = all_rows(connection, statements.LOCK, {"session_id": about.session.id})
    return bool(found) and found[0].answered.get(about.question_id) == about.answer_id


def _free_depth(
    connection: Connection, about: FollowUpContext, now: datetime, decision: Decision
) -> int:
    """Return the depth of this question, 0 if a cap is reached or it was asked; needs the lock."""
    given = _keys(about) | _words(decision) | {"moment": to_millis(now)}
    return next((depth for (depth,) in all_rows(connection, statements.FREE_DEPTH, given)), 0)


@tried_again
def _asked_again(about: FollowUpContext) -> bool:
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
