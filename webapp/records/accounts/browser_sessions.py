"""Browser sessions: a row from sign-in to sign-out, so that a copied cookie ends with the original.

A row is valid only while its account is in the same epoch, so a new epoch ends all sessions at
once. Rows that ended in that way stay until they expire.
"""

import hashlib
import secrets
from datetime import datetime, timedelta

from sqlalchemy import ForeignKey, String, bindparam, delete, select, update
from sqlalchemy.orm import Mapped, mapped_column

from webapp.base.database import Base, db, read_rows, tried_again, write_transaction
from webapp.records.accounts.models import Account
from webapp.records.audit import ADDRESS_MAX_CHARS, SYSTEM, Actor, AuditKind, add_event

SESSION_LIFETIME = timedelta(days=30)  # from sign-in, used or not
SESSION_IDLE = timedelta(days=14)  # without use; the privacy page and the docs name it
ACTIVE_EVERY = timedelta(minutes=5)  # at most one write for each session
BROWSER_MAX_CHARS = 60


class SignIn(Base):
    """One browser of one account; `id` is the value of its signed cookie, 128 random bits."""

    __tablename__ = "sign_ins"

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id"), index=True)
    session_epoch: Mapped[int]
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    last_active_at: Mapped[datetime]
    browser: Mapped[str] = mapped_column(String(BROWSER_MAX_CHARS), server_default="")
    address: Mapped[str | None] = mapped_column(String(ADDRESS_MAX_CHARS))

    @property
    def handle(self) -> str:
        """Return what identifies the session on pages, where its id must not be shown."""
        return hashlib.sha256(self.id.encode()).hexdigest()[:16]


@tried_again
def begin_session(
    account: Account,
    *,
    replaced: str | None,
    now: datetime,
    by: Actor = SYSTEM,
    browser: str = "",
) -> str:
    """Create a browser session for an account whose password was checked; return its id. Commits.

    If the password was changed since `account` was read, the new session is not valid.
    """
    session_id = secrets.token_hex(16)
    signed_in = SignIn(
        id=session_id,
        account_id=account.id,
        session_epoch=account.session_epoch,
        created_at=now,
        expires_at=now + SESSION_LIFETIME,
        last_active_at=now,
        browser=browser,
        address=by.address,
    )
    with write_transaction():
        db.session.execute(delete(SignIn).where(SignIn.id == replaced))
        db.session.add(signed_in)
        add_event(AuditKind.SIGN_IN, account.id, by=by, now=now)
    return session_id


def find_session_account(session_id: str, *, now: datetime) -> Account | None:
    """Return the account of a browser session, detached; None if the session is over."""
    values = {"session_id": session_id, "now": now, "active_since": now - SESSION_IDLE}
    found = read_rows(ACCOUNT_OF_SESSION, **values)
    if not found:
        return None
    *columns, active_at = found[0]
    account = Account(**dict(zip(_ACCOUNT.keys(), columns, strict=True)))
    account.session_id, account.active_at = session_id, active_at
    return account


_LIVE = (
    SignIn.expires_at > bindparam("now"),
    SignIn.last_active_at > bindparam("active_since"),
    SignIn.session_epoch == Account.session_epoch,
    Account.disabled_at.is_(None),
)
_ACCOUNT = Account.__table__.c
ACCOUNT_OF_SESSION = (
    select(*_ACCOUNT, SignIn.last_active_at)
    .join(SignIn, SignIn.account_id == Account.id)
    .where(SignIn.id == bindparam("session_id"), *_LIVE)
)
SESSIONS_OF_ACCOUNT = (
    select(SignIn)
    .join(Account, Account.id == SignIn.account_id)
    .where(SignIn.account_id == bindparam("account_id"), *_LIVE)
    .order_by(SignIn.last_active_at.desc(), SignIn.id)
)


def note_active(session_id: str, *, address: str | None, now: datetime) -> None:
    """Store the time and network address of the session's last use; commits."""
    with write_transaction():
        db.session.execute(
            update(SignIn)
            .where(SignIn.id == session_id, SignIn.last_active_at < now)
            .values(last_active_at=now, address=address)
        )


def list_sessions(account_id: str, *, now: datetime) -> list[SignIn]:
    """Return the signed-in sessions of the account, most recently active first."""
    values = {"account_id": account_id, "now": now, "active_since": now - SESSION_IDLE}
    return list(db.session.scalars(SESSIONS_OF_ACCOUNT, values))


def end_browser(account_id: str, handle: str, *, now: datetime, by: Actor = SYSTEM) -> None:
    """End the session with this handle, if it still exists; commits."""
    with write_transaction():
        mine = db.session.scalars(select(SignIn).where(SignIn.account_id == account_id))
        for found in [each for each in mine if each.handle == handle]:
            db.session.execute(delete(SignIn).where(SignIn.id == found.id))
            add_event(AuditKind.BROWSER_ENDED, account_id, by=by, now=now)


def end_other_sessions(
    account_id: str, session_id: str, *, now: datetime, by: Actor = SYSTEM
) -> None:
    """End every session of the account except this one; commits."""
    with write_transaction():
        db.session.execute(
            delete(SignIn).where(SignIn.account_id == account_id, SignIn.id != session_id)
        )
        add_event(AuditKind.BROWSERS_ENDED, account_id, by=by, now=now)


@tried_again
def end_session(session_id: str | None, *, now: datetime, by: Actor = SYSTEM) -> None:
    """End this session; do nothing for None or an ended one. Commits."""
    with write_transaction():
        ended = delete(SignIn).where(SignIn.id == session_id).returning(SignIn.account_id)
        account_id = db.session.scalar(ended)
        if account_id is not None:
            add_event(AuditKind.SIGN_OUT, account_id, by=by, now=now)


def end_sessions(account_id: str, *, now: datetime, by: Actor = SYSTEM) -> None:
    """End every browser session of the account; commits."""
    with write_transaction():
        db.session.execute(
            update(Account)
            .where(Account.id == account_id)
            .values(session_epoch=Account.session_epoch + 1)
        )
        add_event(AuditKind.SIGN_OUT_EVERYWHERE, account_id, by=by, now=now)
