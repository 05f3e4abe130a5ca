"""SQL statements about the follow-ups of one session, built once; times in milliseconds."""

from typing import cast

import sqlalchemy as sa

from webapp.base.database import among, built_once, insert_into
from webapp.base.vocabulary import FollowUpState, FormStatus, SessionStatus
from webapp.records.follow_ups import FollowUp
from webapp.records.forms import Form
from webapp.records.responses.models import Answer, ResponseSession
from webapp.records.responses.recordings import Recording, replaced_by_late, written_late

_F = cast(sa.Table, FollowUp.__table__)
_MOMENT = sa.bindparam("moment", type_=sa.BigInteger)
_OF_ANSWER = _F.c.answer_id == sa.bindparam("answer_id")
_IS_CLAIMED = _F.c.state == FollowUpState.CLAIMED
_GIVEN = ("id", "form_id", "session_id", "parent_question_id", "answer_id")
_WORDS = ("question_text", "technique", "reason", "writer", "model_outcome")


def _bound(*names: str) -> dict[str, sa.ColumnElement[object]]:
    return {name: sa.bindparam(name, type_=_F.c[name].type) for name in names}


BRIEF = sa.select(Form.title, Form.goal, Form.private_context).where(
    Form.id == sa.bindparam("form_id")
)
_DECIDED = sa.exists().where(_F.c.answer_id == Answer.id, ~_IS_CLAIMED)
_WAITED_FOR = sa.exists().where(_F.c.answer_id == replaced_by_late(Answer.answer_key), _IS_CLAIMED)
# an answer that was transcribed late gets no follow-up, unless a claim waits for it
WORDS = sa.select(
    Answer.id,
    Answer.question_id,
    Answer.answer_text,
    sa.or_(_DECIDED, sa.and_(written_late(Answer.answer_key), ~_WAITED_FOR)).label("decided"),
).where(among(Answer.id, "answers"))
_HAS_LEASE = sa.and_(_IS_CLAIMED, _F.c.lease_until > _MOMENT)
CLAIMED = sa.select(_F.c.id).where(_OF_ANSWER, _HAS_LEASE)
# an engine is transcribing the recording, or the transcript is about to fill its answer
_IN_WRITING = sa.and_(
    Recording.transcriber != "", sa.type_coerce(Recording.next_at, sa.BigInteger) <= _MOMENT
)
IN_WRITING = sa.select(Recording.id).where(
    Recording.answer_id == sa.bindparam("answer_id"), _IN_WRITING
)
AWAITED = (
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
    _IS_CLAIMED,
    _F.c.lease_until > _MOMENT,
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
_MAY_FOLLOW = (
    _COUNTS.c.repeated == 0,
    _COUNTS.c.of_parent < sa.bindparam("most_of_parent", type_=sa.Integer),
    _COUNTS.c.total < sa.bindparam("most", type_=sa.Integer),
)
FREE_DEPTH = sa.select(_COUNTS.c.next_depth).where(*_MAY_FOLLOW)
_SESSION = cast(sa.Table, ResponseSession.__table__)
# only if the form takes answers; writes a new state, so that a concurrent answer or skip, which
# may have read fewer follow-ups, finds the session changed
LOCK = (
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
SETTLE_ASKED = (
    sa.update(_F)
    .where(_HELD)
    .values(
        state=FollowUpState.ASKED,
        lease_until=None,
        **_bound("depth", *_WORDS),
    )
)
SETTLE_NOTHING = (
    sa.update(_F)
    .where(_HELD)
    .values(state=FollowUpState.NOTHING, lease_until=None, **_bound("model_outcome"))
)
ASK_AGAIN = (
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


@built_once
def ask() -> sa.Insert:
    """Build the INSERT of a question; it returns no row if the answer has a decision."""
    made = insert_into(_F).values(_row(FollowUpState.ASKED, "depth", *_WORDS))
    return made.on_conflict_do_nothing().returning(_F.c.id)


@built_once
def claim() -> sa.Insert:
    """Build the INSERT of a claim, or the UPDATE of an expired one; it returns the id."""
    lease = sa.bindparam("lease", type_=sa.BigInteger)
    made = insert_into(_F).values(_row(FollowUpState.CLAIMED, lease_until=lease))
    return made.on_conflict_do_update(
        index_elements=["answer_id"],
        set_={"lease_until": made.excluded.lease_until},
        where=sa.and_(_IS_CLAIMED, _F.c.lease_until <= _MOMENT),
    ).returning(_F.c.id)


@built_once
def pass_on() -> sa.Insert:
    """Build the INSERT of the decision that nothing follows; it also replaces a claim."""
    return (
        insert_into(_F)
        .values(_row(FollowUpState.NOTHING))
        .on_conflict_do_update(
            index_elements=["answer_id"],
            set_={"state": FollowUpState.NOTHING, "lease_until": None},
            where=_IS_CLAIMED,
        )
    )
