"""Connected agents as their creator sees them: the list, and what can be done about each."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, exists, select, update

from webapp.database import begin_write, db
from webapp.domain.audit import SYSTEM, Actor, AuditKind, add_event
from webapp.domain.errors import NotFound
from webapp.domain.terms import RevokedReason, Scope
from webapp.oauth.models import OAuthClient, OAuthGrant, OAuthToken
from webapp.oauth.tokens import revoke_grant

NOTICE_DAYS = 30  # our choice: how long a connection ended for safety stays on the page
SUSPICIOUS = (RevokedReason.CODE_REUSE, RevokedReason.REFRESH_REUSE)


@dataclass(frozen=True, slots=True)
class Connections:
    """What the page shows: living connections and those ended because somebody used a copy."""

    live: list[OAuthGrant]
    notices: list[OAuthGrant]


def list_connections(account_id: str, *, now: datetime) -> Connections:
    """Newest first; ended ones only as security notices of the last 30 days.

    A consent whose code was never redeemed is no connection.
    """
    newest_first = OAuthGrant.created_at.desc()
    mine = select(OAuthGrant).where(OAuthGrant.account_id == account_id).order_by(newest_first)
    live = mine.where(OAuthGrant.revoked_at.is_(None), has_token(now))
    notices = mine.where(
        OAuthGrant.revoked_reason.in_(SUSPICIOUS),
        OAuthGrant.revoked_at > now - timedelta(days=NOTICE_DAYS),
    )
    return Connections(list(db.session.scalars(live)), list(db.session.scalars(notices)))


def list_disconnected(account_id: str, at: datetime) -> list[OAuthGrant]:
    """The connections that the creator ended at exactly this moment, newest first."""
    ended = (
        OAuthGrant.account_id == account_id,
        OAuthGrant.revoked_at == at,
        OAuthGrant.revoked_reason == RevokedReason.DISCONNECTED,
        has_token(at),
    )
    query = select(OAuthGrant).where(*ended).order_by(OAuthGrant.created_at.desc(), OAuthGrant.id)
    return list(db.session.scalars(query))


def has_token(at: datetime) -> ColumnElement[bool]:
    """Whether a grant, unless it is revoked, lets its client in or renew a token at this moment."""
    return exists().where(
        OAuthToken.grant_id == OAuthGrant.id,
        OAuthToken.revoked_at.is_(None),
        OAuthToken.expires_at > at,
    )


def has_consented(account_id: str, client: OAuthClient) -> bool:
    """Whether this creator ever let this client in, whatever became of it."""
    query = select(
        exists().where(OAuthGrant.account_id == account_id, OAuthGrant.client_pk == client.id)
    )
    return bool(db.session.scalar(query))


def disconnect(account_id: str, grant_id: str, *, now: datetime, by: Actor = SYSTEM) -> datetime:
    """End one connection with all its tokens; again is fine. Raises NotFound.

    Returns when it ended, which is not `now` if it had ended before.
    """
    begin_write()
    grant = _get_grant(account_id, grant_id)
    if grant.revoked_at is None:
        revoke_grant(grant_id, RevokedReason.DISCONNECTED, now=now)
        _add_event(AuditKind.DISCONNECTED, grant, by, now)
    db.session.commit()
    return grant.revoked_at or now


def disconnect_all(account_id: str, *, now: datetime, by: Actor = SYSTEM) -> None:
    """End every connection of the account."""
    begin_write()
    end_grants(account_id, RevokedReason.DISCONNECTED, now=now, by=by)
    db.session.commit()


def end_grants(
    account_id: str, reason: RevokedReason, *, now: datetime, by: Actor = SYSTEM
) -> None:
    """End every connection of the account, in one event of the audit trail; the caller commits."""
    ended = db.session.scalars(
        update(OAuthGrant)
        .where(OAuthGrant.account_id == account_id, OAuthGrant.revoked_at.is_(None))
        .values(revoked_at=now, revoked_reason=reason)
        .returning(OAuthGrant.id)
    ).all()
    if ended:
        add_event(AuditKind.DISCONNECTED, account_id, by=by, now=now)


def let_publish(
    account_id: str, grant_id: str, *, allowed: bool, now: datetime, by: Actor = SYSTEM
) -> OAuthGrant:
    """Whether the agent may publish on the creator's word in chat. Raises NotFound.

    Only a connection that may write forms can be trusted with it.
    """
    begin_write()
    grant = _get_grant(account_id, grant_id)
    grant.attests_publish = allowed and Scope.FORMS_WRITE in grant.scope.split()
    kind = AuditKind.TRUST_GIVEN if grant.attests_publish else AuditKind.TRUST_ENDED
    _add_event(kind, grant, by, now)
    db.session.commit()
    return grant


def _add_event(kind: AuditKind, grant: OAuthGrant, by: Actor, now: datetime) -> None:
    by = replace(by, client_id=grant.client.client_id, client_name=grant.client.name)
    add_event(kind, grant.account_id, by=by, now=now, subject=grant.id)


def _get_grant(account_id: str, grant_id: str) -> OAuthGrant:
    grant = db.session.scalars(
        select(OAuthGrant).where(OAuthGrant.id == grant_id, OAuthGrant.account_id == account_id)
    ).first()
    if grant is None:
        raise NotFound(
            "not_found", "There is no such connection.", "Reload the page to see the current ones."
        )
    return grant
