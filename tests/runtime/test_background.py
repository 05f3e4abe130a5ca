"""Background work: link views are stored, expired rows are purged."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import func, select

from tests.factories import make_account, make_form, make_response
from tests.services import wait_until
from webapp.answers import trash
from webapp.answers.trash import delete_response
from webapp.app import background
from webapp.app.background import background_work
from webapp.base.database import db, utc_now
from webapp.records.forms import Form
from webapp.records.responses.counters import read_link_views
from webapp.records.responses.models import ResponseSession
from webapp.web import deferred_writes


@pytest.fixture
def form(app: Flask) -> Any:
    with app.app_context():
        return make_form(make_account().id)


def wait_for(app: Flask, look: Callable[[], bool]) -> None:
    with app.app_context():
        wait_until(lambda: (db.session.rollback(), look())[1], "the background work", 10)


def test_link_views_are_stored_while_serving_and_at_the_end(
    app: Flask, client: FlaskClient, form: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "STORE_SECONDS", 0.02)
    with background_work(app):
        for _ in range(3):
            client.get(f"/r/{form.share_token}")
        wait_for(app, lambda: read_link_views(form.id) == 3)
        client.get(f"/r/{form.share_token}")

    with app.app_context():
        assert read_link_views(form.id) == 4


def test_a_process_that_starts_purges_trash_and_responses_that_are_due(
    app: Flask, form: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "STORE_SECONDS", 0.02)
    with app.app_context():
        make_response(form)
        response_id = db.session.scalars(select(ResponseSession.id)).one()
        before = utc_now() - timedelta(seconds=30)
        delete_response(form.account_id, form.id, response_id, now=before)
        old = make_form(form.account_id)
        trash.delete_form(old.account_id, old.id, now=utc_now() - timedelta(days=30, seconds=1))

    with background_work(app):
        gone = select(func.count()).select_from(ResponseSession)
        wait_for(app, lambda: db.session.scalar(gone) == 0)
        wait_for(app, lambda: db.session.get(Form, old.id) is None)


def test_failed_work_is_repeated_in_the_next_turn(
    app: Flask, client: FlaskClient, form: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "STORE_SECONDS", 0.02)
    failures = iter([OSError("away"), OSError("away")])
    real = deferred_writes.store_link_views

    def flaky(counted: Any) -> None:
        if (failure := next(failures, None)) is not None:
            raise failure
        real(counted)

    monkeypatch.setattr(deferred_writes, "store_link_views", flaky)
    client.get(f"/r/{form.share_token}")

    with background_work(app):
        wait_for(app, lambda: read_link_views(form.id) == 1)
