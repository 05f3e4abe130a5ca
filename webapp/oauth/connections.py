"""Connections of agents: list, end, trust and mute them; disable whole clients."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, and_, bindparam, exists, func, select, update
from sqlalchemy.orm import aliased

from webapp.base.database import db, read_rows, tried_again, write_transaction
from webapp.base.errors import ErrorCode, NotFound
from webapp.base.vocabulary import RevokedReason, Scope
from webapp.oauth.models import OAuthClient, OAuthGrant
from webapp.oauth.tokens import has_token, is_live, revoke_grants
from webapp.records.accounts.models import Account
from webapp.records.audit import SYSTEM, Actor, AuditKind, add_event
from webapp.records.drafts import Draft, waiting

MUTED_SECONDS = 24 * 3600  # how long an agent is muted
NOTICE_DAYS = 30  # how long the page shows a connection that reuse ended
SUSPICIOUS = (RevokedReason.CODE_REUSE, RevokedReason.REFRESH_REUSE)


class Connection:
    """One agent as its creator sees it: all grants of one client, newest first, at least one.

    A client has several grants because each consent adds one: it asks again for a further scope or
    another resource, or instead of refreshing.
    """

    def __init__(self, grants: list[OAuthGrant]) -> None:
        self.id = grants[0].id  # the newest; actions accept the id of any grant
        self.client = grants[0].client
        self.scopes = {scope for grant in grants for scope in grant.scope.split()}
        self.resources = {resource for grant in grants for resource in grant.resource.split()}
        self.attests_publish = any(grant.attests_publish for grant in grants)
        self.created_at = min(grant.created_at for grant in grants)
        self.last_used_at = max((g.last_used_at for g in grants if g.last_used_at), default=None)
        self.expires_at = max(grant.expires_at for grant in grants)


def list_connections(account_id: str, *, now: datetime) -> list[Connection]:
    """Return the live connections, newest first, without consents whose code was not redeemed."""
    return _by_client(_grants(account_id, is_live(now)))


def list_notices(account_id: str, *, now: datetime) -> list[OAuthGrant]:
    """Return grants revoked in the last 30 days because of a reused code or token, newest first."""
    since = now - timedelta(days=NOTICE_DAYS)
    suspicious = OAuthGrant.revoked_reason.in_(SUSPICIOUS)
    return _grants(account_id, suspicious, OAuthGrant.revoked_at > since)


def agent_names(grant_ids: Iterable[str | None]) -> dict[str, str]:
    """Return client names by grant id; ignores None, which means the creator."""
    return {grant_id: client.name for grant_id, client in clients_of(grant_ids).items()}


def clients_of(grant_ids: Iterable[str | None]) -> dict[str, OAuthClient]:
    """Return clients by grant id; ignores None."""
    query = (
        select(OAuthGrant.id, OAuthClient)
        .join(OAuthClient, OAuthClient.id == OAuthGrant.client_pk)
        .where(OAuthGrant.id.in_({grant for grant in grant_ids if grant}))
    )
    return dict(db.session.execute(query).all())


def find_live_account(grant_id: str, *, now: datetime) -> str | None:
    """Return the account id of a connection; None if it has ended or the account is disabled."""
    living = (
        OAuthGrant.revoked_at.is_(None),
        OAuthGrant.expires_at > now,
        Account.disabled_at.is_(None),
    )
    found = select(OAuthGrant.account_id).join(Account)
    return db.session.scalar(found.where(OAuthGrant.id == grant_id, *living))


def find_newest_client(account_id: str, since: datetime, *, now: datetime) -> OAuthClient | None:
    """Return the client of the newest live connection that began at or after `since`."""
    grants = _grants(account_id, OAuthGrant.created_at >= since, is_live(now))
    return grants[0].client if grants else None


def list_disconnected(account_id: str, at: datetime) -> list[Connection]:
    """Return the connections that the creator ended at exactly this moment, newest first."""
    disconnected = OAuthGrant.revoked_reason == RevokedReason.DISCONNECTED
    return _by_client(_grants(account_id, OAuthGrant.revoked_at == at, disconnected, has_token(at)))


def _grants(account_id: str, *which: ColumnElement[bool]) -> list[OAuthGrant]:
    """Return the account's grants that match, newest first."""
    query = select(OAuthGrant).where(OAuthGrant.account_id == account_id, *which)
    return list(db.session.scalars(query.order_by(OAuthGrant.created_at.desc(), OAuthGrant.id)))


def _by_client(grants: list[OAuthGrant]) -> list[Connection]:
    found: dict[str, list[OAuthGrant]] = {}
    for grant in grants:
        found.setdefault(grant.client_pk, []).append(grant)
    return [Connection(same) for same in found.values()]


def has_consented(account_id: str, client: OAuthClient) -> bool:
    """Return whether this creator ever granted this client access."""
    return bool(_grants(account_id, OAuthGrant.client_pk == client.id))


def disconnect(account_id: str, grant_id: str, *, now: datetime, by: Actor = SYSTEM) -> datetime:
    """End all grants of the account for this grant's client; idempotent. Raises NotFound.

    Return when the connection ended: earlier than `now` if it had ended before.
    """
    with write_transaction():
        grant = get_grant(account_id, grant_id)
        before = grant.revoked_at
        mine = and_(OAuthGrant.account_id == account_id, OAuthGrant.client_pk == grant.client_pk)
        ended = revoke_grants(mine, RevokedReason.DISCONNECTED, now=now)
        if ended:
            add_grant_event(AuditKind.DISCONNECTED, grant, by, now)
    return now if ended or before is None else before


def disconnect_all(account_id: str, *, now: datetime, by: Actor = SYSTEM) -> None:
    """End every connection of the account."""
    with write_transaction():
        end_grants(account_id, now=now, by=by)


def end_grants(account_id: str, *, now: datetime, by: Actor = SYSTEM) -> None:
    """End every connection of the account, and record one audit event; the caller commits."""
    if revoke_grants(OAuthGrant.account_id == account_id, RevokedReason.DISCONNECTED, now=now):
        add_event(AuditKind.DISCONNECTED, account_id, by=by, now=now)


def let_publish(
    account_id: str, grant_id: str, *, allowed: bool, now: datetime, by: Actor = SYSTEM
) -> Connection:
    """Set whether the agent may publish on the creator's word in chat. Raises NotFound.

    The setting applies to all grants of the client that have forms:write.
    """
    with write_transaction():
        grants = set_trust(get_grant(account_id, grant_id), allowed=allowed, now=now, by=by)
        if not grants:
            raise _no_connection()
        return Connection(grants)


def set_trust(grant: OAuthGrant, *, allowed: bool, now: datetime, by: Actor) -> list[OAuthGrant]:
    """Set the trust of all grants of this client that have not ended, and return them.

    The creator sees them as one agent. Only grants with forms:write can have the trust. The caller
    commits.
    """
    # one change at a time, as it may add a grant; others may still refer to the account
    locked = select(Account.id).where(Account.id == grant.account_id)
    db.session.execute(locked.with_for_update(key_share=True))
    living = (OAuthGrant.revoked_at.is_(None), OAuthGrant.expires_at > now)
    grants = _grants(grant.account_id, OAuthGrant.client_pk == grant.client_pk, *living)
    before = [each.attests_publish for each in grants]
    for each in grants:
        each.attests_publish = allowed and Scope.FORMS_WRITE in each.scope.split()
    if before != [each.attests_publish for each in grants]:
        kind = AuditKind.TRUST_GIVEN if allowed else AuditKind.TRUST_ENDED
        add_grant_event(kind, grant, by, now)
    return grants


def add_grant_event(kind: AuditKind, grant: OAuthGrant, by: Actor, now: datetime) -> None:
    """Record an audit event about the agent of this grant; the caller commits."""
    add_event(kind, grant.account_id, by=grant.client.named(by), now=now, subject=grant.id)


def get_grant(account_id: str, grant_id: str) -> OAuthGrant:
    """Return the account's grant, ended or not. Raises NotFound."""
    grant = db.session.scalars(
        select(OAuthGrant).where(OAuthGrant.id == grant_id, OAuthGrant.account_id == account_id)
    ).first()
    if grant is None:
        raise _no_connection()
    return grant


def _no_connection() -> NotFound:
    return NotFound(
        ErrorCode.NOT_FOUND,
        "There is no such connection.",
        "Reload the page to see the current ones.",
    )


def set_muted(
    account_id: str, grant_id: str, *, muted: bool, now: datetime, by: Actor = SYSTEM
) -> None:
    """Mute the agent of this grant for a day from now, or unmute it. Raises NotFound.

    The connection may have ended. Muting a muted agent starts the day again.
    """
    until = now + timedelta(seconds=MUTED_SECONDS) if muted else None
    with write_transaction():
        grant = get_grant(account_id, grant_id)
        same = (OAuthGrant.account_id == account_id, OAuthGrant.client_pk == grant.client_pk)
        which = OAuthGrant.id == grant_id if muted else OAuthGrant.muted_until > now
        changed = update(OAuthGrant).where(*same, which).values(muted_until=until)
        if db.session.scalars(changed.returning(OAuthGrant.id)).all():
            add_grant_event(AuditKind.MUTED if muted else AuditKind.UNMUTED, grant, by, now)


def list_muted(account_id: str, *, now: datetime) -> dict[str, datetime]:
    """Return when the mute of each muted agent ends, by the primary key of its client."""
    return {row.client_pk: row.until for row in read_rows(_MUTES, account=account_id, now=now)}


def count_waiting(account_id: str, *, now: datetime) -> int:
    """Count the drafts that wait for the creator, except the drafts of muted agents."""
    return int(read_rows(_COUNT_WAITING, account=account_id, now=now)[0][0])


_WRITER = aliased(OAuthGrant)
# selected by account first, because a client may have grants of thousands of accounts
_MUTED = select(OAuthGrant.client_pk).where(
    OAuthGrant.account_id == bindparam("account"), OAuthGrant.muted_until > bindparam("now")
)
_MUTES = _MUTED.add_columns(func.max(OAuthGrant.muted_until).label("until")).group_by(
    OAuthGrant.client_pk
)
_IS_MUTED = exists().where(
    _WRITER.id == func.coalesce(Draft.author, Draft.created_by), _WRITER.client_pk.in_(_MUTED)
)
_COUNT_WAITING = select(func.count(Draft.id)).where(waiting(bindparam("account")), ~_IS_MUTED)


@tried_again
def disable_client(client_id: str, *, now: datetime, by: Actor = SYSTEM) -> int:
    """End all connections of the client, with their subscriptions and agent tokens; commit.

    Return how many accounts were connected; 0 if the client was disabled. Raises NotFound.
    """
    with write_transaction():
        client = _lock(client_id)
        if client.disabled_at is not None:
            return 0
        client.disabled_at = now
        by = client.named(by)
        add_event(AuditKind.CLIENT_DISABLED, None, by=by, now=now, subject=client.id)
        mine = OAuthGrant.client_pk == client.id
        connected = select(OAuthGrant.account_id).where(mine, is_live(now))
        accounts = db.session.scalars(connected.distinct()).all()
        revoke_grants(mine, RevokedReason.DISCONNECTED, now=now)
        for account_id in accounts:
            add_event(AuditKind.DISCONNECTED, account_id, by=by, now=now)
        return len(accounts)


def enable_client(client_id: str, *, now: datetime, by: Actor = SYSTEM) -> None:
    """Let a disabled client ask for consent again, and commit. Raises NotFound."""
    with write_transaction():
        client = _lock(client_id)
        if client.disabled_at is not None:
            client.disabled_at = None
            by = client.named(by)
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
