"""A transaction that is given up is tried again."""

from collections.abc import Iterator

import psycopg
import pytest
from flask import Flask, request
from sqlalchemy.exc import OperationalError

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
