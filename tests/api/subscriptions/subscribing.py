"""What tests of subscriptions begin with."""

from datetime import datetime
from typing import Any

import pytest
from sqlalchemy.exc import OperationalError
from werkzeug.test import TestResponse

import api.verified_callbacks as verified_callbacks
from tests.api.conftest import Agent
from tests.webhook_receiver import SECRET, URL, Webhook
from webapp.database import utc_now
from webapp.web.rate_limits import challenges

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
    """As PostgreSQL reports it."""

    sqlstate = "40P01"


def path(form: Any) -> str:
    """Where to subscribe to a form."""
    return f"/forms/{form.id}/subscriptions"


def subscribe(agent: Agent, form: Any, **changed: Any) -> TestResponse:
    return agent.post(path(form), json=BODY | changed)


def behave(hook: Webhook, behaviour: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """The address does one of UNVERIFIED; what answers in time has the time that it has."""
    for name, value in behaviour.items():
        setattr(hook, name, value)
    if hook.seconds:
        monkeypatch.setattr(challenges, "CHALLENGE_SECONDS", 1)


def lives_for(answer: TestResponse) -> float:
    """Seconds from here on."""
    ends = datetime.fromisoformat(answer.json["refreshBefore"])
    return (ends - utc_now()).total_seconds()


def given_up_once(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """The database gives the first storing up; whether each of them was told of an answer."""
    store, tries = verified_callbacks.subscribe, list[bool]()

    def given_up(*arguments: Any, **options: Any) -> Any:
        tries.append(options["verified"])
        if len(tries) == 1:
            raise OperationalError("", {}, Deadlock())
        return store(*arguments, **options)

    monkeypatch.setattr(verified_callbacks, "subscribe", given_up)
    return tries
