"""Disables and enables clients for the operator.

A disabled client gets neither consent nor tokens, and its connections have ended. Enabled again, it
has to ask for consent anew.
"""

from dataclasses import replace
from datetime import datetime

from sqlalchemy import select

from webapp.database import db, tried_again, write_transaction
from webapp.domain.audit.trail import SYSTEM, Actor, AuditKind, add_event
from webapp.domain.shared.error_codes import ErrorCode
from webapp.domain.shared.errors import NotFound
from webapp.domain.shared.vocabulary import RevokedReason
from webapp.oauth.models import OAuthClient, OAuthGrant
from webapp.oauth.tokens import has_token, revoke_grants


@tried_again
def disable_client(client_id: str, *, now: datetime, by: Actor = SYSTEM) -> int:
    """End all connections of the client, with their subscriptions and agent tokens; commits.

    Returns of how many accounts; raises NotFound. Again it changes nothing.
    """
    with write_transaction():
        client = _lock(client_id)
        if client.disabled_at is not None:
            return 0
        client.disabled_at = now
        by = replace(by, client_id=client.client_id, client_name=client.name)
        add_event(AuditKind.CLIENT_DISABLED, None, by=by, now=now, subject=client.id)
        mine = OAuthGrant.client_pk == client.id
        connected = select(OAuthGrant.account_id).where(
            mine, OAuthGrant.revoked_at.is_(None), has_token(now)
        )
        accounts = db.session.scalars(connected.distinct()).all()
        revoke_grants(mine, RevokedReason.DISCONNECTED, now=now)
        for account_id in accounts:
            add_event(AuditKind.DISCONNECTED, account_id, by=by, now=now)
        return len(accounts)


def enable_client(client_id: str, *, now: datetime, by: Actor = SYSTEM) -> None:
    """Let the client ask for consent again; commits. Raises NotFound."""
    with write_transaction():
        client = _lock(client_id)
        if client.disabled_at is not None:
            client.disabled_at = None
            by = replace(by, client_id=client.client_id, client_name=client.name)
            add_event(AuditKind.CLIENT_ENABLED, None, by=by, now=now, subject=client.id)


def _lock(client_id: str) -> OAuthClient:
    found = select(OAuthClient).where(OAuthClient.client_id == client_id)
    client = db.session.scalars(found.with_for_update(key_share=True)).first()
    if client is None:
        raise NotFound(
            ErrorCode.NOT_FOUND,
            f"No client has the id {client_id}.",
            "Known ones are printed by: askback client list",
        )
    return client
