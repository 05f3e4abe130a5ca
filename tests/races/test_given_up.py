"""A transaction that is given up, or whose connection ends, is tried again or stands."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from flask import Flask, g, has_app_context, request
from sqlalchemy.exc import OperationalError

from tests.databases import on_postgresql
from tests.proof.test_deadlocks import RECIPES, outcome
from webapp.app.factory import create_app
from webapp.base.config import Settings
from webapp.base.database import TRIES, db


@pytest.fixture
def stubborn(settings: Settings) -> Iterator[tuple[Flask, list[bytes]]]:
    """An application whose view is given up as often as it is told to, and the bodies it read."""
    app = create_app(settings)
    read: list[bytes] = []

    def view(times: int) -> str:
        read.append(request.get_data())
        if len(read) <= times:
            raise OperationalError("UPDATE", None, psycopg.errors.SerializationFailure())
        return "done"

    app.add_url_rule("/r/given-up/<int:times>", "given_up", view, methods=["PUT"])
    app.extensions["csrf"].exempt("tests.races.test_given_up.view")
    yield app, read
    with app.app_context():
        db.engine.dispose()


@pytest.mark.parametrize(("times", "status", "read"), [(2, 200, 3), (9, 503, TRIES)])
def test_a_view_is_tried_again_with_its_body_until_it_is_reported_as_busy(
    stubborn: tuple[Flask, list[bytes]], times: int, status: int, read: int
) -> None:
    app, bodies = stubborn

    answer = app.test_client().put(f"/r/given-up/{times}", data=b"words")

    assert (answer.status_code, bodies) == (status, [b"words"] * read)
    assert answer.headers.get("Retry-After") == ("5" if status == 503 else None)


STATEMENTS_MOST = 60


@contextmanager
def lost_at(number: int) -> Iterator[list[str]]:
    """The connection ends under this statement, counted from 0 after the first commit.

    Yields the statements that were tried after it.
    """
    execute = psycopg.Cursor.execute
    here, tried = threading.current_thread(), []

    def lost(self: Any, query: Any, *more: Any, **options: Any) -> Any:
        stored = has_app_context() and g.get("stored")
        if not stored or threading.current_thread() is not here:
            return execute(self, query, *more, **options)
        tried.append(str(query))
        if len(tried) != number + 1:
            return execute(self, query, *more, **options)
        self.connection.pgconn.finish()
        raise psycopg.OperationalError("server closed the connection unexpectedly")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(psycopg.Cursor, "execute", lost)
        yield tried


@on_postgresql
@pytest.mark.parametrize("endpoint", [*RECIPES][::4])
def test_a_connection_lost_after_storing_changes_no_answer(app: Flask, endpoint: str) -> None:
    expected, statements = outcome(app, endpoint, lost_at(STATEMENTS_MOST))
    assert len(statements) < STATEMENTS_MOST

    for number in range(len(statements)):
        found, _ = outcome(app, endpoint, lost_at(number))
        assert found == expected, f"lost at {statements[number]}"
