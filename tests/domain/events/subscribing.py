"""Subscribing, as the door for agents does it, with a key and a connection of its own."""

from datetime import timedelta
from typing import Any

from sqlalchemy import select

from webapp.base.database import db, utc_now
from webapp.base.sealing import Sealer
from webapp.base.vocabulary import Scope
from webapp.events.callbacks import Asked
from webapp.events.subscriptions import Granted, subscribe
from webapp.oauth.models import OAuthGrant
from webapp.oauth.tokens import issue_token
from webapp.records.events import EventDelivery, EventSubscription

KEY = b"only-for-tests-only-for-tests"
SEALER = Sealer({"k1": b"1" * 32})
URL = "https://hooks.example.com/r/ab?k=9"


def make_grant(account_id: str) -> str:
    """The id of a new connection of the account."""
    issue_token(account_id, [Scope.RESPONSES_READ], "http://127.0.0.1:8000/api", now=utc_now())
    newest = select(OAuthGrant.id).order_by(OAuthGrant.created_at.desc(), OAuthGrant.id)
    earlier = db.session.scalars(newest.where(OAuthGrant.account_id == account_id)).all()
    return earlier[0]


def asked_for(form: Any, grant_id: str, **changed: Any) -> Asked:
    """What an agent asks for, with a secret of 24 bytes."""
    values: dict[str, Any] = {
        "url": URL,
        "host": "hooks.example.com:443",
        "secret": "whsec_" + "A" * 32,
    }
    return Asked(form.account_id, form.id, grant_id, **values | changed)


def subscribe_now(asked: Asked, **changed: Any) -> Granted:
    """Subscribe with a connection that lasts for long."""
    now = changed.get("now", utc_now())
    values: dict[str, Any] = {
        "sealer": SEALER,
        "cursor_key": KEY,
        "grant_ends": now + timedelta(days=90),
        "now": now,
    }
    return subscribe(asked, **values | changed)


def subscriptions() -> list[EventSubscription]:
    """All of them as they are stored, oldest first."""
    db.session.rollback()
    query = select(EventSubscription).order_by(EventSubscription.created_at, EventSubscription.id)
    return list(db.session.scalars(query.execution_options(populate_existing=True)))


def deliveries() -> list[EventDelivery]:
    """All of them as they are stored, in the order in which they are due."""
    db.session.rollback()
    query = select(EventDelivery).order_by(EventDelivery.next_at, EventDelivery.id)
    return list(db.session.scalars(query.execution_options(populate_existing=True)))


def states() -> list[str]:
    """The states of all deliveries."""
    return [delivery.state.value for delivery in deliveries()]
