"""What pressing Send queues for the agents that subscribed."""

from collections.abc import Sequence
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select

from jobs.queue import WakeUpQueue
from tests.event_factories import make_subscription
from tests.factories import make_form
from tests.pages.respondent_client import arrive
from webapp.base.database import db
from webapp.records.accounts.models import Account
from webapp.records.events import EventDelivery


@pytest.fixture
def form(app: Flask, account: Account) -> Any:
    with app.app_context():
        made = make_form(account.id, questions=["Who changed it?", "What went on?"])
        for _ in range(2):
            make_subscription(made)
        return made


@pytest.fixture
def handed_over(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    ids: list[str] = []

    def take(_: WakeUpQueue, delivery_ids: Sequence[str]) -> None:
        ids.extend(delivery_ids)

    monkeypatch.setattr(WakeUpQueue, "hand_over", take)
    return ids


def queued(app: Flask) -> list[str]:
    with app.app_context():
        return list(db.session.scalars(select(EventDelivery.id)))


def test_what_is_sent_is_queued_once_and_handed_over(
    app: Flask, client: FlaskClient, form: Any, handed_over: list[str]
) -> None:
    respondent = arrive(client, form)
    check = respondent.answer_all()
    assert queued(app) == []

    for _ in range(2):
        respondent.page = check
        respondent.post("/check")

    assert len(handed_over) == 2
    assert sorted(handed_over) == sorted(queued(app))


@pytest.mark.settings(mcp_events_enabled=False)
def test_without_events_nothing_is_queued(
    app: Flask, client: FlaskClient, form: Any, handed_over: list[str]
) -> None:
    respondent = arrive(client, form)
    respondent.answer_all()
    respondent.post("/check")

    assert queued(app) == handed_over == []
