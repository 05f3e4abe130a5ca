"""What is known of an answer before a follow-up is decided, and its statements."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import NamedTuple, cast

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Insert,
    Integer,
    Table,
    and_,
    bindparam,
    exists,
    func,
    literal,
    or_,
    select,
    true,
    type_coerce,
    update,
)

from webapp.answers.session_state import SessionState, read_session_state
from webapp.answers.steps import QuestionNumber, thread_of
from webapp.base.database import among, built_once, insert_into, on_sqlite, read_rows, to_millis
from webapp.base.vocabulary import FollowUpMode, FollowUpState, FormStatus, SessionStatus
from webapp.follow_ups import rules
from webapp.follow_ups.rules import Decision, Thread
from webapp.records.content.model import follow_ups_cap, most_with_follow_ups
from webapp.records.follow_ups import AskedFollowUp, FollowUp, read_follow_ups
from webapp.records.forms import Form
from webapp.records.languages import language_of_shared, language_to_ask_in
from webapp.records.responses.models import Answer, ResponseSession
from webapp.records.responses.recordings import Recording, replaced_by_late, written_late

_F = cast(Table, FollowUp.__table__)
_MOMENT = bindparam("moment", type_=BigInteger)
_OF_ANSWER = _F.c.answer_id == bindparam("answer_id")
_IS_CLAIMED = _F.c.state == FollowUpState.CLAIMED
_GIVEN = ("id", "form_id", "session_id", "parent_question_id", "answer_id")
_WORDS = ("question_text", "technique", "reason", "writer", "model_outcome")


def _bound(*names: str) -> dict[str, ColumnElement[object]]:
    return {name: bindparam(name, type_=_F.c[name].type) for name in names}


BRIEF = select(Form.title, Form.goal, Form.private_context).where(Form.id == bindparam("form_id"))
_DECIDED = exists().where(_F.c.answer_id == Answer.id, ~_IS_CLAIMED)
_WAITED_FOR = exists().where(_F.c.answer_id == replaced_by_late(Answer.answer_key), _IS_CLAIMED)
# nothing follows from words that were written down after their answer was given, unless they are
# waited for
WORDS = select(
    Answer.id,
    Answer.question_id,
    Answer.answer_text,
    or_(_DECIDED, and_(written_late(Answer.answer_key), ~_WAITED_FOR)).label("decided"),
).where(among(Answer.id, "answers"))
_HAS_LEASE = and_(_IS_CLAIMED, _F.c.lease_until > _MOMENT)
CLAIMED = select(_F.c.id).where(_OF_ANSWER, _HAS_LEASE)
# a recording whose words an engine writes down now, or that are about to fill its answer
_IN_WRITING = and_(
    Recording.transcriber != "", type_coerce(Recording.next_at, BigInteger) <= _MOMENT
)
IN_WRITING = select(Recording.id).where(Recording.answer_id == bindparam("answer_id"), _IN_WRITING)
AWAITED = (
    select(Recording.id)
    .join(_F, _F.c.answer_id == Recording.answer_id)
    .where(
        Recording.id == bindparam("recording"),
        Recording.key_hash == bindparam("key_hash"),
        _IN_WRITING,
        _HAS_LEASE,
    )
)

# a claim about an answer that was changed since settles as nothing
_MAY_ASK = and_(
    _IS_CLAIMED,
    _F.c.lease_until > _MOMENT,
    _F.c.answer_id != bindparam("answer_id"),
    exists().where(Answer.id == _F.c.answer_id, Answer.superseded.is_(False)),
)
_COUNTED = or_(_F.c.state == FollowUpState.ASKED, _MAY_ASK)
_OF_PARENT = _F.c.parent_question_id == bindparam("parent_question_id")
# as one that was asked: the built-in question, or words that were prepared for the same question
_REPEATED = and_(
    _F.c.state == FollowUpState.ASKED,
    or_(
        and_(_F.c.writer == "", bindparam("writer") == ""),
        and_(_OF_PARENT, _F.c.question_text == bindparam("question_text")),
    ),
)
# of a session: the questions that count against both caps, those of one scripted question, and the
# depth that the next of these has
_COUNTS = (
    select(
        func.count().filter(_OF_PARENT).label("of_parent"),
        func.count().label("total"),
        func.count().filter(_REPEATED).label("repeated"),
        (func.coalesce(func.max(_F.c.depth).filter(_OF_PARENT), 0) + 1).label("next_depth"),
    )
    .where(_F.c.session_id == bindparam("session_id"), _COUNTED)
    .subquery("counted")
)
# both caps admit one more, and two tabs do not ask the same twice
_MAY_FOLLOW = (
    _COUNTS.c.repeated == 0,
    _COUNTS.c.of_parent < bindparam("most_of_parent", type_=Integer),
    _COUNTS.c.total < bindparam("most", type_=Integer),
)
FREE_DEPTH = select(_COUNTS.c.next_depth).where(*_MAY_FOLLOW)
_SESSION = cast(Table, ResponseSession.__table__)
_OF_SESSION = _SESSION.c.id == bindparam("session_id")
_LAST_ACTIVE = type_coerce(_SESSION.c.last_active_at, BigInteger)
_NEW_STATE = {"last_active_at": _LAST_ACTIVE + 1}
_AS_SEEN = (
    _OF_SESSION,
    _SESSION.c.status == SessionStatus.IN_PROGRESS,
    _SESSION.c.last_active_at == bindparam("seen", type_=BigInteger),
)
_STATE = (_SESSION.c.status, _SESSION.c.answered, _LAST_ACTIVE.label("seen"))
STATE = select(*_STATE).where(_OF_SESSION)
# of a session whose form takes answers; as a new state, so that nobody who has counted before asks
# a question by `ask`
LOCK = (
    update(_SESSION)
    .where(
        _OF_SESSION,
        Form.id == _SESSION.c.form_id,
        Form.status == FormStatus.PUBLISHED,
        Form.deleted_at.is_(None),
    )
    .values(_NEW_STATE)
    .returning(*_STATE)
)
_HELD = and_(
    _F.c.id == bindparam("row"),
    _IS_CLAIMED,
    _F.c.lease_until == bindparam("lease", type_=BigInteger),
)
SETTLE_ASKED = (
    update(_F)
    .where(_HELD)
    .values(
        state=FollowUpState.ASKED,
        lease_until=None,
        **_bound("depth", *_WORDS),
    )
)
SETTLE_NOTHING = (
    update(_F)
    .where(_HELD)
    .values(state=FollowUpState.NOTHING, lease_until=None, **_bound("model_outcome"))
)
ASK_AGAIN = (
    update(_F)
    .where(
        _F.c.id == bindparam("row"),
        ~exists().where(_F.alias().c.answer_id == bindparam("answer_id")),
    )
    .values(answer_id=bindparam("answer_id"))
)


def _row(state: FollowUpState, **values: object) -> dict[str, object]:
    words = {"question_text": "", "writer": ""}
    return _bound(*_GIVEN) | words | values | {"state": state, "created_at": _MOMENT}


@built_once
def ask() -> Insert:
    """INSERT of a question within both caps, which returns its depth. No row if the answer is
    decided about, the same was asked already, or the session is not as `seen`.

    One statement, so that nobody waits for a lock between two. On PostgreSQL it makes a new state
    of the session: of two that count the same questions, the second finds another than it saw.
    """
    free = (*_AS_SEEN, ~exists().where(_OF_ANSWER), *_MAY_FOLLOW)
    read = select(_COUNTS.c.next_depth).select_from(_SESSION, _COUNTS).where(*free)
    written = update(_SESSION).where(*free).values(_NEW_STATE).returning(_COUNTS.c.next_depth)
    opened = (read if on_sqlite() else written).cte("opened")  # SQLite has one writer at a time
    given = _bound(*_GIVEN, *_WORDS) | {"depth": opened.c.next_depth, "created_at": _MOMENT}
    given["state"] = literal(FollowUpState.ASKED, _F.c.state.type)
    # SQLite takes ON CONFLICT for a join where there is no WHERE
    row = select(*given.values()).select_from(opened).where(true())
    made = insert_into(_F).from_select([*given], row).on_conflict_do_nothing()
    return made.returning(_F.c.depth)


@built_once
def claim() -> Insert:
    """INSERT of a claim, or UPDATE of one that was not settled in time; returns its id."""
    lease = bindparam("lease", type_=BigInteger)
    made = insert_into(_F).values(_row(FollowUpState.CLAIMED, lease_until=lease))
    return made.on_conflict_do_update(
        index_elements=["answer_id"],
        set_={"lease_until": made.excluded.lease_until},
        where=and_(_IS_CLAIMED, _F.c.lease_until <= _MOMENT),
    ).returning(_F.c.id)


@built_once
def pass_on() -> Insert:
    """INSERT of the decision that nothing follows, also in place of a claim."""
    return (
        insert_into(_F)
        .values(_row(FollowUpState.NOTHING))
        .on_conflict_do_update(
            index_elements=["answer_id"],
            set_={"state": FollowUpState.NOTHING, "lease_until": None},
            where=_IS_CLAIMED,
        )
    )


@dataclass(frozen=True)
class FollowUpContext:
    """The current answer to a question, about which nothing is decided yet.

    parent_id  of the scripted question
    seen       the state of the session, its `last_active_at` in milliseconds
    cap, most  how many follow-ups there may be: to one question, to all
    writer     the model that was named to the creator, "" for none
    dropped    id of a follow-up to the same words that was dropped, "" for none
    """

    form_id: str
    session_id: str
    place: QuestionNumber
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


def read_context(
    share_token: str, session_key: str, place: QuestionNumber, *, page_language: str = ""
) -> FollowUpContext | None:
    """None if nothing is to be decided: there is no current answer, something was decided about it,
    its question of the form or a follow-up to that was skipped, a cap is reached, the form takes no
    answers.

    raises  NotFound, StateConflict as `read_session_state`
    """
    state = read_session_state(share_token, session_key)
    return context_of(state, place, page_language=page_language)


def context_of(
    state: SessionState, place: QuestionNumber, words: str | None = None, *, page_language: str = ""
) -> FollowUpContext | None:
    """As `read_context`, of a session that is known.

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
    return FollowUpContext(
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


def is_claimed(about: FollowUpContext, *, now: datetime) -> bool:
    """Whether a model decides at this moment."""
    return bool(read_rows(CLAIMED, answer_id=about.answer_id, moment=to_millis(now)))


def _read_asked(state: SessionState, place: QuestionNumber) -> _Asked | None:
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
    state: SessionState, asked: _Asked, place: QuestionNumber, new: Mapping[str, _Known]
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
    place: QuestionNumber,
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
