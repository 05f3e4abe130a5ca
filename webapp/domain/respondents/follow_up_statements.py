"""The statements of decisions about follow-up questions; times in milliseconds."""

from typing import cast

from sqlalchemy import BigInteger, Insert, Table, and_, bindparam, exists, func, or_, select, update

from webapp.database import among, built_once, insert_into
from webapp.domain.follow_ups.models import FollowUp
from webapp.domain.forms.models import Form, shared_form
from webapp.domain.respondents.session_state import STATE_COLUMNS
from webapp.domain.responses.models import Answer, ResponseSession
from webapp.domain.shared.vocabulary import FollowUpState

_F = cast(Table, FollowUp.__table__)
_MOMENT = bindparam("moment", type_=BigInteger)
_OF_ANSWER = _F.c.answer_id == bindparam("answer")
_IS_CLAIMED = _F.c.state == FollowUpState.CLAIMED
_GIVEN = ("id", "form_id", "session_id", "parent_question_id", "answer_id")
_WORDS = ("depth", "question_text", "technique", "reason", "writer")

# a stored session and its form, as SessionState and FormTerms
SITUATION = (
    select(
        *STATE_COLUMNS,
        Form.title,
        Form.goal,
        Form.private_context,
        Form.follow_up_mode,
        Form.followups_given,
        Form.max_total_questions,
        Form.follow_up_writer,
    )
    .join(ResponseSession, ResponseSession.form_id == Form.id)
    .where(shared_form(bindparam("share_token")), ResponseSession.key_hash == bindparam("key_hash"))
)
WORDS = select(
    Answer.id,
    Answer.question_id,
    Answer.answer_text,
    exists().where(_F.c.answer_id == Answer.id, ~_IS_CLAIMED).label("decided"),
).where(among(Answer.id, "answers"))
CLAIMED = select(_F.c.id).where(_OF_ANSWER, _IS_CLAIMED, _F.c.lease_until > _MOMENT)

_COUNTED = or_(
    _F.c.state == FollowUpState.ASKED,
    and_(_IS_CLAIMED, _F.c.lease_until > _MOMENT, _F.c.answer_id != bindparam("answer")),
)
_OF_PARENT = _F.c.parent_question_id == bindparam("parent")
# of a session: the questions that count against both caps, those of one scripted question, and the
# depth that the next of these has
COUNTS = select(
    func.count().filter(_OF_PARENT).label("of_parent"),
    func.count().label("total"),
    (func.coalesce(func.max(_F.c.depth).filter(_OF_PARENT), 0) + 1).label("next_depth"),
).where(_F.c.session_id == bindparam("session"), _COUNTED)
_SESSION = cast(Table, ResponseSession.__table__)
LOCK = (
    select(_SESSION.c.id, _SESSION.c.status, _SESSION.c.answered)
    .where(_SESSION.c.id == bindparam("session"))
    .with_for_update()
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
        **{name: bindparam(name, type_=_F.c[name].type) for name in _WORDS},
    )
)
SETTLE_NOTHING = update(_F).where(_HELD).values(state=FollowUpState.NOTHING, lease_until=None)
ASK_AGAIN = (
    update(_F)
    .where(
        _F.c.id == bindparam("row"),
        ~exists().where(_F.alias().c.answer_id == bindparam("answer")),
    )
    .values(answer_id=bindparam("answer"))
)


def _row(state: FollowUpState, **values: object) -> dict[str, object]:
    given = {name: bindparam(name, type_=_F.c[name].type) for name in _GIVEN}
    words = {"question_text": "", "writer": ""}
    return given | words | values | {"state": state, "created_at": _MOMENT}


@built_once
def ask() -> Insert:
    """INSERT of a question; none if something is decided about the answer."""
    words = {name: bindparam(name, type_=_F.c[name].type) for name in _WORDS}
    return insert_into(_F).values(_row(FollowUpState.ASKED, **words)).on_conflict_do_nothing()


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
