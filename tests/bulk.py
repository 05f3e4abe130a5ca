"""Many rows at once, written or read by the database itself. All need an application context."""

from collections.abc import Callable
from typing import Any

from sqlalchemy import Table, insert, select, text

from webapp.base.database import db
from webapp.records.drafts import Draft
from webapp.records.forms import Form

ANSWERS_PER_SESSION = 10

Dump = dict[str, list[str]]

# Session s holds the stamps :step s + 1 … :step s + 10 of its answers, those of its follow-ups, and
# :step (s + 1) of its completion.
SESSIONS = """
INSERT INTO response_sessions (id, form_id, key_hash, status, responder_name, skipped,
  answered, answer_count, suspect, created_at, last_active_at, completed_stamp)
WITH RECURSIVE n(s) AS (SELECT 0 UNION ALL SELECT s + 1 FROM n WHERE s + 1 < :sessions)
SELECT :form || '-s-' || s, :form, :form || '-key-' || s, 'completed', 'Robin', '[]',
  '{}', :step - 1, false, :base + :step * s, :base + :step * s, :base + :step * (s + 1) FROM n
"""
ANSWERS = """
INSERT INTO answers (id, form_id, session_id, question_id, question_text, answer_text,
  response_type, question_kind, answer_key, word_count, superseded, stamp)
WITH RECURSIVE n(s) AS (SELECT 0 UNION ALL SELECT s + 1 FROM n WHERE s + 1 < :sessions),
  m(q) AS (SELECT 1 UNION ALL SELECT q + 1 FROM m WHERE q < 10)
SELECT :form || '-a-' || s || '-' || q, :form, :form || '-s-' || s, 'q_' || q,
  'What went wrong in step ' || q || '?', :words, 'text', 'scripted', 'key-' || q, 28,
  false, :base + :step * s + q FROM n CROSS JOIN m
"""
# all to the first question, each because of the answer before it
FOLLOW_UP_ANSWERS = """
INSERT INTO answers (id, form_id, session_id, question_id, question_text, answer_text,
  response_type, question_kind, parent_question_id, answer_key, word_count, superseded, stamp)
WITH RECURSIVE n(s) AS (SELECT 0 UNION ALL SELECT s + 1 FROM n WHERE s + 1 < :sessions),
  m(d) AS (SELECT 1 UNION ALL SELECT d + 1 FROM m WHERE d < :follow_ups)
SELECT :form || '-a-' || s || '-1-' || d, :form, :form || '-s-' || s,
  :form || '-q-' || s || '-' || d, 'What came of it?', :words, 'text', 'followup', 'q_1',
  'key-f-' || d, 28, false, :base + :step * s + 10 + d FROM n CROSS JOIN m
"""
FOLLOW_UPS = """
INSERT INTO follow_ups (id, form_id, session_id, parent_question_id, answer_id, state, depth,
  question_text, technique, reason, writer, created_at)
WITH RECURSIVE n(s) AS (SELECT 0 UNION ALL SELECT s + 1 FROM n WHERE s + 1 < :sessions),
  m(d) AS (SELECT 1 UNION ALL SELECT d + 1 FROM m WHERE d < :follow_ups)
SELECT :form || '-q-' || s || '-' || d, :form, :form || '-s-' || s, 'q_1',
  :form || '-a-' || s || '-1' || CASE d WHEN 1 THEN '' ELSE '-' || (d - 1) END, 'asked', d,
  'What came of it?', 'impact', 'deeper', '', :base + :step * s FROM n CROSS JOIN m
"""
COUNTS = """
INSERT INTO question_counts (form_id, question_id, answered, skipped)
WITH RECURSIVE m(q) AS (SELECT 1 UNION ALL SELECT q + 1 FROM m WHERE q < 10)
SELECT :form, 'q_' || q, :sessions, 0 FROM m WHERE true
ON CONFLICT (form_id, question_id)
  DO UPDATE SET answered = question_counts.answered + excluded.answered
"""
DAYS = """
INSERT INTO day_counts (form_id, day, completed)
SELECT form_id, completed_stamp / 86400000, count(*) FROM response_sessions
WHERE form_id = :form AND completed_stamp > :base GROUP BY 1, 2
ON CONFLICT (form_id, day) DO UPDATE SET completed = day_counts.completed + excluded.completed
"""
WORDS = "The deploy ran twice, because the lock was not taken before the first step. " * 2


def store_answers(form_id: str, answers: int, *, follow_ups: int = 0) -> None:
    """Completed sessions of ten answers each, stamped after everything the form holds; commits.

    follow_ups  so many in each session beside those answers, all of them answered
    """
    sessions, step = answers // ANSWERS_PER_SESSION, ANSWERS_PER_SESSION + 1 + follow_ups
    form = db.session.get_one(Form, form_id, populate_existing=True)
    values = {"form": form_id, "sessions": sessions, "base": form.last_stamp, "words": WORDS}
    values |= {"step": step, "follow_ups": follow_ups}
    more = (FOLLOW_UP_ANSWERS, FOLLOW_UPS) if follow_ups else ()
    for statement in map(text, (SESSIONS, ANSWERS, *more, COUNTS, DAYS)):
        db.session.execute(statement, {name: values[name] for name in statement.compile().params})
    form.last_stamp = form.completed_stamp = form.last_stamp + step * sessions
    form.response_count += sessions
    form.answered_count += sessions
    form.started_count += sessions
    db.session.commit()


def copy_rows(table: Table, row_id: str, copies: int, **changed: Callable[[int], Any]) -> None:
    """Copies of one row; `changed` gives the columns that differ from copy to copy; commits."""
    row = db.session.execute(select(table).where(table.c.id == row_id)).one()._asdict()
    rows = [row | {name: value(n) for name, value in changed.items()} for n in range(copies)]
    db.session.execute(insert(table), rows)
    db.session.commit()


def copy_forms(form: Any, copies: int) -> None:
    """Forms with the same words, each with a draft and a link of its own; commits."""
    drafts = f"{form.draft_id}-{{}}".format
    copy_rows(Draft.__table__, form.draft_id, copies, id=drafts)
    copy_rows(
        Form.__table__,
        form.id,
        copies,
        id=f"{form.id}-{{}}".format,
        draft_id=drafts,
        share_token=f"{form.share_token}-{{}}".format,
    )


def dump() -> Dump:
    """Every row of every table."""
    with db.engine.connect() as connection:
        return {
            table.name: sorted(map(repr, connection.execute(select(table))))
            for table in db.metadata.sorted_tables
        }


def analyze() -> None:
    """Let the database learn what it holds; it plans from that."""
    with db.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.exec_driver_sql("ANALYZE")
