"""Subscribing, as the door for agents does it, with a key and a connection of its own."""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from sqlalchemy import select

from tests.conftest import Clock
from tests.factories import make_answer
from webapp.answers.answering import complete_response
from webapp.base.database import db, utc_now, write_transaction
from webapp.base.sealing import Sealer
from webapp.base.vocabulary import DeliveryState, Scope
from webapp.events.callbacks import Asked
from webapp.events.outbox import read_cursor
from webapp.events.subscriptions import Granted, subscribe
from webapp.oauth.models import OAuthGrant
from webapp.oauth.tokens import issue_token
from webapp.records.events import EventDelivery, EventSubscription
from webapp.records.responses.models import ResponseSession

KEY = b"only-for-tests-only-for-tests"
SEALER = Sealer({"k1": b"1" * 32})
URL = "https://hooks.example.com/r/ab?k=9"


def make_grant(account_id: str) -> str:
    issue_token(account_id, [Scope.RESPONSES_READ], "http://127.0.0.1:8000/api", now=utc_now())
    newest = select(OAuthGrant.id).order_by(OAuthGrant.created_at.desc(), OAuthGrant.id)
    earlier = db.session.scalars(newest.where(OAuthGrant.account_id == account_id)).all()
    return earlier[0]


def asked_for(form: Any, grant_id: str, **changed: Any) -> Asked:
    values: dict[str, Any] = {
        "url": URL,
        "host": "hooks.example.com:443",
        "secret": "whsec_" + "A" * 32,
    }
    return Asked(form.account_id, form.id, grant_id, **values | changed)


def subscribe_now(asked: Asked, **changed: Any) -> Granted:
    now = changed.get("now", utc_now())
    values: dict[str, Any] = {
        "sealer": SEALER,
        "cursor_key": KEY,
        "grant_ends": now + timedelta(days=90),
        "now": now,
    }
    return subscribe(asked, **values | changed)


def subscriptions() -> list[EventSubscription]:
    db.session.rollback()
    query = select(EventSubscription).order_by(EventSubscription.created_at, EventSubscription.id)
    return list(db.session.scalars(query.execution_options(populate_existing=True)))


def deliveries() -> list[EventDelivery]:
    db.session.rollback()
    query = select(EventDelivery).order_by(EventDelivery.next_at, EventDelivery.id)
    return list(db.session.scalars(query.execution_options(populate_existing=True)))


def states() -> list[str]:
    return [delivery.state.value for delivery in deliveries()]


@dataclass
class Subscriber:
    form: Any
    grant_id: str
    clock: Clock
    keys: list[str] = field(default_factory=list)

    def ask(self, **changed: Any) -> Asked:
        return asked_for(self.form, self.grant_id, **changed)

    def subscribe(self, **asked: Any) -> Granted:
        return subscribe_now(self.ask(**asked), now=self.clock.now)

    def complete(self, responses: int = 1, *, seconds: float = 1) -> None:
        for _ in range(responses):
            key = f"{len(self.keys):032}"
            self.keys.append(key)
            make_answer(self.form, key)
            now = self.clock.forward(seconds=seconds)
            complete_response(self.form.share_token, key, responder_name="", now=now)

    def settle(self, *states: DeliveryState) -> None:
        pending = select(EventDelivery).where(EventDelivery.state == DeliveryState.PENDING)
        with write_transaction():
            found = db.session.scalars(pending.order_by(EventDelivery.position)).all()
            for delivery, state in zip(found, states, strict=True):
                delivery.state, delivery.settled_at = state, self.clock.now
                delivery.attempts, delivery.body = 3, "{}"

    def stamps(self) -> list[int]:
        stamp = ResponseSession.completed_stamp
        query = select(stamp).where(stamp.is_not(None)).order_by(stamp)
        return [found for found in db.session.scalars(query) if found]

    def position(self, granted: Granted) -> int | None:
        return read_cursor(KEY, self.form.id, granted.cursor)
