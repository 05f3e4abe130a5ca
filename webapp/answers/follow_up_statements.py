"""The statements about follow-ups of one session, each built once; times in milliseconds."""

from typing import cast

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

from webapp.base.database import among, built_once, insert_into, on_sqlite
from webapp.base.vocabulary import FollowUpState, FormStatus, SessionStatus
from webapp.records.follow_ups import FollowUp
from webapp.records.forms import Form
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
