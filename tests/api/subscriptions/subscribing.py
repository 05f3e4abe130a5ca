"""What tests of subscriptions begin with."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import func, select, update
from sqlalchemy.exc import OperationalError
from werkzeug.test import TestResponse

from api import subscriptions as routes
from tests.api.conftest import Agent
from tests.webhook_receiver import SECRET, URL, Webhook
from webapp.base.database import db, utc_now
from webapp.events import callbacks, subscriptions
from webapp.oauth.models import OAuthGrant
from webapp.records.events import CallbackEndpoint, EventSubscription

BODY = {"url": URL, "secret": SECRET}
# what an address does to its challenge, and how that is called
UNVERIFIED: list[tuple[dict[str, Any], str]] = [
    ({"echoes": False}, "challenge_failed"),
    ({"status": 302}, "challenge_failed"),
    ({"status": 410}, "http_4xx"),
    ({"status": 503}, "http_5xx"),
    ({"seconds": 60}, "timeout"),
]


class Deadlock(Exception):
    sqlstate = "40P01"


def path(form: Any) -> str:
    return f"/forms/{form.id}/subscriptions"


def subscribe(agent: Agent, form: Any, **changed: Any) -> TestResponse:
    return agent.post(path(form), json=BODY | changed)


def behave(hook: Webhook, behaviour: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in behaviour.items():
        setattr(hook, name, value)
    if hook.seconds:
        monkeypatch.setattr(routes, "CHALLENGE_SECONDS", 1)


def disconnect_while_asked(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    def disconnect(*_arguments: object, **_options: object) -> None:
        with app.app_context():
            db.session.execute(update(OAuthGrant).values(revoked_at=utc_now()))
            db.session.commit()

    monkeypatch.setattr(callbacks, "send_challenge", disconnect)


def forget_verification(app: Flask) -> None:
    with app.app_context():
        yesterday = utc_now() - timedelta(hours=24, seconds=1)
        db.session.execute(update(CallbackEndpoint).values(verified_at=yesterday))
        db.session.commit()


def count_subscriptions(app: Flask) -> int:
    with app.app_context():
        return db.session.scalar(select(func.count(EventSubscription.id))) or 0


def lives_for(answer: TestResponse) -> float:
    ends = datetime.fromisoformat(answer.json["refreshBefore"])
    return (ends - utc_now()).total_seconds()


def given_up_once(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    store, tries = subscriptions.subscribe, list[Any]()

    def given_up(*arguments: Any, **options: Any) -> Any:
        tries.append(arguments)
        if len(tries) == 1:
            raise OperationalError("", {}, Deadlock())
        return store(*arguments, **options)

    monkeypatch.setattr(subscriptions, "subscribe", given_up)
    return tries
