"""What tests of subscriptions begin with."""

from datetime import datetime
from typing import Any

from werkzeug.test import TestResponse

from tests.api.conftest import Agent
from tests.webhook_receiver import SECRET, URL
from webapp.database import utc_now

BODY = {"url": URL, "secret": SECRET}


def path(form: Any) -> str:
    """Where to subscribe to a form."""
    return f"/forms/{form.id}/subscriptions"


def subscribe(agent: Agent, form: Any, **changed: Any) -> TestResponse:
    return agent.post(path(form), json=BODY | changed)


def lives_for(answer: TestResponse) -> float:
    """Seconds from here on."""
    ends = datetime.fromisoformat(answer.json["refreshBefore"])
    return (ends - utc_now()).total_seconds()
