"""What the command line lists, in lines for people and for programs."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import orjson
from sqlalchemy import func, select

from webapp.database import db, to_millis
from webapp.domain.accounts.browser_sessions import SignIn
from webapp.domain.accounts.models import Account
from webapp.domain.audit.trail import AuditEvent
from webapp.domain.forms.models import Form
from webapp.domain.shared.names import JOINERS
from webapp.oauth.models import OAuthClient, OAuthGrant
from webapp.oauth.tokens import has_token
from webapp.wire.timestamps import wire_time


def event_line(event: AuditEvent) -> str:
    """An event in one line, its parts separated by tabs; without what it does not have."""
    parts = {**_event(event), "count": f"× {event.count}" if event.count > 1 else None}
    return "\t".join(_visible(part) for part in parts.values() if part)


def event_json(event: AuditEvent) -> str:
    """An event as one JSON object."""
    return orjson.dumps(_event(event)).decode()


def creator_lines() -> Iterator[str]:
    """Every account in one line, the oldest first, its parts separated by tabs.

    E-mail, name, created, last active in a browser or through an agent, state, number of forms.
    """
    of_account = (
        select(func.max(SignIn.last_active_at)).where(SignIn.account_id == Account.id),
        select(func.max(OAuthGrant.last_used_at)).where(OAuthGrant.account_id == Account.id),
        select(func.count(Form.id)).where(Form.account_id == Account.id, Form.deleted_at.is_(None)),
    )
    query = (
        select(Account, *(part.scalar_subquery() for part in of_account))
        .where(Account.deleted_at.is_(None))
        .order_by(Account.created_at, Account.id)
    )
    for account, in_browser, by_agent, forms in db.session.execute(query):
        active = max((at for at in (in_browser, by_agent) if at), default=None)
        state = "disabled" if account.disabled_at else "active"
        times = _moment(account.created_at), _moment(active) if active else "never"
        parts = (account.email, account.name, *times, state, f"{forms} form{'s' * (forms != 1)}")
        yield "\t".join(map(_visible, parts))


def client_lines(*, now: datetime) -> Iterator[str]:
    """Every OAuth client in one line, the oldest first, its parts separated by tabs.

    Id, name, kind, created, state, number of accounts that it is connected to.
    """
    accounts = (
        select(func.count(OAuthGrant.account_id.distinct()))
        .where(
            OAuthGrant.client_pk == OAuthClient.id, OAuthGrant.revoked_at.is_(None), has_token(now)
        )
        .correlate(OAuthClient)
    )
    query = select(OAuthClient, accounts.scalar_subquery()).order_by(
        OAuthClient.created_at, OAuthClient.id
    )
    for client, connected in db.session.execute(query):
        state = "disabled" if client.disabled_at else "active"
        created, number = _moment(client.created_at), f"{connected} account{'s' * (connected != 1)}"
        parts = (client.client_id, client.name, client.kind, created, state, number)
        yield "\t".join(map(_visible, parts))


def _moment(at: datetime) -> str:
    return wire_time(to_millis(at))


def _event(event: AuditEvent) -> dict[str, Any]:
    return {
        "at": _moment(event.at),
        "event": event.kind,
        "outcome": event.outcome,
        "actor": event.actor,
        "account": event.account_id,
        "address": event.address,
        "client": event.client_id,
        "clientName": event.client_name,
        "subject": event.subject,
        "count": event.count,
    }


def _visible(part: Any) -> str:
    return "".join(char if char.isprintable() or char in JOINERS else "?" for char in str(part))
