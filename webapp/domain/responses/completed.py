"""A completed response with all of its answers, read in pages of fragments."""

from typing import NamedTuple

from sqlalchemy import and_, bindparam, select

from webapp.database import read_rows
from webapp.domain.responses.fragments import (
    START,
    Fragment,
    cut_page,
    read_cursor,
    write_cursor,
)
from webapp.domain.responses.models import (
    ANSWER_COLUMNS,
    SESSION_COLUMNS,
    Answer,
    AnswerRow,
    ResponseSession,
    SessionAnswers,
    SessionRow,
)
from webapp.domain.responses.recordings import attachments_of
from webapp.domain.shared.error_codes import ErrorCode
from webapp.domain.shared.errors import InvalidInput, NotFound, StateConflict
from webapp.domain.shared.vocabulary import SessionStatus


class FragmentsRead(NamedTuple):
    """One page; `next_cursor` is None on the last one."""

    fragments: list[Fragment]
    next_cursor: str | None


def get_completed_response(form_id: str, response_id: str) -> SessionAnswers:
    """The response with its current answers, oldest first, as both were at one moment.

    raises  NotFound `not_found`, also for a withdrawn one; StateConflict `response_not_completed`
    """
    rows = read_rows(_RESPONSE, form_id=form_id, response_id=response_id)
    if not rows:
        raise NotFound(
            ErrorCode.NOT_FOUND,
            "There is no response with this responseId in this form; it may have been withdrawn.",
            "Use a responseId of an event, or a sessionId that reading responses returned.",
        )
    session = SessionRow._make(rows[0][:_ANSWER])
    if session.status != SessionStatus.COMPLETED:
        raise StateConflict(
            ErrorCode.RESPONSE_NOT_COMPLETED,
            "The respondent has not sent this response yet.",
            "Wait until it is sent. What is answered so far is among the responses of the form.",
        )
    answers = [AnswerRow._make(row[_ANSWER:]) for row in rows if row[_ANSWER] is not None]
    return SessionAnswers(session, answers, attachments_of(answers))


def read_fragments(
    key: bytes, account_id: str, response: SessionAnswers, cursor: str | None, limit: int
) -> FragmentsRead:
    """The page that the cursor names, without one the first. raises InvalidInput `invalid_cursor`

    key    signs cursors
    limit  how many answers it has at most
    """
    of = account_id, response.session.id, response.answers
    start = START if cursor is None else read_cursor(key, *of, cursor)
    if start is None:
        raise InvalidInput(
            ErrorCode.INVALID_CURSOR,
            "cursor: is not one of this response as it is now.",
            "Begin again: send the call without cursor, and drop the fragments read so far.",
            field="cursor",
        )
    page = cut_page(response.answers, start, limit)
    following = page.following
    return FragmentsRead(page.fragments, write_cursor(key, *of, following) if following else None)


_ANSWER = len(SESSION_COLUMNS)  # the first place of an answer in a row
_RESPONSE = (
    select(*SESSION_COLUMNS, *ANSWER_COLUMNS)
    .outerjoin(Answer, and_(Answer.session_id == ResponseSession.id, Answer.superseded.is_(False)))
    .where(
        ResponseSession.id == bindparam("response_id"),
        ResponseSession.form_id == bindparam("form_id"),
    )
    .order_by(Answer.stamp)
)
