"""Disables and enables accounts for the operator; a disabled account keeps its data.

While an account is disabled its browsers are signed out, and neither its creator nor its agents
get access. Its forms still take answers.
"""

from datetime import datetime

from sqlalchemy import Update, update

from webapp.database import db, write_transaction
from webapp.domain.accounts.models import Account, end_links
from webapp.domain.audit.trail import SYSTEM, Actor, AuditKind, add_event


def disable_account(account_id: str, *, now: datetime, by: Actor = SYSTEM) -> None:
    """Disable the account: ends browser sessions and open links, refuses agents; commits."""
    disabled = (
        update(Account)
        .where(Account.id == account_id, Account.disabled_at.is_(None))
        .values(disabled_at=now, session_epoch=Account.session_epoch + 1)
    )
    with write_transaction():
        end_links(account_id)
        _change(disabled, AuditKind.ACCOUNT_DISABLED, account_id, now, by)


def enable_account(account_id: str, *, now: datetime, by: Actor = SYSTEM) -> None:
    """Enable the account: agents have access as before, browsers sign in again; commits."""
    enabled = (
        update(Account)
        .where(Account.id == account_id, Account.disabled_at.is_not(None))
        .values(disabled_at=None)
    )
    with write_transaction():
        _change(enabled, AuditKind.ACCOUNT_ENABLED, account_id, now, by)


def _change(change: Update, kind: AuditKind, account_id: str, now: datetime, by: Actor) -> None:
    if db.session.scalars(change.returning(Account.id)).all():
        add_event(kind, account_id, by=by, now=now)
