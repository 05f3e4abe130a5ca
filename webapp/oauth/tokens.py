"""Issues, stores and revokes grants and tokens, and purges expired rows."""

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import Any, cast

from sqlalchemy import ColumnElement, Table, exists, or_, select, update

from webapp.base import config, database, errors, ownership, text
from webapp.base.vocabulary import ClientKind, RevokedReason, Scope, SubscriptionEnd, TokenKind
from webapp.events.endings import end_subscriptions
from webapp.oauth.models import OAuthClient, OAuthCode, OAuthGrant, OAuthToken
from webapp.oauth.protocol import ACCESS_PREFIX, REFRESH_PREFIX, new_secret
from webapp.records.accounts.browser_sessions import SESSION_IDLE, SignIn
from webapp.records.accounts.models import Invite
from webapp.records.audit import SYSTEM, Actor, AuditEvent, AuditKind, add_event
from webapp.records.drafts import IDEMPOTENCY_KEPT, IdempotencyKey
from webapp.records.forms import AgentToken

CODE_SECONDS = 60  # RFC 6749 section 4.1.2 allows at most ten minutes
ACCESS_SECONDS = 3_600
REFRESH_SECONDS = 30 * 86_400  # for an unused token: use replaces it
GRANT_SECONDS = 180 * 86_400  # after that the creator has to connect the agent again
COMMAND_LINE_CLIENT = "askback-command-line"

# of a new token; the end of its grant may shorten it
LIFETIMES = {
    TokenKind.ACCESS: timedelta(seconds=ACCESS_SECONDS),
    TokenKind.REFRESH: timedelta(seconds=REFRESH_SECONDS),
}
PREFIXES = {TokenKind.ACCESS: ACCESS_PREFIX, TokenKind.REFRESH: REFRESH_PREFIX}


def add_grant(
    account_id: str, client: OAuthClient, scope: str, resource: str, *, now: datetime
) -> OAuthGrant:
    """Add a consent to the session; without offline access it ends with its only token.

    The caller commits.
    raises  StateConflict for a disabled client
    """
    # the lock stops a concurrent disable_client from missing this grant
    held = select(OAuthClient.disabled_at).where(OAuthClient.id == client.id)
    if database.db.session.scalar(held.with_for_update(read=True)) is not None:
        raise errors.StateConflict(
            errors.ErrorCode.AUTHENTICATION_REQUIRED,
            f"The client {client.client_id} is switched off.",
            f"Undo that with: askback client enable {client.client_id}",
        )
    lasting = Scope.OFFLINE_ACCESS in scope.split()
    seconds = GRANT_SECONDS if lasting else CODE_SECONDS + ACCESS_SECONDS
    grant = OAuthGrant(
        id=database.new_id("con"),
        account_id=account_id,
        client_pk=client.id,
        resource=resource,
        scope=scope,
        created_at=now,
        expires_at=now + timedelta(seconds=seconds),
    )
    database.db.session.add(grant)
    database.db.session.flush()
    return grant


def add_token(
    grant: OAuthGrant,
    kind: TokenKind,
    scope: str,
    *,
    resource: str | None = None,
    renews_id: str | None = None,
    now: datetime,
) -> str:
    """Add a token that never outlives its grant to the session; return its text (not stored)."""
    token = new_secret(PREFIXES[kind])
    database.db.session.add(
        OAuthToken(
            id=database.new_id("tok"),
            token_hash=text.token_hash(token),
            kind=kind,
            grant_id=grant.id,
            scope=scope,
            resource=resource,
            issued_at=now,
            expires_at=min(now + LIFETIMES[kind], grant.expires_at),
            renews_id=renews_id,
        )
    )
    return token


def issue_token(
    account_id: str, scopes: Iterable[Scope], resource: str, *, now: datetime, by: Actor = SYSTEM
) -> str:
    """Issue an access token without a browser, for the operator and for tests; commit.

    All such tokens of an account form one connection, listed and disconnected like any other.
    raises  StateConflict while the client for these tokens is disabled
    """
    with database.write_transaction():
        details = {"redirect_uris": [], "grant_types": [], "client_name": "Askback command line"}
        client = store_client(COMMAND_LINE_CLIENT, ClientKind.PRE_REGISTERED, details, now=now)
        scope = " ".join(sorted(scopes))
        grant = add_grant(account_id, client, scope, resource, now=now)
        token = add_token(grant, TokenKind.ACCESS, scope, now=now)
        by = client.named(by)
        add_event(AuditKind.TOKEN_ISSUED, account_id, by=by, now=now, subject=grant.id)
    return token


def has_token(at: datetime) -> ColumnElement[bool]:
    """Return the condition that a grant, revoked or not, has a token that works at this time."""
    works = OAuthToken.revoked_at.is_(None) & (OAuthToken.expires_at > at)
    return exists().where(OAuthToken.grant_id == OAuthGrant.id, works)


def is_live(at: datetime) -> ColumnElement[bool]:
    """Return the condition that a grant is not revoked and has a token that works."""
    return OAuthGrant.revoked_at.is_(None) & has_token(at)


def store_client(
    client_id: str,
    kind: ClientKind,
    details: dict[str, Any],
    *,
    now: datetime,
    secret_hash: str | None = None,
    fetched_until: datetime | None = None,
    renewed: Iterable[str] = ("kind",),
) -> OAuthClient:
    """Insert a client, or update only the `renewed` columns of the client with this id.

    The caller commits.
    """
    row = {
        "id": database.new_id("cli"),
        "client_id": client_id,
        "kind": kind,
        "name": details.get("client_name", ""),
        "secret_hash": secret_hash,
        "details": details,
        "fetched_until": fetched_until,
        "created_at": now,
    }
    adding = database.insert_into(cast(Table, OAuthClient.__table__)).values(row)
    set_ = {name: adding.excluded[name] for name in renewed}
    adding = adding.on_conflict_do_update(index_elements=["client_id"], set_=set_)
    stored = select(OAuthClient).from_statement(adding.returning(OAuthClient))
    options = {"populate_existing": True}
    return cast(OAuthClient, database.db.session.scalars(stored, execution_options=options).one())


def revoke_grants(which: ColumnElement[bool], reason: RevokedReason, *, now: datetime) -> bool:
    """End the live grants that match, with their tokens, subscriptions and agent tokens.

    Return whether any matched; one that had ended before keeps its reason. The caller commits.
    """
    ended = database.db.session.scalars(
        update(OAuthGrant)
        .where(which, OAuthGrant.revoked_at.is_(None))
        .values(revoked_at=now, revoked_reason=reason)
        .returning(OAuthGrant.id)
    ).all()
    if ended:
        disconnected = reason is RevokedReason.DISCONNECTED
        why = SubscriptionEnd.DISCONNECTED if disconnected else SubscriptionEnd.REVOKED
        end_subscriptions(ended, why, now=now)
        theirs = (AgentToken.grant_id.in_(ended), AgentToken.revoked_at.is_(None))
        database.db.session.execute(update(AgentToken).where(*theirs).values(revoked_at=now))
    return bool(ended)


# long enough to distinguish late reuse from an unknown token
SPENT_KEPT = timedelta(days=90)
# SDKs reuse the client that they registered; a client stays while it has grants
GRANT_KEPT = timedelta(days=180)
UNUSED_CLIENT_KEPT = timedelta(hours=24)


def purge_dead(now: datetime) -> Iterator[int]:
    """Delete rows that expired long ago, children first; yields as `delete_in_batches`."""
    spent, ended, idle_since = now - SPENT_KEPT, now - GRANT_KEPT, now - SESSION_IDLE
    over = or_(OAuthGrant.revoked_at < ended, OAuthGrant.expires_at < ended)
    children = (OAuthCode.grant_id, OAuthToken.grant_id)
    has_children = or_(*(exists().where(grant_id == OAuthGrant.id) for grant_id in children))
    unused = (
        (OAuthClient.kind != ClientKind.PRE_REGISTERED)
        & OAuthClient.disabled_at.is_(None)  # else it could register again, enabled
        & (OAuthClient.created_at < now - UNUSED_CLIENT_KEPT)
        & ~exists().where(OAuthGrant.client_pk == OAuthClient.id)
    )
    dead: tuple[tuple[type[database.Base], ColumnElement[bool]], ...] = (
        (AuditEvent, AuditEvent.at < now - timedelta(days=config.settings().audit_days)),
        (IdempotencyKey, IdempotencyKey.created_at <= now - IDEMPOTENCY_KEPT),
        (SignIn, or_(SignIn.expires_at <= now, SignIn.last_active_at <= idle_since)),
        (Invite, Invite.expires_at < spent),
        (AgentToken, or_(AgentToken.expires_at < spent, AgentToken.revoked_at < spent)),
        (OAuthCode, OAuthCode.expires_at < spent),
        (OAuthToken, OAuthToken.expires_at < spent),
        (OAuthGrant, over & ~has_children),
        (OAuthClient, unused),
    )
    for model, which in dead:
        yield from ownership.delete_in_batches(cast(Table, model.__table__), which)
