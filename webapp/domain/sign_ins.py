"""Browser sessions, each a row from signing in to signing out: a copied cookie ends with its row.

A row counts only under the epoch of the account it was made in, so one number ends them all. Rows
that ended in that way stay until they expire.
"""

import secrets
from datetime import datetime, timedelta

from sqlalchemy import ForeignKey, String, bindparam, delete, select, update
from sqlalchemy.orm import Mapped, mapped_column

from webapp.database import Base, begin_write, db
from webapp.domain.accounts import Account
from webapp.domain.audit import SYSTEM, Actor, AuditKind, add_event

SESSION_LIFETIME = timedelta(days=30)  # our choice; counted from signing in, used or not


class SignIn(Base):
    """One browser of one account; the id is what its signed cookie carries, 128 random bits."""

    __tablename__ = "sign_ins"

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id"), index=True)
    session_epoch: Mapped[int]
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]


def begin_session(
    account: Account, *, replaced: str | None, now: datetime, by: Actor = SYSTEM
) -> str:
    """The id of a new browser session of the account as it was read with its password; commits.

    A password that was changed since then leaves the new session dead.
    replaced  the session that the same browser had until now: it ends
    """
    session_id = secrets.token_hex(16)
    signed_in = SignIn(
        id=session_id,
        account_id=account.id,
        session_epoch=account.session_epoch,
        created_at=now,
        expires_at=now + SESSION_LIFETIME,
    )
    begin_write()
    db.session.execute(delete(SignIn).where(SignIn.id == replaced))
    db.session.add(signed_in)
    add_event(AuditKind.SIGN_IN, account.id, by=by, now=now)
    db.session.commit()
    return session_id


def find_session_account(session_id: str, *, now: datetime) -> Account | None:
    """The account of a browser session, detached; None once that has ended or expired."""
    values = {"session_id": session_id, "now": now}
    account = db.session.scalars(ACCOUNT_OF_SESSION, values).first()
    if account is None:
        return None
    # a write transaction starts with a rollback, which would expire an attached row
    db.session.expunge(account)
    account.session_id = session_id
    return account


ACCOUNT_OF_SESSION = (
    select(Account)
    .join(SignIn, SignIn.account_id == Account.id)
    .where(
        SignIn.id == bindparam("session_id"),
        SignIn.expires_at > bindparam("now"),
        SignIn.session_epoch == Account.session_epoch,
    )
)


def end_session(session_id: str | None, *, now: datetime, by: Actor = SYSTEM) -> None:
    """Sign one browser out; None and what has ended already are fine. Commits."""
    begin_write()
    ended = delete(SignIn).where(SignIn.id == session_id).returning(SignIn.account_id)
    account_id = db.session.scalar(ended)
    if account_id is not None:
        add_event(AuditKind.SIGN_OUT, account_id, by=by, now=now)
    db.session.commit()


def end_sessions(account_id: str, *, now: datetime, by: Actor = SYSTEM) -> None:
    """Sign out everywhere: every browser session of the account ends; commits."""
    begin_write()
    db.session.execute(
        update(Account)
        .where(Account.id == account_id)
        .values(session_epoch=Account.session_epoch + 1)
    )
    add_event(AuditKind.SIGN_OUT_EVERYWHERE, account_id, by=by, now=now)
    db.session.commit()
