"""The database is away or full. The text stays on the page, with a way to send it again."""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from flask import Flask
from sqlalchemy import event
from sqlalchemy.exc import OperationalError

from tests.pages.respondent_client import Respondent, box, heading, hidden, storage_away, texts
from tests.races.threads import each_statement
from webapp.base.database import db
from webapp.base.limits import ANSWER_MAX_CHARS


@contextmanager
def disk_full(app: Flask) -> Iterator[None]:
    """SQLite may use no page more than it has."""

    def bound(connection: Any, *_: Any) -> None:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages}")

    with app.app_context():
        engine = db.engine
        with engine.connect() as connection:
            connection.exec_driver_sql("COMMIT")
            connection.exec_driver_sql("VACUUM")
    event.listen(engine, "checkout", bound)
    try:
        yield
    finally:
        event.remove(engine, "checkout", bound)
        engine.dispose()


def test_storage_that_fails_keeps_the_text_and_the_keys(app: Flask, respondent: Respondent) -> None:
    sent = hidden(respondent.page)

    with storage_away(app):
        page = respondent.answer(1, "A long story")

    assert (page.status_code, page.headers["Retry-After"]) == (503, "5")
    assert heading(page) == "Not saved yet – your text is safe."
    assert box(page) == "A long story"
    assert hidden(page) == sent
    assert heading(respondent.answer(1, box(page))) == "What went wrong?"
    assert texts(app) == ["A long story"]


def test_a_name_is_kept_when_the_storage_fails(app: Flask, respondent: Respondent) -> None:
    respondent.answer_all()

    with storage_away(app):
        page = respondent.post("/check", name="Sam")

    assert page.status_code == 503
    assert hidden(page)["name"] == "Sam"


def test_without_typed_text_the_failure_page_promises_none(
    app: Flask, respondent: Respondent
) -> None:
    with storage_away(app):
        page = respondent.post("/q/1/skip")

    assert heading(page) == "Not saved yet"
    assert "text is still here" not in page.text


def test_a_full_disk_loses_nothing_that_was_acknowledged(
    app: Flask, respondent: Respondent
) -> None:
    respondent.answer(1, "kept")
    text = "x" * ANSWER_MAX_CHARS

    with disk_full(app):
        page = respondent.answer(2, text)

    assert page.status_code == 503
    assert box(page) == text
    assert texts(app) == ["kept"]
    assert heading(respondent.answer(2, box(page))) == "Check your answers, then send."


def test_the_failure_page_uses_no_database(app: Flask, respondent: Respondent) -> None:
    asked: list[str] = []

    def fail(_connection: Any, _cursor: Any, statement: str, *_more: Any) -> None:
        asked.append(statement)
        raise OperationalError(statement, {}, sqlite3.OperationalError("disk I/O error"))

    with each_statement(app, "before_cursor_execute", fail):
        pages = [
            respondent.client.get(f"/r/{respondent.share_token}"),
            respondent.client.post(
                f"/r/{respondent.share_token}/resume", data=hidden(respondent.page)
            ),
        ]

    assert [page.status_code for page in pages] == [503, 503]
    assert len(asked) == len(pages)


def test_storage_that_fails_while_a_refusal_is_drawn_keeps_the_text(
    app: Flask, respondent: Respondent
) -> None:
    text = "x" * (ANSWER_MAX_CHARS + 1)

    with storage_away(app):
        page = respondent.answer(1, text)

    assert (page.status_code, box(page)) == (503, text)


def test_every_refusal_comes_with_the_strict_headers(respondent: Respondent) -> None:
    refused = respondent.answer(1, "")

    assert "default-src 'none'" in refused.headers["Content-Security-Policy"]
    assert refused.headers["Cache-Control"] == "private, no-store"
    assert not re.search(r"<script(?![^>]*\ssrc=)", refused.text)
