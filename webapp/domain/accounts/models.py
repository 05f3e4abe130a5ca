"""Accounts: one creator each, made through a one-time link or by the operator.

An invite is such a link. It creates an account, or sets a new password for the one it names.
"""

import hashlib
import re
import secrets
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta

from sqlalchemy import ForeignKey, String, delete, exists, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Mapped, mapped_column

from webapp.database import Base, begin_write, db, new_id, release
from webapp.domain.accounts.passwords import (
    check_password,
    needs_rehash,
    password_hash,
    password_matches,
)
from webapp.domain.audit.trail import SYSTEM, Actor, AuditKind, add_event
from webapp.domain.shared.errors import InvalidInput, NotFound, StateConflict, TooBusy
from webapp.domain.shared.limits import (
    ACCOUNT_NAME_MAX_CHARS,
    EMAIL_MAX_CHARS,
    INVITE_LIFETIME_SECONDS,
)
from webapp.domain.shared.unicode_normalization import normalized

CREATOR_LANGUAGES = {"en": "English"}  # of the creator's pages, each by its own name
NAME_READ_CHARS = 4 * ACCOUNT_NAME_MAX_CHARS  # spelled with a mark or two each
EMAIL = re.compile("[^@\\s\x00-\x1f\x7f\ud800-\udfff]+@[^@\\s\x00-\x1f\x7f\ud800-\udfff]+")

Also = Callable[[str], None]


class Account(Base):
    """A creator with everything that belongs to them. `session_epoch` ends all browser sessions.

    A row with `deleted_at` is no account any more: it waits until all that hangs on it is erased.
    While `disabled_at` is set, neither its creator nor its agents get in; its forms stay.
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
    deleted_at: Mapped[datetime | None]
    disabled_at: Mapped[datetime | None]

    # of the browser session that this row was loaded for
    session_id = ""
    active_at = datetime.max.replace(tzinfo=UTC)

    def get_id(self) -> str:
        """What a browser keeps in its cookie."""
        return self.session_id


class Invite(Base):
    """A one-time link; only the SHA-256 of its token is kept. `account_id`: whose password it sets.

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
    """Whether anybody has an account yet; without one the owner's link is printed at start."""
    return bool(db.session.scalar(select(exists().where(Account.deleted_at.is_(None)))))


def create_account(
    email: str, name: str, password: str, *, now: datetime, by: Actor = SYSTEM
) -> Account:
    """A new account with a password. Raises InvalidInput, or StateConflict `email_taken`."""
    address = clean_email(email)
    known_hash = password_hash(check_password(password, address))
    begin_write()
    account = _add_account(address, clean_name(name, address), known_hash, now=now, by=by)
    _commit_account(address)
    return account


def make_invite(*, email: str | None = None, now: datetime, by: Actor = SYSTEM) -> str:
    """The token of a new one-time link, valid for 24 h and kept nowhere; commits.

    email   fixes the address; when it has an account already, the link sets a new password
    raises  StateConflict `account_disabled`
    """
    token = secrets.token_urlsafe(32)
    address = None if email is None else clean_email(email)
    begin_write()
    account = db.session.scalars(select(Account).where(Account.email == address)).first()
    if account is not None and account.disabled_at is not None:
        raise account_disabled()
    account_id = account.id if account else None
    db.session.add(
        Invite(
            token_hash=_hash(token),
            email=address,
            account_id=account_id,
            created_at=now,
            expires_at=now + timedelta(seconds=INVITE_LIFETIME_SECONDS),
        )
    )
    add_event(AuditKind.LINK_MADE, account_id, by=by, now=now)
    db.session.commit()
    return token


def get_invite(token: str, *, now: datetime) -> Invite:
    """The invite behind a link, left unused. Raises NotFound when unknown, used or expired."""
    invite = db.session.get(Invite, _hash(token))
    if invite is None or invite.used_at is not None or invite.expires_at <= now:
        raise _no_invite()
    return invite


def accept_invite(
    token: str,
    email: str,
    name: str,
    password: str,
    *,
    now: datetime,
    by: Actor = SYSTEM,
    also: Also | None = None,
) -> Account:
    """Use a link up: create its account, or set the new password of the account it names.

    An address fixed by the invite wins over `email`. A new password ends all browser sessions and
    all other links of the account.
    also    what else a new password ends, in the same transaction
    Raises NotFound (link unknown, used, expired), InvalidInput, StateConflict `email_taken`.
    """
    invite = get_invite(token, now=now)
    address = invite.email or clean_email(email)
    account_id = invite.account_id
    new_name = clean_name(name, address)
    release()  # hashing has its queue
    known_hash = password_hash(check_password(password, address))
    begin_write()
    _use_invite(token, now=now)
    if account_id is None:
        account = _add_account(address, new_name, known_hash, now=now, by=by)
    else:
        account = _set_password(account_id, known_hash, also)
        add_event(AuditKind.PASSWORD_RESET, account_id, by=by, now=now)
    add_event(AuditKind.LINK_USED, account.id, by=by, now=now)
    _commit_account(address)
    return account


def find_sign_in(email: str, password: str) -> Account | None:
    """The account with this address and password, detached, and no connection held meanwhile.

    Takes as long when there is no such account.
    """
    account = find_account(email)
    known_hash = account.password_hash if account else None
    release()  # hashing has its queue
    if not password_matches(known_hash, password) or account is None:
        return None
    if needs_rehash(account.password_hash):
        with suppress(TooBusy):  # another sign-in does it
            _rehash(account, password)
    return account


def find_account(email: str) -> Account | None:
    """The account with this address, however it is written."""
    return _find_by_email(normal_email(email))


def change_details(account_id: str, name: str, language: str) -> None:
    """The name that people who answer see, and the language of the creator's pages.

    A blank name is the mailbox part of the address. Raises InvalidInput.
    """
    if language not in CREATOR_LANGUAGES:
        raise InvalidInput(
            "validation_failed",
            "These pages are not written in that language.",
            "Choose one of the list.",
            field="language",
        )
    begin_write()
    account = db.session.get_one(Account, account_id)
    account.name = clean_name(name, account.email)
    account.language = language
    db.session.commit()


def change_password(
    account_id: str,
    password: str,
    new_password: str,
    *,
    now: datetime,
    by: Actor = SYSTEM,
    also: Also | None = None,
) -> Account:
    """Set a new password; every browser session ends, that of the caller, too, and every link.

    also    what else it ends, in the same transaction
    Raises InvalidInput with the field `current` when `password` is wrong, else `password`.
    """
    account = db.session.get_one(Account, account_id)
    check_own_password(account, password)
    known_hash = password_hash(check_password(new_password, account.email))
    begin_write()
    account = _set_password(account_id, known_hash, also)
    add_event(AuditKind.PASSWORD_CHANGED, account_id, by=by, now=now)
    db.session.commit()
    return account


def check_own_password(account: Account, password: str) -> None:
    """Raises InvalidInput with the field `current` when it is not the account's password."""
    release()  # hashing has its queue
    if not password_matches(account.password_hash, password):
        raise InvalidInput(
            "validation_failed",
            "That is not your password.",
            "Type the one you sign in with.",
            field="current",
        )


def end_links(account_id: str) -> None:
    """End the links of the account that are not used yet; the caller commits.

    To be called before the account is written, in the order in which deleting it takes its locks.
    """
    db.session.execute(
        delete(Invite).where(Invite.account_id == account_id, Invite.used_at.is_(None))
    )


def account_disabled() -> StateConflict:
    """The outcome for somebody who may come in again when the operator says so."""
    return StateConflict(
        "account_disabled",
        "This account is switched off.",
        "Whoever runs this server can switch it on again.",
    )


def clean_email(email: str) -> str:
    """The address in lower case and NFC. Raises InvalidInput when it cannot be one."""
    address = normal_email(email)
    if len(address) > EMAIL_MAX_CHARS or not EMAIL.fullmatch(address):
        raise InvalidInput(
            "validation_failed",
            "That is not an e-mail address.",
            "Write it as name@example.com.",
            field="email",
        )
    return address


def normal_email(email: str) -> str:
    """The spelling under which an address is stored, looked up and counted.

    It is "" for everything that is too long to be an address.
    """
    return normalized("NFC", email).strip().lower() if len(email) <= EMAIL_MAX_CHARS else ""


def clean_name(name: str, email: str) -> str:
    """The name to show, or the mailbox part of the address when it is blank."""
    typed = normalized("NFC", name.strip()[:NAME_READ_CHARS])
    text = "".join(char for char in typed if char.isprintable())
    return (text.strip() or email.partition("@")[0])[:ACCOUNT_NAME_MAX_CHARS]


def _add_account(email: str, name: str, known_hash: str, *, now: datetime, by: Actor) -> Account:
    account = Account(
        id=new_id("acc"), email=email, name=name, password_hash=known_hash, created_at=now
    )
    db.session.add(account)
    add_event(AuditKind.ACCOUNT_CREATED, account.id, by=by, now=now)
    return account


def _set_password(account_id: str, known_hash: str, also: Also | None) -> Account:
    """With it end the browser sessions of the account and its links that are not used yet."""
    end_links(account_id)
    account = db.session.get_one(Account, account_id, populate_existing=True)
    account.password_hash = known_hash
    account.session_epoch += 1
    if also is not None:
        db.session.flush()
        also(account_id)
    return account


def _commit_account(email: str) -> None:
    try:
        db.session.commit()
    except IntegrityError as error:
        db.session.rollback()
        raise StateConflict(
            "email_taken",
            f"{email} has an account already.",
            "Sign in with it, or use another address.",
        ) from error


def _use_invite(token: str, *, now: datetime) -> None:
    """The one conditional update that only one of several parallel posts can win."""
    used = db.session.execute(
        update(Invite)
        .where(Invite.token_hash == _hash(token), Invite.used_at.is_(None))
        .values(used_at=now)
        .returning(Invite.token_hash)
    ).first()
    if used is None:
        db.session.rollback()
        raise _no_invite()


def _find_by_email(email: str) -> Account | None:
    if not EMAIL.fullmatch(email):
        return None
    return db.session.scalars(select(Account).where(Account.email == email)).first()


def _rehash(account: Account, password: str) -> None:
    """Keep the password under a new hash, in the row and in the detached account."""
    known_hash = password_hash(password)
    begin_write()
    kept = db.session.execute(
        update(Account)
        .where(Account.id == account.id, Account.password_hash == account.password_hash)
        .values(password_hash=known_hash)
        .returning(Account.id)
    ).first()
    db.session.commit()
    if kept:
        account.password_hash = known_hash


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def _no_invite() -> NotFound:
    return NotFound(
        "not_found",
        "This link does not work any more.",
        "It works once, within a day. If you have used it, sign in; "
        "else ask whoever runs this server for a new one.",
    )
