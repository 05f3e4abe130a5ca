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
from typing import NamedTuple, cast

import sqlalchemy as sa

from webapp.answers.session import QuestionNumber, RespondentSession
from webapp.base import database
from webapp.base.database.prepared_statements import all_rows, run
from webapp.base.text import token_hash
from webapp.base.vocabulary import FollowUpState, FormStatus, SessionStatus
from webapp.follow_ups import rules
from webapp.follow_ups.messages import Brief
from webapp.follow_ups.rules import Decision, Reason, Thread
from webapp.records.content.model import follow_ups_cap, most_with_follow_ups
from webapp.records.follow_ups import FollowUp
from webapp.records.forms import Form
from webapp.records.languages import language_of_shared, language_to_ask_in
from webapp.records.responses.models import Answer, ResponseSession
from webapp.records.responses.recordings import Recording, replaced_by_late, written_late

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
    known = {row.id: row for row in database.read_rows(_ANSWERS, answers=ids)} if ids else {}
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
    moment = database.to_millis(now)
    return bool(database.read_rows(_CLAIMED, answer_id=about.answer_id, moment=moment))


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


@database.tried_again
def decide_by_rules(about: FollowUpContext, *, now: datetime) -> QuestionNumber | None:
    """Ask a dropped follow-up again, else what the rules ask; return its place. Commits."""
    ruled = None if _asked_again(about) else about.ruled
    if not ruled or not ruled.question:
        return None
    with database.core_transaction() as connection:
        depth = _free_depth(connection, about, now, ruled) if _lock(connection, about) else 0
        values = _keys(about, now) | _words(ruled) | {"depth": depth}
        asked = bool(depth) and all_rows(connection, _ask(), values)
    return QuestionNumber(about.place.number, depth) if asked else None


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


@database.tried_again
def claim_for_words(about: FollowUpContext, *, now: datetime) -> bool:
    """Claim the decision until a spoken answer is transcribed. Commits."""
    with database.core_transaction() as connection:
        due = {"answer_id": about.answer_id, "moment": database.to_millis(now)}
        is_written = bool(all_rows(connection, _WRITING, due))
        return is_written and bool(_insert_claim(connection, about, now, WORDS_LEASE))


def awaits_words(recording_id: str, session_key: str, *, now: datetime) -> bool:
    """Return True if a decision waits for this recording's transcript and its lease still runs."""
    keys = {"recording": recording_id, "key_hash": token_hash(session_key)}
    return bool(database.read_rows(_AWAITED, **keys, moment=database.to_millis(now)))


@database.tried_again
def _claim(about: FollowUpContext, now: datetime) -> Claim | None:
    with database.core_transaction() as connection:
        claim_id = _insert_claim(connection, about, now, LEASE)
        if claim_id is None:
            return None
        (brief,) = all_rows(connection, _BRIEF, {"form_id": about.session.form.id})
        return Claim(claim_id, database.to_millis(now + LEASE), about, Brief._make(brief))


def _insert_claim(
    connection: sa.Connection, about: FollowUpContext, now: datetime, lease: timedelta
) -> str | None:
    if not (_lock(connection, about) and _free_depth(connection, about, now, _UNKNOWN)):
        return None
    until = {"lease": database.to_millis(now + lease)}
    claimed = all_rows(connection, _claim_or_renew(), _keys(about, now) | until)
    return claimed[0].id if claimed else None


@database.tried_again
def settle_claim(made: Claim, decision: Decision, *, now: datetime) -> None:
    """Settle a claim with a decision, and ask the question that it has, if any. Commits.

    Nothing is asked if the claim was lost, its lease has ended, the answer was changed, the
    response was sent, or the form was closed. Both caps are checked again: if clocks differ, or
    this transaction had to wait, another request may have used the place that the claim kept.
    """
    with database.core_transaction() as connection:
        in_time = database.to_millis(now) < made.lease_until
        current = in_time and _lock(connection, made.about)
        depth = _free_depth(connection, made.about, now, decision) if current else 0
        held: dict[str, object] = {"row": made.id, "lease": made.lease_until}
        if decision.question and depth:
            run(connection, _SETTLE_ASKED, held | _words(decision) | {"depth": depth})
        else:
            outcome = {"model_outcome": decision.model_outcome or None}
            run(connection, _SETTLE_NOTHING, held | outcome)


@database.tried_again
def pass_on(about: FollowUpContext, *, now: datetime) -> None:
    """Decide that nothing follows from the answer, unless it has a decision. Commits."""
    with database.core_transaction() as connection:
        if _lock(connection, about):
            run(connection, _decide_nothing(), _keys(about, now))


def _lock(connection: sa.Connection, about: FollowUpContext) -> bool:
    found = all_rows(connection, _LOCK, {"session_id": about.session.id})
    return bool(found) and found[0].answered.get(about.question_id) == about.answer_id


def _free_depth(
    connection: sa.Connection, about: FollowUpContext, now: datetime, decision: Decision
) -> int:
    """Return the depth of this question, 0 if a cap is reached or it was asked; needs the lock."""
    given = _keys(about, now) | _words(decision)
    return next((depth for (depth,) in all_rows(connection, _FREE_DEPTH, given)), 0)


@database.tried_again
def _asked_again(about: FollowUpContext) -> bool:
    if about.dropped:
        with database.core_transaction() as connection:
            if _lock(connection, about):
                asked = {"row": about.dropped, "answer_id": about.answer_id}
                run(connection, _ASK_AGAIN, asked)
    return bool(about.dropped)


def _keys(about: FollowUpContext, now: datetime) -> dict[str, object]:
    return {
        "id": database.new_id("q"),
        "moment": database.to_millis(now),
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


# built once; times in milliseconds
_F = cast(sa.Table, FollowUp.__table__)
_MOMENT = sa.bindparam("moment", type_=sa.BigInteger)
_OF_ANSWER = _F.c.answer_id == sa.bindparam("answer_id")
_IS_CLAIMED = _F.c.state == FollowUpState.CLAIMED
_GIVEN = ("id", "form_id", "session_id", "parent_question_id", "answer_id")
_WORDS = ("question_text", "technique", "reason", "writer", "model_outcome")


def _bound(*names: str) -> dict[str, sa.ColumnElement[object]]:
    return {name: sa.bindparam(name, type_=_F.c[name].type) for name in names}


_BRIEF = sa.select(Form.title, Form.goal, Form.private_context).where(
    Form.id == sa.bindparam("form_id")
)
_DECIDED = sa.exists().where(_F.c.answer_id == Answer.id, ~_IS_CLAIMED)
_WAITED_FOR = sa.exists().where(_F.c.answer_id == replaced_by_late(Answer.answer_key), _IS_CLAIMED)
# an answer that was transcribed late gets no follow-up, unless a claim waits for it
_ANSWERS = sa.select(
    Answer.id,
    Answer.question_id,
    Answer.answer_text,
    sa.or_(_DECIDED, sa.and_(written_late(Answer.answer_key), ~_WAITED_FOR)).label("decided"),
).where(database.among(Answer.id, "answers"))
_HAS_LEASE = sa.and_(_IS_CLAIMED, _F.c.lease_until > _MOMENT)
_CLAIMED = sa.select(_F.c.id).where(_OF_ANSWER, _HAS_LEASE)
# an engine is transcribing the recording, or the transcript is about to fill its answer
_IN_WRITING = sa.and_(
    Recording.transcriber != "", sa.type_coerce(Recording.next_at, sa.BigInteger) <= _MOMENT
)
_WRITING = sa.select(Recording.id).where(
    Recording.answer_id == sa.bindparam("answer_id"), _IN_WRITING
)
_AWAITED = (
    sa.select(Recording.id)
    .join(_F, _F.c.answer_id == Recording.answer_id)
    .where(
        Recording.id == sa.bindparam("recording"),
        Recording.key_hash == sa.bindparam("key_hash"),
        _IN_WRITING,
        _HAS_LEASE,
    )
)

# a claim about an answer that has been changed leads to no question
_MAY_ASK = sa.and_(
    _HAS_LEASE,
    _F.c.answer_id != sa.bindparam("answer_id"),
    sa.exists().where(Answer.id == _F.c.answer_id, Answer.superseded.is_(False)),
)
_COUNTED = sa.or_(_F.c.state == FollowUpState.ASKED, _MAY_ASK)
_OF_PARENT = _F.c.parent_question_id == sa.bindparam("parent_question_id")
# repeats one that was asked: the built-in question, or words prepared for the same question
_REPEATED = sa.and_(
    _F.c.state == FollowUpState.ASKED,
    sa.or_(
        sa.and_(_F.c.writer == "", sa.bindparam("writer") == ""),
        sa.and_(_OF_PARENT, _F.c.question_text == sa.bindparam("question_text")),
    ),
)
# per session: all questions that count against the caps, those to one scripted question, and the
# depth of the next of these
_COUNTS = (
    sa.select(
        sa.func.count().filter(_OF_PARENT).label("of_parent"),
        sa.func.count().label("total"),
        sa.func.count().filter(_REPEATED).label("repeated"),
        (sa.func.coalesce(sa.func.max(_F.c.depth).filter(_OF_PARENT), 0) + 1).label("next_depth"),
    )
    .where(_F.c.session_id == sa.bindparam("session_id"), _COUNTED)
    .subquery("counted")
)
# both caps allow one more, and two tabs do not ask the same question twice
_FREE_DEPTH = sa.select(_COUNTS.c.next_depth).where(
    _COUNTS.c.repeated == 0,
    _COUNTS.c.of_parent < sa.bindparam("most_of_parent", type_=sa.Integer),
    _COUNTS.c.total < sa.bindparam("most", type_=sa.Integer),
)
_SESSION = cast(sa.Table, ResponseSession.__table__)
# only if the form takes answers; writes a new state, so that a concurrent answer or skip, which
# may have read fewer follow-ups, finds the session changed
_LOCK = (
    sa.update(_SESSION)
    .where(
        _SESSION.c.id == sa.bindparam("session_id"),
        _SESSION.c.status == SessionStatus.IN_PROGRESS,
        Form.id == _SESSION.c.form_id,
        Form.status == FormStatus.PUBLISHED,
        Form.deleted_at.is_(None),
    )
    .values(last_active_at=sa.type_coerce(_SESSION.c.last_active_at, sa.BigInteger) + 1)
    .returning(_SESSION.c.answered)
)
_HELD = sa.and_(
    _F.c.id == sa.bindparam("row"),
    _IS_CLAIMED,
    _F.c.lease_until == sa.bindparam("lease", type_=sa.BigInteger),
)
_SETTLE_ASKED = (
    sa.update(_F)
    .where(_HELD)
    .values(state=FollowUpState.ASKED, lease_until=None, **_bound("depth", *_WORDS))
)
_SETTLE_NOTHING = (
    sa.update(_F)
    .where(_HELD)
    .values(state=FollowUpState.NOTHING, lease_until=None, **_bound("model_outcome"))
)
_ASK_AGAIN = (
    sa.update(_F)
    .where(
        _F.c.id == sa.bindparam("row"),
        ~sa.exists().where(_F.alias().c.answer_id == sa.bindparam("answer_id")),
    )
    .values(answer_id=sa.bindparam("answer_id"))
)


def _row(state: FollowUpState, *names: str, **values: object) -> dict[str, object]:
    words = {"question_text": "", "writer": ""}
    return words | _bound(*_GIVEN, *names) | values | {"state": state, "created_at": _MOMENT}


@database.built_once
def _ask() -> sa.Insert:
    """Build the INSERT of a question; it returns no row if the answer has a decision."""
    made = database.insert_into(_F).values(_row(FollowUpState.ASKED, "depth", *_WORDS))
    return made.on_conflict_do_nothing().returning(_F.c.id)


@database.built_once
def _claim_or_renew() -> sa.Insert:
    """Build the INSERT of a claim, or the UPDATE of an expired one; it returns the id."""
    lease = sa.bindparam("lease", type_=sa.BigInteger)
    made = database.insert_into(_F).values(_row(FollowUpState.CLAIMED, lease_until=lease))
    return made.on_conflict_do_update(
        index_elements=["answer_id"],
        set_={"lease_until": made.excluded.lease_until},
        where=sa.and_(_IS_CLAIMED, _F.c.lease_until <= _MOMENT),
    ).returning(_F.c.id)


@database.built_once
def _decide_nothing() -> sa.Insert:
    """Build the INSERT of the decision that nothing follows; it also replaces a claim."""
    return (
        database.insert_into(_F)
        .values(_row(FollowUpState.NOTHING))
        .on_conflict_do_update(
            index_elements=["answer_id"],
            set_={"state": FollowUpState.NOTHING, "lease_until": None},
            where=_IS_CLAIMED,
        )
    )
