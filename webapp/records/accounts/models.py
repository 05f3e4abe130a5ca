"""Accounts of creators, which the operator can disable."""

import re
from datetime import UTC, datetime

from sqlalchemy import ForeignKey, String, Update, delete, exists, select, update
from sqlalchemy.orm import Mapped, mapped_column

from webapp.base import database, errors
from webapp.base.text import in_one_line, normalized
from webapp.records.audit import SYSTEM, Actor, AuditKind, add_event

EMAIL_MAX_CHARS = 254  # RFC 5321 section 4.5.3.1.3, as clarified by erratum 1690
ACCOUNT_NAME_MAX_CHARS = 80
ACCENTS = ("", "green", "blue", "violet", "red", "ochre", "slate")  # "" shows none
CREATOR_LANGUAGES = {"en": "English"}  # of the creator's pages, each with its own name
NAME_READ_CHARS = 4 * ACCOUNT_NAME_MAX_CHARS  # room for combining marks
EMAIL = re.compile("[^@\\s\x00-\x1f\x7f\ud800-\udfff]+@[^@\\s\x00-\x1f\x7f\ud800-\udfff]+")


class Account(database.Base):
    """A creator's account. A new `session_epoch` ends all browser sessions.

    A row with `deleted_at` is a deleted account whose data is still being purged.
    While `disabled_at` is set, neither its creator nor its agents have access; its forms stay.
    """

    __tablename__ = "accounts"
    # what Flask-Login reads
    is_authenticated = True
    is_active = True
    is_anonymous = False

    id: Mapped[str] = mapped_column(String(40), primary_key=True)
    email: Mapped[str] = mapped_column(String(EMAIL_MAX_CHARS), unique=True)
    name: Mapped[str] = mapped_column(String(ACCOUNT_NAME_MAX_CHARS))
    password_hash: Mapped[str] = mapped_column(String(255))
    session_epoch: Mapped[int] = mapped_column(default=0)
    created_at: Mapped[datetime]
    language: Mapped[str] = mapped_column(String(16), default="en")
    organisation: Mapped[str] = mapped_column(
        String(ACCOUNT_NAME_MAX_CHARS), default="", server_default=""
    )
    accent: Mapped[str] = mapped_column(String(20), default="", server_default="")
    picture: Mapped[str] = mapped_column(String(64), default="", server_default="")
    deleted_at: Mapped[datetime | None]
    disabled_at: Mapped[datetime | None]

    # of the browser session that this row was loaded for
    session_id = ""
    active_at = datetime.max.replace(tzinfo=UTC)

    def get_id(self) -> str:
        """Return the value that Flask-Login stores in the cookie."""
        return self.session_id


class Invite(database.Base):
    """A one-time link; only the SHA-256 of its token is stored.

    It sets the password of the account `account_id`, or creates an account if that is null.
    `email` is fixed by the operator, or null when the person types it.
    """

    __tablename__ = "invites"

    token_hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    email: Mapped[str | None] = mapped_column(String(EMAIL_MAX_CHARS))
    account_id: Mapped[str | None] = mapped_column(ForeignKey("accounts.id"))
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    used_at: Mapped[datetime | None]


def has_account() -> bool:
    """Return True if any account exists; if not, the start prints a link that creates one."""
    return bool(database.db.session.scalar(select(exists().where(Account.deleted_at.is_(None)))))


def find_account(email: str) -> Account | None:
    """Return the account with this address, compared after normalization, or None."""
    address = normal_email(email)
    if not EMAIL.fullmatch(address):
        return None
    return database.db.session.scalars(select(Account).where(Account.email == address)).first()


def end_links(account_id: str) -> None:
    """End the unused links of the account; the caller commits.

    Call it before the account is written: account deletion takes its locks in that order.
    """
    database.db.session.execute(
        delete(Invite).where(Invite.account_id == account_id, Invite.used_at.is_(None))
    )


def clean_email(email: str) -> str:
    """Return the address in lower case and NFC. Raises InvalidInput if it is not an address."""
    address = normal_email(email)
    if len(address) > EMAIL_MAX_CHARS or not EMAIL.fullmatch(address):
        raise errors.InvalidInput(
            errors.ErrorCode.VALIDATION_FAILED,
            "That is not an e-mail address.",
            "Write it as name@example.com.",
            field="email",
        )
    return address


def normal_email(email: str) -> str:
    """Return an address as it is stored, looked up and counted; "" for text that is too long."""
    return normalized("NFC", email).strip().lower() if len(email) <= EMAIL_MAX_CHARS else ""


def clean_name(name: str, email: str = "") -> str:
    """Return the name to show of a person or an organisation, in one line and without control
    characters; the mailbox part of the address if it is blank.
    """
    text = in_one_line(normalized("NFC", name.strip()[:NAME_READ_CHARS]))
    return (text or email.partition("@")[0])[:ACCOUNT_NAME_MAX_CHARS].rstrip()


def disable_account(account_id: str, *, now: datetime, by: Actor = SYSTEM) -> None:
    """Disable the account: end browser sessions and open links, refuse agents; commits."""
    enabled = update(Account).where(Account.id == account_id, Account.disabled_at.is_(None))
    disabled = enabled.values(disabled_at=now, session_epoch=Account.session_epoch + 1)
    with database.write_transaction():
        end_links(account_id)
        _change(disabled, AuditKind.ACCOUNT_DISABLED, account_id, now, by)


def enable_account(account_id: str, *, now: datetime, by: Actor = SYSTEM) -> None:
    """Enable the account: agents have access again, browsers must sign in again; commits."""
    disabled = update(Account).where(Account.id == account_id, Account.disabled_at.is_not(None))
    with database.write_transaction():
        _change(disabled.values(disabled_at=None), AuditKind.ACCOUNT_ENABLED, account_id, now, by)


def _change(change: Update, kind: AuditKind, account_id: str, now: datetime, by: Actor) -> None:
    if database.db.session.scalars(change.returning(Account.id)).all():
        add_event(kind, account_id, by=by, now=now)
