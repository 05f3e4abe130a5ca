"""One answer, written together with everything that changes with it.

On PostgreSQL it is one statement, which is the transaction, too: whoever answers holds the row of
the form until the commit, and a trip in between would make all others wait. SQLite takes the same
steps one by one: nothing travels there, and a writer is alone anyway. The place was read before
that; nothing is written where it is another one by now.
"""

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, Connection, TextClause, bindparam, text
from sqlalchemy.exc import IntegrityError

from webapp.database import new_id, on_sqlite, rows, to_millis, write, writing
from webapp.domain.content import QuestionRow
from webapp.domain.limits import FORM_BYTES_MAX
from webapp.domain.places import Place, next_activity
from webapp.domain.responses import count_bytes, count_words
from webapp.domain.terms import QuestionKind, ResponseType
from webapp.prepared import run


def _with_json(words: str) -> TextClause:
    return text(words).bindparams(
        bindparam("skipped", type_=JSON), bindparam("answered", type_=JSON)
    )


_TOUCH = _with_json(
    """
    UPDATE response_sessions SET skipped = :skipped, answered = :answered,
      answer_count = :answer_count, suspect = suspect OR :suspect, last_active_at = :active
    WHERE id = :session_id AND status = 'in_progress' AND last_active_at = :seen
    """
)
_BEGIN = _with_json(
    """
    INSERT INTO response_sessions (id, form_id, key_hash, status, skipped, answered, answer_count,
      suspect, created_at, last_active_at)
    VALUES (:session_id, :form_id, :key_hash, 'in_progress', :skipped, :answered, :answer_count,
      :suspect, :now, :active)
    """
)
_STAMP = text(
    """
    UPDATE forms SET
      last_stamp = CASE WHEN last_stamp < :now THEN :now ELSE last_stamp + 1 END,
      answered_count = answered_count + :first, started_count = started_count + :started,
      answer_bytes = answer_bytes + :bytes
    WHERE id = :form_id AND status = 'published' AND deleted_at IS NULL
      AND answer_bytes + :bytes <= :most_bytes
    RETURNING last_stamp
    """
)
_COUNT = text(
    """
    INSERT INTO question_counts (form_id, question_id, answered, skipped)
    VALUES (:form_id, :question_id, :more_answered, :more_skipped)
    ON CONFLICT (form_id, question_id) DO UPDATE SET
      answered = question_counts.answered + excluded.answered,
      skipped = question_counts.skipped + excluded.skipped
    """
)
_ADD = text(
    """
    INSERT INTO answers (id, form_id, session_id, question_id, question_text, answer_text,
      response_type, question_kind, answer_key, word_count, superseded, stamp)
    VALUES (:id, :form_id, :session_id, :question_id, :question_text, :answer_text,
      :response_type, :question_kind, :answer_key, :word_count, false, :stamp)
    ON CONFLICT DO NOTHING
    """
)
_SUPERSEDE = text("UPDATE answers SET superseded = true WHERE id = :earlier")
# Locks in the order of all writers: session, form, counters. Every step waits for the one before.
_NEXT_AT_ONCE = _with_json(
    """
    WITH held AS (
      SELECT id FROM response_sessions
      WHERE id = :session_id AND status = 'in_progress' AND last_active_at = :seen
        AND NOT EXISTS (
          SELECT FROM answers WHERE session_id = :session_id AND answer_key = :answer_key)
      FOR UPDATE
    ), stamped AS (
      UPDATE forms SET
        last_stamp = CASE WHEN last_stamp < :now THEN :now ELSE last_stamp + 1 END,
        answered_count = answered_count + :first, answer_bytes = answer_bytes + :bytes
      FROM held
      WHERE forms.id = :form_id AND status = 'published' AND deleted_at IS NULL
        AND answer_bytes + :bytes <= :most_bytes
      RETURNING last_stamp
    ), touched AS (
      UPDATE response_sessions SET skipped = :skipped, answered = :answered,
        answer_count = :answer_count, suspect = suspect OR :suspect, last_active_at = :active
      FROM stamped WHERE id = :session_id
    ), superseded AS (
      UPDATE answers SET superseded = true FROM stamped WHERE id = :earlier
    ), counted AS (
      INSERT INTO question_counts (form_id, question_id, answered, skipped)
      SELECT :form_id, :question_id, :more_answered, :more_skipped FROM stamped
      ON CONFLICT (form_id, question_id) DO UPDATE SET
        answered = question_counts.answered + excluded.answered,
        skipped = question_counts.skipped + excluded.skipped
    )
    INSERT INTO answers (id, form_id, session_id, question_id, question_text, answer_text,
      response_type, question_kind, answer_key, word_count, superseded, stamp)
    SELECT :id, :form_id, :session_id, :question_id, :question_text, :answer_text,
      :response_type, :question_kind, :answer_key, :word_count, false, last_stamp
    FROM stamped
    RETURNING stamp
    """
)
# For a form that is closed or full there is no stamp, so NOT NULL undoes the whole statement.
_FIRST_AT_ONCE = _with_json(
    """
    WITH begun AS (
      INSERT INTO response_sessions (id, form_id, key_hash, status, skipped, answered,
        answer_count, suspect, created_at, last_active_at)
      VALUES (:session_id, :form_id, :key_hash, 'in_progress', :skipped, :answered,
        :answer_count, :suspect, :now, :active)
      RETURNING id
    ), stamped AS (
      UPDATE forms SET
        last_stamp = CASE WHEN last_stamp < :now THEN :now ELSE last_stamp + 1 END,
        answered_count = answered_count + 1, started_count = started_count + 1,
        answer_bytes = answer_bytes + :bytes
      FROM begun
      WHERE forms.id = :form_id AND status = 'published' AND deleted_at IS NULL
        AND answer_bytes + :bytes <= :most_bytes
      RETURNING last_stamp
    ), counted AS (
      INSERT INTO question_counts (form_id, question_id, answered, skipped)
      SELECT :form_id, :question_id, 1, 0 FROM stamped
      ON CONFLICT (form_id, question_id) DO UPDATE SET answered = question_counts.answered + 1
    )
    INSERT INTO answers (id, form_id, session_id, question_id, question_text, answer_text,
      response_type, question_kind, answer_key, word_count, superseded, stamp)
    SELECT :id, :form_id, id, :question_id, :question_text, :answer_text, :response_type,
      :question_kind, :answer_key, :word_count, false, (SELECT last_stamp FROM stamped)
    FROM begun
    RETURNING stamp
    """
)


class _Refused(Exception):
    """A step found that something has changed; nothing is written."""


def store_answer(
    place: Place,
    question: QuestionRow,
    *,
    answer_text: str,
    answer_key: str,
    now: datetime,
    suspect: bool = False,
    form_bytes_max: int = FORM_BYTES_MAX,
) -> bool:
    """Write an answer with its stamp and commit.

    False, and nothing written, when the place is another by now, the form takes no answers or has
    no room for it, or the key has stored one.
    """
    values = {
        **_answer(place, question, answer_text, answer_key),
        **_changes(place, question["id"], now),
        "suspect": suspect,
        "bytes": count_bytes(question["text"], answer_text),
        "most_bytes": form_bytes_max,
    }
    values["answered"] = place.answered | {question["id"]: values["id"]}
    begins = place.last_active_at == 0
    try:
        if not on_sqlite():
            return bool(write(_FIRST_AT_ONCE if begins else _NEXT_AT_ONCE, **values))
        with writing() as connection:
            _in_steps(connection, values, begins=begins)
    except _Refused:
        return False
    except IntegrityError:
        if begins:  # so did another request with the same key, or the form has closed or is full
            return False
        raise
    return True


def touch_session(
    place: Place, now: datetime, *, skipped: list[str], answered: dict[str, str]
) -> None:
    """Write what a locked session has reached; `answered` holds current answers by question id.

    Does not commit.
    """
    rows(
        _TOUCH,
        session_id=place.session_id,
        skipped=skipped,
        answered=answered,
        answer_count=len(answered),
        suspect=False,
        seen=place.last_active_at,
        active=next_activity(place, now),
    )


def supersede(answer_id: str | None) -> None:
    """Never return this answer again; nothing for None. Does not commit."""
    if answer_id:
        rows(_SUPERSEDE, earlier=answer_id)


def _in_steps(connection: Connection, values: dict[str, Any], *, begins: bool) -> None:
    if begins:
        run(connection, _BEGIN, values)
    elif not run(connection, _TOUCH, values).rowcount:
        raise _Refused
    stamps = run(connection, _STAMP, values).fetchall()
    if not stamps:
        raise _Refused
    if not run(connection, _ADD, values | {"stamp": stamps[0][0]}).rowcount:
        raise _Refused
    if values["earlier"]:
        run(connection, _SUPERSEDE, values)
    if values["more_answered"] or values["more_skipped"]:
        run(connection, _COUNT, values)


def _answer(
    place: Place, question: QuestionRow, answer_text: str, answer_key: str
) -> dict[str, Any]:
    """The new row of answers, all but its stamp."""
    return {
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


def _changes(place: Place, question_id: str, now: datetime) -> dict[str, Any]:
    """What becomes of the session, the form and the counters; `answered` misses the new answer."""
    earlier = place.answered.get(question_id)
    return {
        "key_hash": place.key_hash,
        "now": to_millis(now),
        "seen": place.last_active_at,
        "active": next_activity(place, now),
        "first": int(not place.answered),
        "started": int(place.last_active_at == 0),
        "earlier": earlier,
        "skipped": [each for each in place.skipped if each != question_id],
        "answer_count": len(place.answered) + int(earlier is None),
        "more_answered": int(earlier is None),
        "more_skipped": -int(question_id in place.skipped),
    }
