"""Deletes expired rows: sessions, invites, codes, tokens, agent tokens, ended grants, unused
clients, idempotency keys, and old events of the audit trail.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, exists, or_

from webapp.config import settings
from webapp.database import Base, db
from webapp.domain.accounts.browser_sessions import SESSION_IDLE, SignIn
from webapp.domain.accounts.models import Invite
from webapp.domain.audit.trail import AuditEvent
from webapp.domain.drafts.idempotency import IdempotencyKey, kept_since
from webapp.domain.forms.agent_tokens import AgentToken
from webapp.domain.shared.ownership import OF_CONNECTION, delete_in_batches, table_of
from webapp.domain.shared.vocabulary import ClientKind
from webapp.oauth.models import OAuthClient, OAuthCode, OAuthGrant, OAuthToken

# our choice: long enough to tell late reuse from an unknown token
SPENT_KEPT = timedelta(days=90)
# SDKs keep and reuse the client that they registered, so its ended grants are kept
GRANT_KEPT = timedelta(days=180)
UNUSED_CLIENT_KEPT = timedelta(hours=24)

Dead = tuple[type[Base], ColumnElement[bool]]


def purge_dead(now: datetime) -> Iterator[int]:
    """Delete what expired long ago, children first, a short transaction for each batch.

    Yields the number of rows deleted by each; may be abandoned at any point and resumed later.
    """
    for model, which in _dead(now):
        yield from delete_in_batches(db.metadata.tables[model.__tablename__], which)


def _dead(now: datetime) -> list[Dead]:
    spent, ended = now - SPENT_KEPT, now - GRANT_KEPT
    idle_since = now - SESSION_IDLE
    held = or_(
        *(
            exists().where(table_of(child).c[child.column] == OAuthGrant.id)
            for child in OF_CONNECTION[:-1]
        )
    )
    over = or_(OAuthGrant.revoked_at < ended, OAuthGrant.expires_at < ended)
    unused = ~exists().where(OAuthGrant.client_pk == OAuthClient.id)
    return [
        (AuditEvent, AuditEvent.at < now - timedelta(days=settings().audit_days)),
        (IdempotencyKey, IdempotencyKey.created_at <= kept_since(now)),
        (SignIn, or_(SignIn.expires_at <= now, SignIn.last_active_at <= idle_since)),
        (Invite, Invite.expires_at < spent),
        (AgentToken, or_(AgentToken.expires_at < spent, AgentToken.revoked_at < spent)),
        (OAuthCode, OAuthCode.expires_at < spent),
        (OAuthToken, OAuthToken.expires_at < spent),
        (OAuthGrant, over & ~held),
        (
            OAuthClient,
            (OAuthClient.kind != ClientKind.PRE_REGISTERED)
            & OAuthClient.disabled_at.is_(None)  # or it would come back enabled
            & (OAuthClient.created_at < now - UNUSED_CLIENT_KEPT)
            & unused,
        ),
    ]
