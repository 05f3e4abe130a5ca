"""Accounts that the operator switches off and on again: nothing of them is lost meanwhile.

While one is off its browsers are signed out, and neither its creator nor its agents get in. Its
forms stay open: people who have the link may answer, because they have done nothing wrong.
"""

from datetime import datetime

from sqlalchemy import Update, update

from webapp.database import db, write_transaction
from webapp.domain.accounts.models import Account, end_links
from webapp.domain.audit.trail import SYSTEM, Actor, AuditKind, add_event


def disable_account(account_id: str, *, now: datetime, by: Actor = SYSTEM) -> None:
    """Switch the account off: browser sessions and open links end, agents wait; commits."""
    disabled = (
        update(Account)
        .where(Account.id == account_id, Account.disabled_at.is_(None))
        .values(disabled_at=now, session_epoch=Account.session_epoch + 1)
    )
    with write_transaction():
        end_links(account_id)
        _change(disabled, AuditKind.ACCOUNT_DISABLED, account_id, now, by)


def enable_account(account_id: str, *, now: datetime, by: Actor = SYSTEM) -> None:
    """Switch the account on again: agents go on as before, browsers sign in anew; commits."""
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
