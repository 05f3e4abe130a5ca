"""Many rows at once, written or read by the database itself. All need an application context."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from sqlalchemy import Table, insert, select, text

from webapp.base.database import db
from webapp.records.drafts import Draft
from webapp.records.forms import Form

ANSWERS_PER_SESSION = 10

Dump = dict[str, list[str]]
# Session s holds the stamps :step s + 1 … :step s + 10 of its answers, those of its follow-ups, and
# :step (s + 1) of its completion.
STATEMENTS = Path(__file__).with_suffix(".sql").read_text().removesuffix(";\n").split(";\n")
WORDS = "The deploy ran twice, because the lock was not taken before the first step. " * 2


def store_answers(form_id: str, answers: int, *, follow_ups: int = 0) -> None:
    """Completed sessions of ten answers each, stamped after everything the form holds; commits.

    follow_ups  so many in each session beside those answers, all of them answered
    """
    sessions, step = answers // ANSWERS_PER_SESSION, ANSWERS_PER_SESSION + 1 + follow_ups
    form = db.session.get_one(Form, form_id, populate_existing=True)
    values = {"form": form_id, "sessions": sessions, "base": form.last_stamp, "words": WORDS}
    values |= {"step": step, "follow_ups": follow_ups}
    for sql in STATEMENTS:
        if "follow_ups" in sql and not follow_ups:
            continue
        statement = text(sql)
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
