"""What signing in leaves behind: expired sessions and invites, dead codes and tokens, ended grants,
unused clients, and the idempotency keys and audit trail of agents and creators once they are old.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, CursorResult, delete, exists, or_, select
from sqlalchemy.orm import InstrumentedAttribute

from webapp.config import settings
from webapp.database import db, write_transaction
from webapp.domain.accounts.browser_sessions import SignIn
from webapp.domain.accounts.models import Invite
from webapp.domain.audit.trail import AuditEvent
from webapp.domain.drafts.idempotency import IdempotencyKey, kept_since
from webapp.domain.shared.vocabulary import ClientKind
from webapp.oauth.models import OAuthClient, OAuthCode, OAuthGrant, OAuthToken

BATCH_ROWS = 500  # our choice: a transaction of some milliseconds
# our choice: long enough to tell late reuse from an unknown token
SPENT_KEPT = timedelta(days=90)
# SDKs store the client they registered and come back with it, so its grants outlive their end
GRANT_KEPT = timedelta(days=180)
UNUSED_CLIENT_KEPT = timedelta(hours=24)

Dead = tuple[InstrumentedAttribute[str], ColumnElement[bool]]


def purge_dead(now: datetime) -> Iterator[int]:
    """Delete what is dead for long, children first, a short transaction for each batch.

    Yields the rows deleted by each; may be left at any point and goes on with the next call.
    """
    for key, which in _dead(now):
        while deleted := delete_some(key, which):
            yield deleted


def _dead(now: datetime) -> list[Dead]:
    spent, ended = now - SPENT_KEPT, now - GRANT_KEPT
    idle_since = now - timedelta(days=settings().session_idle_days)
    held = or_(
        exists().where(OAuthToken.grant_id == OAuthGrant.id),
        exists().where(OAuthCode.grant_id == OAuthGrant.id),
    )
    over = or_(OAuthGrant.revoked_at < ended, OAuthGrant.expires_at < ended)
    unused = ~exists().where(OAuthGrant.client_pk == OAuthClient.id)
    return [
        (AuditEvent.id, AuditEvent.at < now - timedelta(days=settings().audit_days)),
        (IdempotencyKey.key, IdempotencyKey.created_at <= kept_since(now)),
        (SignIn.id, or_(SignIn.expires_at <= now, SignIn.last_active_at <= idle_since)),
        (Invite.token_hash, Invite.expires_at < spent),
        (OAuthCode.code_hash, OAuthCode.expires_at < spent),
        (OAuthToken.id, OAuthToken.expires_at < spent),
        (OAuthGrant.id, over & ~held),
        (
            OAuthClient.id,
            (OAuthClient.kind != ClientKind.PRE_REGISTERED)
            & (OAuthClient.created_at < now - UNUSED_CLIENT_KEPT)
            & unused,
        ),
    ]


def delete_some(key: InstrumentedAttribute[str], which: ColumnElement[bool]) -> int:
    """Delete at most BATCH_ROWS rows that match, found by `key`; commits. Returns how many."""
    with write_transaction():
        some = select(key).where(which).limit(BATCH_ROWS)
        result: CursorResult[Any] = db.session.execute(  # type: ignore[assignment]
            delete(key.class_)
            .where(key.in_(some), which)
            .execution_options(synchronize_session=False)
        )
    return result.rowcount
