"""Muted agents: for a day their drafts arrive quietly. Nothing else of the connection changes.

A mute is of one client of one account. It stands in one grant and counts for all of them, also for
those that are added while it lasts.
"""

from datetime import datetime, timedelta

from sqlalchemy import bindparam, exists, func, select, update
from sqlalchemy.orm import aliased

from webapp.database import execute, read_rows, write_transaction
from webapp.domain.audit.trail import SYSTEM, Actor, AuditKind
from webapp.domain.drafts.models import Draft
from webapp.domain.drafts.waiting import waiting
from webapp.domain.shared.limits import MUTED_SECONDS
from webapp.oauth.connections import add_grant_event, get_grant
from webapp.oauth.models import OAuthGrant


def mute(account_id: str, grant_id: str, *, now: datetime, by: Actor = SYSTEM) -> None:
    """Mute the agent of this grant for a day from now, ended connections included. Raises NotFound.

    Once more begins the day anew.
    """
    with write_transaction():
        grant = get_grant(account_id, grant_id)
        grant.muted_until = now + timedelta(seconds=MUTED_SECONDS)
        add_grant_event(AuditKind.MUTED, grant, by, now)


def unmute(account_id: str, grant_id: str, *, now: datetime, by: Actor = SYSTEM) -> None:
    """End the mute of the agent of this grant, if there is one. Raises NotFound."""
    with write_transaction():
        grant = get_grant(account_id, grant_id)
        ended = execute(_UNMUTE, account=account_id, client=grant.client_pk, now=now)
        if ended.rowcount:
            add_grant_event(AuditKind.UNMUTED, grant, by, now)


def list_muted(account_id: str, *, now: datetime) -> dict[str, datetime]:
    """Until when agents are muted, by the keys of their clients."""
    return {row.client_pk: row.until for row in read_rows(_MUTES, account=account_id, now=now)}


def count_waiting(account_id: str, *, now: datetime) -> int:
    """How many drafts ask for the creator's eyes: those of muted agents do not."""
    return int(read_rows(_COUNT_WAITING, account=account_id, now=now)[0][0])


_UNMUTE = (
    update(OAuthGrant)
    .where(OAuthGrant.account_id == bindparam("account"))
    .where(OAuthGrant.client_pk == bindparam("client"), OAuthGrant.muted_until > bindparam("now"))
    .values(muted_until=None)
)
_MUTES = (
    select(OAuthGrant.client_pk, func.max(OAuthGrant.muted_until).label("until"))
    .where(OAuthGrant.account_id == bindparam("account"), OAuthGrant.muted_until > bindparam("now"))
    .group_by(OAuthGrant.client_pk)
)
_WRITER = aliased(OAuthGrant)
# read once, by the account: a client may have grants of thousands of accounts
_MUTED = select(OAuthGrant.client_pk).where(
    OAuthGrant.account_id == bindparam("account"), OAuthGrant.muted_until > bindparam("now")
)
_IS_MUTED = exists().where(
    _WRITER.id == func.coalesce(Draft.author, Draft.created_by), _WRITER.client_pk.in_(_MUTED)
)
_COUNT_WAITING = select(func.count(Draft.id)).where(waiting(bindparam("account")), ~_IS_MUTED)
