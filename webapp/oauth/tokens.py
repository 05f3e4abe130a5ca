"""Access and refresh tokens, and erasing those that have expired."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import NamedTuple

from sqlalchemy import ColumnElement, bindparam, exists, func, or_, select, update
from sqlalchemy.exc import IntegrityError

from webapp.base.config import settings
from webapp.base.database import Base, db, execute_autocommit, new_id, read_rows, write_transaction
from webapp.base.error_codes import ErrorCode
from webapp.base.errors import StateConflict
from webapp.base.limits import LAST_USED_EVERY_SECONDS
from webapp.base.ownership import OF_CONNECTION, delete_in_batches, table_of
from webapp.base.text import token_hash
from webapp.base.vocabulary import ClientKind, RevokedReason, Scope, SubscriptionEnd, TokenKind
from webapp.events.endings import end_subscriptions
from webapp.oauth.models import OAuthClient, OAuthCode, OAuthGrant, OAuthToken, shows_given_name
from webapp.oauth.protocol import ACCESS_PREFIX, REFRESH_PREFIX, new_secret
from webapp.records.accounts.browser_sessions import SESSION_IDLE, SignIn
from webapp.records.accounts.models import Account, Invite
from webapp.records.audit import SYSTEM, Actor, AuditEvent, AuditKind, add_event
from webapp.records.drafts import IdempotencyKey, kept_since
from webapp.records.forms import AgentToken
from webapp.web.deferred_writes import write_later

CODE_SECONDS = 60  # RFC 6749, section 4.1.2, allows ten minutes at most
ACCESS_SECONDS = 3_600
REFRESH_SECONDS = 30 * 86_400  # of a token that is not used
GRANT_SECONDS = 180 * 86_400  # then the agent has to be connected again
COMMAND_LINE_CLIENT = "askback-command-line"

PREFIXES = {TokenKind.ACCESS: ACCESS_PREFIX, TokenKind.REFRESH: REFRESH_PREFIX}


class TokenRow(NamedTuple):
    """A token with what its grant and client say, as selected by `find_access_token`."""

    token_id: str
    scope: str
    expires_at: datetime
    revoked_at: datetime | None
    grant_id: str
    account_id: str
    resource: str
    attests_publish: bool
    grant_expires_at: datetime
    grant_revoked_at: datetime | None
    last_used_at: datetime | None
    client_id: str
    client_kind: ClientKind
    client_given_name: str
    client_disabled_at: datetime | None
    account_disabled_at: datetime | None


LOOK_UP = (
    select(
        OAuthToken.id,
        OAuthToken.scope,
        OAuthToken.expires_at,
        OAuthToken.revoked_at,
        OAuthGrant.id,
        OAuthGrant.account_id,
        func.coalesce(OAuthToken.resource, OAuthGrant.resource),
        OAuthGrant.attests_publish,
        OAuthGrant.expires_at,
        OAuthGrant.revoked_at,
        OAuthGrant.last_used_at,
        OAuthClient.client_id,
        OAuthClient.kind,
        OAuthClient.given_name,
        OAuthClient.disabled_at,
        Account.disabled_at,
    )
    .select_from(OAuthToken)
    .join(OAuthGrant, OAuthGrant.id == OAuthToken.grant_id)
    .join(OAuthClient, OAuthClient.id == OAuthGrant.client_pk)
    .join(Account, Account.id == OAuthGrant.account_id)
    .where(OAuthToken.token_hash == bindparam("hash"), OAuthToken.kind == TokenKind.ACCESS)
)


_DETAILS = select(OAuthClient.details).where(OAuthClient.client_id == bindparam("client"))


def find_access_token(token: str) -> TokenRow | None:
    """The row of this access token in any state; one select, no entities."""
    found = read_rows(LOOK_UP, hash=token_hash(token))
    return TokenRow._make(found[0]) if found else None


def client_name(client_id: str, kind: ClientKind, given_name: str) -> str:
    """What creators are shown as the name of a client whose token was found."""
    if shows_given_name(kind, given_name):
        return given_name
    details = read_rows(_DETAILS, client=client_id)[0][0]
    client = OAuthClient(client_id=client_id, kind=kind, given_name=given_name, details=details)
    return client.name


def note_use(row: TokenRow, *, now: datetime) -> None:
    """Store `last_used_at` by a deferred write, at most once a minute."""
    since = now - timedelta(seconds=LAST_USED_EVERY_SECONDS)
    if row.last_used_at is None or row.last_used_at <= since:
        write_later(("use", row.grant_id), partial(_store_use, row.grant_id, now))


def _store_use(grant_id: str, now: datetime) -> None:
    execute_autocommit(_USED, grant=grant_id, now=now)


_USED = (
    update(OAuthGrant)
    .where(OAuthGrant.id == bindparam("grant"))
    .values(last_used_at=bindparam("now"))
)


def add_grant(
    account_id: str, client: OAuthClient, scope: str, resource: str, *, now: datetime
) -> OAuthGrant:
    """Add a consent to the session; without offline access it ends with its only token.

    The caller commits.
    """
    lasting = Scope.OFFLINE_ACCESS in scope.split()
    grant = OAuthGrant(
        id=new_id("con"),
        account_id=account_id,
        client_pk=client.id,
        resource=resource,
        scope=scope,
        created_at=now,
        expires_at=now + timedelta(seconds=_grant_seconds(lasting=lasting)),
    )
    db.session.add(grant)
    return grant


def _grant_seconds(*, lasting: bool) -> int:
    return GRANT_SECONDS if lasting else CODE_SECONDS + ACCESS_SECONDS


def add_token(
    grant: OAuthGrant,
    kind: TokenKind,
    scope: str,
    *,
    resource: str | None = None,
    renews_id: str | None = None,
    now: datetime,
) -> str:
    """Add a token to the session, which never outlives its grant; returns its unstored text."""
    token = new_secret(PREFIXES[kind])
    db.session.add(
        OAuthToken(
            id=new_id("tok"),
            token_hash=token_hash(token),
            kind=kind,
            grant_id=grant.id,
            scope=scope,
            resource=resource,
            issued_at=now,
            expires_at=min(now + lifetime(kind), grant.expires_at),
            renews_id=renews_id,
        )
    )
    return token


def lifetime(kind: TokenKind) -> timedelta:
    """The lifetime of a new token of this kind, which its grant may shorten."""
    seconds = {
        TokenKind.ACCESS: ACCESS_SECONDS,
        TokenKind.REFRESH: REFRESH_SECONDS,
    }
    return timedelta(seconds=seconds[kind])


def issue_token(
    account_id: str,
    scopes: Iterable[Scope],
    resource: str,
    *,
    now: datetime,
    by: Actor = SYSTEM,
) -> str:
    """An access token without a browser, for the operator and for tests; commits.

    All such tokens of an account form one connection, listed and disconnected like any other.
    raises  StateConflict while their client is disabled
    """
    with write_transaction():
        client = _command_line_client(now=now)
        if client.disabled_at is not None:
            raise StateConflict(
                ErrorCode.AUTHENTICATION_REQUIRED,
                f"The client {COMMAND_LINE_CLIENT} is switched off.",
                f"Undo that with: askback client enable {COMMAND_LINE_CLIENT}",
            )
        scope = " ".join(sorted(scopes))
        grant = add_grant(account_id, client, scope, resource, now=now)
        db.session.flush()
        token = add_token(grant, TokenKind.ACCESS, scope, now=now)
        by = replace(by, client_id=client.client_id, client_name=client.name)
        add_event(AuditKind.TOKEN_ISSUED, account_id, by=by, now=now, subject=grant.id)
    return token


def has_token(at: datetime) -> ColumnElement[bool]:
    """Whether a grant, unless it is revoked, lets its client in or renew a token at this moment."""
    return exists().where(
        OAuthToken.grant_id == OAuthGrant.id,
        OAuthToken.revoked_at.is_(None),
        OAuthToken.expires_at > at,
    )


def revoke_access_token(token_id: str, grant_id: str, *, now: datetime) -> bool:
    """End one token; returns whether its connection has another. The caller commits."""
    db.session.execute(update(OAuthToken).where(OAuthToken.id == token_id).values(revoked_at=now))
    left = select(exists().where(OAuthGrant.id == grant_id, has_token(now)))
    return bool(db.session.scalar(left))


def revoke_grants(which: ColumnElement[bool], reason: RevokedReason, *, now: datetime) -> bool:
    """End the live connections that match, with the subscriptions and agent tokens they made.

    False if there is none. The caller commits.
    """
    ended = db.session.scalars(
        update(OAuthGrant)
        .where(which, OAuthGrant.revoked_at.is_(None))
        .values(revoked_at=now, revoked_reason=reason)
        .returning(OAuthGrant.id)
    ).all()
    if ended:
        disconnected = reason is RevokedReason.DISCONNECTED
        why = SubscriptionEnd.DISCONNECTED if disconnected else SubscriptionEnd.REVOKED
        end_subscriptions(ended, why, now=now)
        db.session.execute(
            update(AgentToken)
            .where(AgentToken.grant_id.in_(ended), AgentToken.revoked_at.is_(None))
            .values(revoked_at=now)
        )
    return bool(ended)


def revoke_grant(grant_id: str, reason: RevokedReason, *, now: datetime) -> bool:
    """End a connection with all its tokens; the first reason stays. The caller commits.

    False if it had ended before.
    """
    return revoke_grants(OAuthGrant.id == grant_id, reason, now=now)


def _command_line_client(*, now: datetime) -> OAuthClient:
    known = select(OAuthClient).where(OAuthClient.client_id == COMMAND_LINE_CLIENT)
    found = db.session.scalars(known).first()
    if found is not None:
        return found
    try:
        with db.session.begin_nested():
            client = OAuthClient(
                id=new_id("cli"),
                client_id=COMMAND_LINE_CLIENT,
                kind=ClientKind.PRE_REGISTERED,
                given_name="Askback command line",
                details={"redirect_uris": [], "grant_types": []},
                created_at=now,
            )
            db.session.add(client)
    except IntegrityError:
        client = db.session.scalars(known).one()
    return client


# long enough to tell late reuse from an unknown token
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
