"""A transaction that is given up, or whose connection ends, is tried again or stands."""

import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from flask import Flask, g, has_app_context, request
from sqlalchemy import text
from sqlalchemy.exc import OperationalError
from werkzeug.test import TestResponse

from tests.databases import on_postgresql
from tests.factories import make_draft
from tests.oauth.flow import API, bearer
from tests.proof.test_deadlocks import RECIPES, outcome
from tests.races.threads import each_statement
from tests.services import wait_until
from webapp.app.factory import create_app
from webapp.base.config import Settings
from webapp.base.database import TRIES, db, tried_again, utc_now
from webapp.base.vocabulary import Scope
from webapp.drafts.confirmations import confirm_draft
from webapp.oauth.account_deletion import delete_account
from webapp.oauth.tokens import issue_token
from webapp.records.accounts.models import Account

WAITING = text("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'")


@on_postgresql
def test_publishing_during_an_account_deletion_is_no_error(app: Flask, account: Account) -> None:
    with app.app_context():
        draft = make_draft(account.id)
        shown = {"revision": draft.revision, "shown_hash": draft.content_hash}
        confirm_draft(account.id, draft.id, **shown, now=utc_now())
        token = issue_token(account.id, [Scope.FORMS_WRITE], API, now=utc_now())
    published: list[Future[TestResponse]] = []
    deletions: list[str] = []

    @tried_again
    def delete() -> None:
        deletions.append(account.id)
        delete_account(account.id, now=utc_now())

    def publish() -> TestResponse:
        return app.test_client().post(f"/api/drafts/{draft.id}/publish", headers=bearer(token))

    def publish_now(_connection: Any, _cursor: Any, statement: str, *_more: Any) -> None:
        if statement.startswith("UPDATE accounts") and not published:
            published.append(pool.submit(publish))
            wait_until(lambda: waits(app), "publishing")

    with ThreadPoolExecutor() as pool:
        with each_statement(app, "after_cursor_execute", publish_now), app.app_context():
            delete()
        answer = published[0].result(30)

    if len(deletions) > 1:  # PostgreSQL gave up the deletion, and publishing came first
        assert answer.status_code == 200
    else:  # by the end of its token, or of the draft if the second try overtook the commit
        assert answer.json["code"] in {"authentication_required", "draft_not_found"}


def waits(app: Flask) -> bool:
    """Whether a connection to this server waits for another one."""
    with app.app_context(), db.engine.connect() as connection:
        return bool(connection.scalar(WAITING))


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
@pytest.mark.parametrize("endpoint", RECIPES)
def test_a_connection_lost_after_storing_changes_no_answer(app: Flask, endpoint: str) -> None:
    expected, statements = outcome(app, endpoint, lost_at(STATEMENTS_MOST))
    assert len(statements) < STATEMENTS_MOST

    for number in range(len(statements)):
        found, _ = outcome(app, endpoint, lost_at(number))
        assert found == expected, f"lost at {statements[number]}"
