"""Rows of events that are valid by default, as `tests/factories.py`; all commit."""

import secrets
from datetime import timedelta
from typing import Any

from webapp.base.database import db, new_id, to_millis, utc_now
from webapp.base.vocabulary import DeliveryKind, DeliveryState, SessionStatus
from webapp.records.events import (
    CallbackEndpoint,
    DeliveryAttempt,
    EventDelivery,
    EventSubscription,
)
from webapp.records.forms import AgentToken
from webapp.records.responses.models import ResponseSession


def make_subscription(form: Any, **changed: Any) -> EventSubscription:
    """A live subscription with an endpoint of its own, which is known to answer quickly."""
    now, host = utc_now(), changed.get("host", "hooks.example.com:443")
    endpoint = CallbackEndpoint(
        id=secrets.token_hex(32),
        account_id=form.account_id,
        host=host,
        duration_ms=20,
        seen_at=now,
    )
    values: dict[str, Any] = {
        "id": f"sub_{secrets.token_hex(16)}",
        "account_id": form.account_id,
        "form_id": form.id,
        "grant_id": new_id("grt"),
        "endpoint_id": endpoint.id,
        "url": "https://hooks.example.com/r/ab?k=9",
        "host": host,
        "secret": "sealed",
        "created_at": now,
        "refreshed_at": now,
        "expires_at": now + timedelta(days=1),
    }
    subscription = EventSubscription(**values | changed)
    db.session.add(endpoint)
    db.session.flush()
    db.session.add(subscription)
    db.session.commit()
    return subscription


def delivery_row(subscription: EventSubscription, **changed: Any) -> dict[str, Any]:
    """A delivery that is due, of an event whose session need not exist."""
    now, digits = utc_now(), secrets.token_hex(12)
    values: dict[str, Any] = {
        "id": f"dlv_{digits}{subscription.id.removeprefix('sub_')}",
        "account_id": subscription.account_id,
        "form_id": subscription.form_id,
        "subscription_id": subscription.id,
        "endpoint_id": subscription.endpoint_id,
        "host": subscription.host,
        "kind": DeliveryKind.EVENT,
        "event_id": f"evt_{digits}",
        "answer_count": 2,
        "position": to_millis(now),
        "state": DeliveryState.PENDING,
        "next_at": now,
        "created_at": now,
    }
    return values | changed


def make_delivery(subscription: EventSubscription, **changed: Any) -> EventDelivery:
    """The same, stored."""
    delivery = EventDelivery(**delivery_row(subscription, **changed))
    db.session.add(delivery)
    db.session.commit()
    return delivery


def make_event(form_id: str) -> str:
    """The id of the event of a completed response, whose answers are not stored."""
    now, digits = utc_now(), secrets.token_hex(12)
    session = ResponseSession(
        id=f"ses_{digits}",
        form_id=form_id,
        key_hash=secrets.token_hex(32),
        status=SessionStatus.COMPLETED,
        skipped=[],
        created_at=now,
        last_active_at=now,
    )
    db.session.add(session)
    db.session.commit()
    return f"evt_{digits}"


def make_attempt(delivery: EventDelivery, **changed: Any) -> DeliveryAttempt:
    """A first attempt that was answered 200."""
    values: dict[str, Any] = {
        "delivery_id": delivery.id,
        "form_id": delivery.form_id,
        "number": 1,
        "started_at": utc_now(),
        "duration_ms": 12,
        "signature": "v1,c2lnbmF0dXJl",
        "status": 200,
        "reply": "OK",
    }
    attempt = DeliveryAttempt(**values | changed)
    db.session.add(attempt)
    db.session.commit()
    return attempt


def make_agent_token(form: Any, **changed: Any) -> AgentToken:
    """A live token for one form, whose words nobody knows."""
    now = utc_now()
    values: dict[str, Any] = {
        "id": new_id("agt"),
        "account_id": form.account_id,
        "form_id": form.id,
        "token_hash": secrets.token_hex(32),
        "hint": "askag_abc…wxyz",
        "label": "Rota agent",
        "created_at": now,
        "expires_at": now + timedelta(days=90),
    }
    token = AgentToken(**values | changed)
    db.session.add(token)
    db.session.commit()
    return token
