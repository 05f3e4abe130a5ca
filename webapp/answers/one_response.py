"""One response: every question in order, and its neighbours."""

from typing import NamedTuple

from sqlalchemy import BigInteger, Select, and_, bindparam, select, tuple_, type_coerce

from webapp.answers import unread
from webapp.answers.threads import AnswerThread, threads_of
from webapp.base.database import read_rows
from webapp.base.errors import ErrorCode, NotFound
from webapp.records.forms import FormRow
from webapp.records.responses import models

LOOKED_AT = 500  # sessions in one request: those without an answer are passed over


class OneResponse(NamedTuple):
    """One response.

    threads       by id of the question of the form
    skipped       ids of questions
    stamp         the newest of its answers and of its completion, in milliseconds
    is_new        its creator has not read it as far as that
    newer, older  ids of its neighbours in the list of all responses, None at its ends
    next_unread   id of the unread response to read next
    """

    person: models.SessionAnswers
    threads: dict[str, AnswerThread]
    skipped: list[str]
    stamp: int
    is_new: bool
    newer: str | None
    older: str | None
    next_unread: str | None


def get_response(form: FormRow, session_id: str) -> OneResponse:
    """The response of this session with all its words; raises NotFound, also for a deleted one"""
    found = read_rows(_ONE, session=session_id, form=form.id)
    if not found:
        raise no_response()
    *row, skipped, read_stamp = found[0]
    session = models.SessionRow._make(row)
    person = models.SessionAnswers(session, models.current_answers([session_id]))
    stamp = unread.newest_stamp(session.completed_stamp, *(each.stamp for each in person.answers))
    place = {"form": form.id, "began": session.created_at, "id": session_id}
    return OneResponse(
        person,
        {each.question_id: each for each in threads_of(form, [person])[session_id]},
        skipped,
        stamp,
        stamp > max(form.seen_stamp, read_stamp or 0),
        _neighbour(_NEWER, place),
        _neighbour(_OLDER, place),
        unread.next_unread(form, session_id, session.completed_stamp),
    )


def no_response() -> NotFound:
    """The refusal of an unknown response, and of one that is gone."""
    return NotFound(
        ErrorCode.NOT_FOUND, "There is no such response.", "It may be withdrawn or deleted."
    )


def newest_response(form: FormRow) -> str | None:
    """The id of the newest unread response, or of the newest; None without any."""
    place = {"form": form.id, "began": form.last_stamp + 1, "id": ""}
    return unread.next_unread(form) or _neighbour(_OLDER, place)


def _neighbour(query: Select[str], place: dict[str, object]) -> str | None:
    found = read_rows(query, **place)
    return str(found[0].id) if found else None


def _first_of(nearest: Select[str, bool]) -> Select[str]:
    """The first with an answer that is not deleted just now."""
    some = nearest.limit(LOOKED_AT).subquery()
    return select(some.c.id).where(some.c.shown).limit(1)


_S = models.ResponseSession
_ONE = select(*models.SESSION_COLUMNS, _S.skipped, _S.read_stamp).where(
    _S.id == bindparam("session"), _S.form_id == bindparam("form"), models.IS_SHOWN
)
_BEGAN = type_coerce(_S.created_at, BigInteger)
_PLACE, _HERE = tuple_(_BEGAN, _S.id), tuple_(bindparam("began"), bindparam("id"))
_SOME = select(_S.id, and_(_S.answer_count > 0, models.IS_SHOWN).label("shown")).where(
    _S.form_id == bindparam("form")
)
_OLDER = _first_of(_SOME.where(_PLACE < _HERE).order_by(_S.created_at.desc(), _S.id.desc()))
_NEWER = _first_of(_SOME.where(_PLACE > _HERE).order_by(_S.created_at, _S.id))
