"""Subscriptions whose receivers listen on loopback, and what they got."""

import base64
import secrets
from collections import Counter
from typing import Any

from flask import Flask
from sqlalchemy import select

from tests.event_factories import make_subscription
from webapp.base.database import db
from webapp.base.sealing import sealer
from webapp.events.subscriptions import secret_place
from webapp.records.events import EventDelivery, EventSubscription


def new_secret() -> str:
    return "whsec_" + base64.b64encode(secrets.token_bytes(32)).decode()


def subscribe(form: Any, url: str, secret: str | None = None, **changed: Any) -> EventSubscription:
    """A live subscription to this address, with a sealed secret; needs an application context."""
    subscription_id = f"sub_{secrets.token_hex(16)}"
    sealed = sealer().seal(secret or new_secret(), place=secret_place(subscription_id))
    values = {"id": subscription_id, "url": url, "secret": sealed, "host": url.split("/")[2]}
    return make_subscription(form, **values | changed)


def states(app: Flask) -> Counter[str]:
    """How many deliveries are in each state."""
    with app.app_context():
        return Counter(db.session.scalars(select(EventDelivery.state)))
