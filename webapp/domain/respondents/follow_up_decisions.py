"""Deciding about a follow-up question once an answer is stored: by the rules, or by a model.

One decision for each answer, under the lock of the session's row, within both caps of the form. A
model is asked between two transactions: the first stores a claim, which counts as a question while
its lease lasts, the second settles it. A claim that was not settled in time decides nothing.
"""

from datetime import datetime, timedelta
from typing import NamedTuple

from webapp.database import (
    execute,
    execute_autocommit,
    new_id,
    read_rows,
    to_millis,
    tried_again,
    write_transaction,
)
from webapp.domain.follow_ups import rules
from webapp.domain.follow_ups.messages import Brief
from webapp.domain.follow_ups.thread import Decision, Reason
from webapp.domain.respondents import follow_up_statements as statements
from webapp.domain.respondents.follow_up_situation import Situation
from webapp.domain.respondents.steps import Place
from webapp.domain.responses.counters import count_model_call
from webapp.domain.shared.vocabulary import SessionStatus

LEASE = timedelta(seconds=6)  # of a claim; a model has four seconds
# nothing is asked then, whoever writes, and no model gets the words
HARD_STOPS = {Reason.EMPTY, Reason.REFUSED, Reason.TENDER, Reason.THIN_TWICE}


class Claim(NamedTuple):
    """What a model is to decide; `ruled` is asked if it does not."""

    id: str
    lease_until: int
    about: Situation
    brief: Brief
    ruled: Decision

    @property
    def remaining(self) -> int:
        """How many follow-ups to this question may still be asked, this one included."""
        return self.about.cap - self.about.thread.depth


@tried_again
def decide_by_rules(about: Situation, *, now: datetime) -> Place | None:
    """Ask what the rules ask; a dropped follow-up to the same words comes first. Commits.

    Returns the place of a new question.
    """
    ruled = None if _asked_again(about) else rules.decide(about.thread)
    if not ruled or not ruled.question:
        return None
    values: dict[str, object] = {**_keys(about), **_words(ruled)}
    values |= {"id": new_id("q"), "moment": to_millis(now)}
    values |= {"most_of_parent": about.cap, "most": about.most}
    seen: int | None = about.seen
    while seen is not None:
        asked = execute_autocommit(statements.ask(), **values, seen=seen)
        if asked:
            return Place(about.place.number, asked[0].depth)
        seen = _changed_since(about, seen)
    return None


def may_ask_model(about: Situation) -> bool:
    """Whether a model is to decide: nothing in the answer says that nobody should ask."""
    return rules.decide(about.thread).reason not in HARD_STOPS


@tried_again
def claim_decision(about: Situation, *, calls_per_day: int, now: datetime) -> Claim | None:
    """What a model is to decide. None if nothing is to be asked, somebody else decides, or it is
    decided: by the rules where its form's calls of this day (UTC) are spent. Commits.
    """
    ruled = rules.decide(about.thread)
    if ruled.reason in HARD_STOPS or _asked_again(about):
        return None
    lease = to_millis(now + LEASE)
    made = {"id": new_id("q"), "lease": lease, "moment": to_millis(now)}
    with write_transaction():
        depth = _lock(about) and _free_depth(about, now)
        if not depth:
            return None
        claimed = execute(statements.claim(), **_keys(about), **made).scalar_one_or_none()
        if claimed is None:
            return None
        brief = Brief._make(execute(statements.BRIEF, form_id=about.form_id).one())
        found = Claim(claimed, lease, about, brief, ruled)
        if count_model_call(about.form_id, most=calls_per_day, now=now):
            return found
        _settle(found, ruled, depth)
    return None


@tried_again
def settle_claim(made: Claim, decision: Decision, *, writer: str, now: datetime) -> None:
    """Ask the question of a decision, or nothing. Nothing is asked if the claim was lost or its
    lease has ended, the answer was changed, or the response was sent. Commits.

    Both caps are looked at once more: where clocks differ, or this transaction had to wait, the
    question that was kept free may have been asked elsewhere.

    writer  the model and its host, "" for the rules
    """
    with write_transaction():
        in_time = to_millis(now) < made.lease_until
        depth = in_time and _lock(made.about) and _free_depth(made.about, now)
        _settle(made, decision, depth or 0, writer)


@tried_again
def pass_on(about: Situation, *, now: datetime) -> None:
    """Let nothing follow from the answer, unless something did already. Commits."""
    made = {"id": new_id("q"), "moment": to_millis(now)}
    with write_transaction():
        if _lock(about):
            execute(statements.pass_on(), **_keys(about), **made)


def _lock(about: Situation) -> bool:
    """Lock the session; False if the answer is not current any more, or the response sent."""
    found = execute(statements.LOCK, session_id=about.session_id).one_or_none()
    return found is not None and _is_current(about, found.status, found.answered)


def _changed_since(about: Situation, seen: int) -> int | None:
    """The state that the session has now; None if it is the one that was seen, or nothing is to be
    decided any more.
    """
    for status, answered, now_seen in read_rows(statements.STATE, session_id=about.session_id):
        if _is_current(about, status, answered) and now_seen != seen:
            return int(now_seen)
    return None


def _is_current(about: Situation, status: SessionStatus, answered: dict[str, str]) -> bool:
    """Whether the session is open and the answer its current one."""
    is_open = status is SessionStatus.IN_PROGRESS
    return is_open and answered.get(about.question_id) == about.answer_id


def _free_depth(about: Situation, now: datetime) -> int:
    """The depth of one more question, 0 where a cap admits none; under the lock."""
    counted = execute(statements.COUNTS, **_keys(about), moment=to_millis(now)).one()
    within = counted.of_parent < about.cap and counted.total < about.most
    return int(counted.next_depth) if within else 0


def _asked_again(about: Situation) -> bool:
    """Ask the dropped follow-up to the same words again; False if there is none."""
    if about.dropped:
        with write_transaction():
            if _lock(about):
                execute(statements.ASK_AGAIN, row=about.dropped, answer_id=about.answer_id)
    return bool(about.dropped)


def _settle(made: Claim, decision: Decision, depth: int, writer: str = "") -> None:
    """Ask its question at this depth; nothing where it has none, or the depth is 0."""
    held = {"row": made.id, "lease": made.lease_until}
    if decision.question and depth:
        execute(statements.SETTLE_ASKED, **held, **_words(decision, writer), depth=depth)
    else:
        execute(statements.SETTLE_NOTHING, **held)


def _keys(about: Situation) -> dict[str, str]:
    return {
        "form_id": about.form_id,
        "session_id": about.session_id,
        "parent_question_id": about.parent_id,
        "answer_id": about.answer_id,
    }


def _words(decision: Decision, writer: str = "") -> dict[str, str | None]:
    return {
        "question_text": decision.question,
        "technique": decision.technique,
        "reason": decision.reason,
        "writer": writer,
    }
