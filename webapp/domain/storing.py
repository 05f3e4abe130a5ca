"""One answer, written together with everything that changes with it.

On PostgreSQL it is one statement, because whoever answers holds the row of the form until the
commit, and a trip between two statements would make all others wait. SQLite takes the same steps
one by one: nothing travels there, and a writer is alone anyway.
"""

from datetime import datetime
from typing import Any, cast

from sqlalchemy import JSON, Table, bindparam, text, update
from sqlalchemy.dialects import sqlite

from webapp.database import db, new_id, rows, to_millis
from webapp.domain.content import QuestionRow
from webapp.domain.counts import Reached, count_questions
from webapp.domain.places import Place, find_stamp, is_new
from webapp.domain.responses import Answer, ResponseSession, count_words
from webapp.domain.terms import QuestionKind, ResponseType

_ANSWERS = cast(Table, Answer.__table__)
_SESSIONS = cast(Table, ResponseSession.__table__)

_ADD = sqlite.insert(_ANSWERS).on_conflict_do_nothing()
_SUPERSEDE = update(_ANSWERS).where(_ANSWERS.c.id == bindparam("earlier")).values(superseded=True)
_TOUCH = (
    update(_SESSIONS)
    .where(_SESSIONS.c.id == bindparam("session"))
    .values(
        skipped=bindparam("new_skipped"),
        answered=bindparam("new_answered"),
        answer_count=bindparam("new_count"),
        last_active_at=bindparam("now"),
    )
)
_AT_ONCE = text(
    """
    WITH stamped AS (
      UPDATE forms SET
        last_stamp = CASE WHEN last_stamp < :now THEN :now ELSE last_stamp + 1 END,
        answered_count = answered_count + :first,
        started_count = started_count + :started
      WHERE id = :form_id AND status = 'published' AND deleted_at IS NULL
      RETURNING last_stamp
    ), superseded AS (
      UPDATE answers SET superseded = true WHERE id = :earlier
    ), touched AS (
      UPDATE response_sessions SET skipped = :skipped, answered = :answered,
        answer_count = :answer_count, last_active_at = :now
      WHERE id = :session_id
    ), counted AS (
      INSERT INTO question_counts (form_id, question_id, answered, skipped)
      VALUES (:form_id, :question_id, :more_answered, :more_skipped)
      ON CONFLICT (form_id, question_id) DO UPDATE SET
        answered = question_counts.answered + excluded.answered,
        skipped = question_counts.skipped + excluded.skipped
    )
    INSERT INTO answers (id, form_id, session_id, question_id, question_text, answer_text,
      response_type, question_kind, answer_key, word_count, superseded, stamp)
    SELECT :id, :form_id, :session_id, :question_id, :question_text, :answer_text,
      :response_type, :question_kind, :answer_key, :word_count, false, last_stamp
    FROM stamped
    ON CONFLICT DO NOTHING
    """
).bindparams(bindparam("skipped", type_=JSON), bindparam("answered", type_=JSON))


def store_answer(
    place: Place, question: QuestionRow, *, answer_text: str, answer_key: str, now: datetime
) -> bool:
    """Write an answer with its stamp; False when the form takes none or the key has stored one.

    Does not commit. After False the transaction is good for nothing but a rollback.
    """
    answer = {
        "id": new_id("ans"),
        "form_id": place.form_id,
        "session_id": place.session_id,
        "question_id": question["id"],
        "question_text": question["text"],
        "answer_text": answer_text,
        "response_type": ResponseType.TEXT,
        "question_kind": QuestionKind.SCRIPTED,
        "answer_key": answer_key,
        "word_count": count_words(answer_text),
    }
    sqlite_here = db.engine.dialect.name == "sqlite"
    return (_in_steps if sqlite_here else _at_once)(place, answer, now)


def touch_session(
    place: Place, now: datetime, *, skipped: list[str], answered: dict[str, str]
) -> None:
    """Write what a session has reached; `answered` holds current answers by question id."""
    rows(
        _TOUCH,
        session=place.session_id,
        new_skipped=skipped,
        new_answered=answered,
        new_count=len(answered),
        now=now,
    )


def supersede(answer_id: str | None) -> None:
    """Never return this answer again; nothing for None."""
    if answer_id:
        rows(_SUPERSEDE, earlier=answer_id)


def _at_once(place: Place, answer: dict[str, Any], now: datetime) -> bool:
    question_id = answer["question_id"]
    earlier = place.answered.get(question_id)
    answered = place.answered | {question_id: answer["id"]}
    stored = rows(
        _AT_ONCE,
        **answer,
        now=to_millis(now),
        first=int(not place.answered),
        started=int(is_new(place)),
        earlier=earlier,
        skipped=_without(place.skipped, question_id),
        answered=answered,
        answer_count=len(answered),
        more_answered=int(earlier is None),
        more_skipped=-int(question_id in place.skipped),
    )
    return stored.rowcount == 1


def _in_steps(place: Place, answer: dict[str, Any], now: datetime) -> bool:
    question_id = answer["question_id"]
    earlier = place.answered.get(question_id)
    stamp = find_stamp(place, now, first=not place.answered)
    if stamp is None or not rows(_ADD, **answer, superseded=False, stamp=stamp).rowcount:
        return False
    supersede(earlier)
    change = Reached(int(earlier is None), -int(question_id in place.skipped))
    count_questions(place.form_id, {question_id: change})
    answered = place.answered | {question_id: answer["id"]}
    touch_session(place, now, skipped=_without(place.skipped, question_id), answered=answered)
    return True


def _without(question_ids: list[str], question_id: str) -> list[str]:
    return [each for each in question_ids if each != question_id]
