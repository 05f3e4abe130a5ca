"""Everything that was answered, read in batches: constant memory, however much there is.

Between two batches no transaction is open and no connection is held, so a slow reader holds up
nobody. What is answered while an export runs is read at its end.
"""

from collections.abc import Iterator
from typing import NamedTuple

from sqlalchemy import BigInteger, bindparam, select, tuple_, type_coerce

from webapp.database import db, rows
from webapp.domain.responses import (
    ANSWER_COLUMNS,
    SESSION_COLUMNS,
    Answer,
    AnswerRow,
    ResponseSession,
    SessionAnswers,
    SessionRow,
    current_answers,
)

ANSWERS_IN_BATCH = 1000
PEOPLE_IN_BATCH = 100

# Sessions are looked up once for each batch: a join would find the same one for every answer.
_ANSWERS = (
    select(*ANSWER_COLUMNS)
    .where(
        Answer.form_id == bindparam("form_id"),
        Answer.stamp > bindparam("after"),
        Answer.superseded.is_(False),
    )
    .order_by(Answer.stamp)
    .limit(bindparam("most"))
)
_SESSIONS = select(*SESSION_COLUMNS).where(ResponseSession.id.in_(bindparam("ids", expanding=True)))


class AnswerBatch(NamedTuple):
    """Answers in the order of their stamps, and by id the sessions that they belong to."""

    answers: list[AnswerRow]
    people: dict[str, SessionRow]


def read_answers(form_id: str) -> Iterator[AnswerBatch]:
    """Batches of all current answers with their sessions, in the order of their stamps.

    An answer corrected meanwhile comes again with its new words, at the end; none is missed.
    """
    after = 0
    while found := rows(_ANSWERS, form_id=form_id, after=after, most=ANSWERS_IN_BATCH).all():
        answers = list(map(AnswerRow._make, found))
        session_ids = list({answer.session_id for answer in answers})
        people = {row.id: SessionRow._make(row) for row in rows(_SESSIONS, ids=session_ids)}
        db.session.rollback()
        yield AnswerBatch([each for each in answers if each.session_id in people], people)
        after = answers[-1].stamp
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
    while found := list(db.session.execute(query.where(position > tuple_(*after)))):
        people = {row.id: SessionAnswers(SessionRow._make(row)) for row in found}
        for answer in current_answers(people):
            people[answer.session_id].answers.append(answer)
        db.session.rollback()
        yield [person for person in people.values() if person.answers]
        after = (found[-1].created_at, found[-1].id)
    db.session.rollback()
