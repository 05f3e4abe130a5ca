"""From subscribing by REST to what a receiver on loopback gets."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from flask import Flask
from sqlalchemy import select
from standardwebhooks import Webhook as Verifier
from werkzeug.test import TestResponse

from jobs.deliver import Deliverer
from tests.api.conftest import Agent
from tests.factories import make_response
from tests.webhook_receiver import SECRET, Webhook
from webapp.base.database import db
from webapp.oauth.models import OAuthGrant
from webapp.records.events import EventSubscription
from webapp.records.responses.models import ResponseSession


@dataclass
class Way:
    """A form, the agent that subscribes to it, its receiver, and what delivers."""

    app: Flask
    form: Any
    agent: Agent
    receiver: Webhook
    deliverer: Deliverer

    def subscribe(self, **changed: Any) -> TestResponse:
        body = {"url": f"{self.receiver.origin}/hook", "secret": SECRET} | changed
        return self.agent.post(f"/forms/{self.form.id}/subscriptions", json=body)

    def complete(self) -> str:
        """The session key of a new completed response."""
        return self.run(make_response, self.form)

    def run(self, call: Callable[..., Any], *given: Any, **named: Any) -> Any:
        with self.app.app_context():
            return call(*given, **named)

    def sent(self) -> list[Any]:
        """What the receiver got since the last look, verified; challenges left out."""
        self.deliverer.work()
        got, self.receiver.posted[:] = self.receiver.posted[:], []
        bodies = [Verifier(SECRET).verify(posted.body, posted.headers) for posted in got]
        return [body for body in bodies if body.get("type") != "verification"]

    def completed(self) -> list[str]:
        """The event ids of all completed responses, in their order."""
        with self.app.app_context():
            query = select(ResponseSession.id).order_by(ResponseSession.completed_stamp)
            return ["evt_" + key.removeprefix("ses_") for key in db.session.scalars(query)]

    def grant_id(self) -> str:
        with self.app.app_context():
            return db.session.scalars(select(OAuthGrant.id)).one()

    def stored(self) -> list[EventSubscription]:
        with self.app.app_context():
            return list(db.session.scalars(select(EventSubscription)))
