"""A connection that ends after the work of a request was stored changes nothing of its answer."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from flask import Flask, g, has_app_context

from tests.databases import on_postgresql
from tests.proof.test_deadlocks import RECIPES, outcome

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
@pytest.mark.parametrize("endpoint", RECIPES)
def test_a_connection_lost_after_storing_changes_no_answer(app: Flask, endpoint: str) -> None:
    expected, statements = outcome(app, endpoint, lost_at(STATEMENTS_MOST))
    assert len(statements) < STATEMENTS_MOST

    for number in range(len(statements)):
        found, _ = outcome(app, endpoint, lost_at(number))
        assert found == expected, f"lost at {statements[number]}"
