"""Everything that was answered, read in batches: constant memory, however much there is.

Between two batches no transaction is open and no connection is held, so a slow reader holds up
nobody. What is answered while an export runs is read at its end.
"""

from collections.abc import Iterator
from typing import Any

from sqlalchemy import BigInteger, Row, select, tuple_, type_coerce

from webapp.database import db
from webapp.domain.responses import (
    SESSION_COLUMNS,
    Answer,
    ResponseSession,
    SessionAnswers,
    SessionRow,
    current_answers,
    raw_column,
)

ANSWERS_IN_BATCH = 1000
PEOPLE_IN_BATCH = 100

_COLUMNS = (
    ResponseSession.id.label("session_id"),
    raw_column(ResponseSession.status),
    ResponseSession.responder_name,
    raw_column(ResponseSession.created_at),
    raw_column(ResponseSession.last_active_at),
    ResponseSession.completed_stamp,
    Answer.question_id,
    Answer.question_text,
    raw_column(Answer.question_kind),
    Answer.parent_question_id,
    Answer.id,
    Answer.stamp,
    raw_column(Answer.response_type),
    Answer.answer_text,
)


def read_answers(form_id: str) -> Iterator[list[Row[Any]]]:
    """Batches of all current answers with their sessions, in the order of their stamps.

    An answer corrected meanwhile comes again with its new words, at the end; none is missed.
    """
    query = (
        select(*_COLUMNS)
        .join(ResponseSession, ResponseSession.id == Answer.session_id)
        .where(Answer.form_id == form_id, Answer.superseded.is_(False))
        .order_by(Answer.stamp)
        .limit(ANSWERS_IN_BATCH)
    )
    after = 0
    while batch := list(db.session.execute(query.where(Answer.stamp > after))):
        db.session.rollback()
        yield batch
        after = batch[-1].stamp
    db.session.rollback()


def read_people(form_id: str) -> Iterator[list[SessionAnswers]]:
    """Batches of all sessions with their current answers, in the order of their beginning."""
    began = type_coerce(ResponseSession.created_at, BigInteger)
    query = (
        select(*SESSION_COLUMNS)
        .where(ResponseSession.form_id == form_id)
        .order_by(ResponseSession.created_at, ResponseSession.id)
        .limit(PEOPLE_IN_BATCH)
    )
    after = (0, "")
    position = tuple_(began, ResponseSession.id)
    while rows := list(db.session.execute(query.where(position > tuple_(*after)))):
        people = {row.id: SessionAnswers(SessionRow._make(row)) for row in rows}
        for answer in current_answers(people):
            people[answer.session_id].answers.append(answer)
        db.session.rollback()
        yield [person for person in people.values() if person.answers]
        after = (rows[-1].created_at, rows[-1].id)
    db.session.rollback()
