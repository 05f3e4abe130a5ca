"""What tests of subscriptions begin with."""

from typing import Any

from flask import Flask
from sqlalchemy import func, select
from werkzeug.test import TestResponse

from tests.api.conftest import Agent
from tests.webhook_receiver import SECRET, URL
from webapp.base.database import db
from webapp.records.events import EventSubscription

BODY = {"url": URL, "secret": SECRET}


class Deadlock(Exception):
    sqlstate = "40P01"


def path(form: Any) -> str:
    return f"/forms/{form.id}/subscriptions"


def subscribe(agent: Agent, form: Any, **changed: Any) -> TestResponse:
    return agent.post(path(form), json=BODY | changed)


def count_subscriptions(app: Flask) -> int:
    with app.app_context():
        return db.session.scalar(select(func.count(EventSubscription.id))) or 0
