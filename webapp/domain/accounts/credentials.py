"""Checks the password of an account, and changes its password and details."""

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime

from sqlalchemy import update

from webapp.database import db, release_connections, write_transaction
from webapp.domain.accounts.models import (
    ACCENTS,
    CREATOR_LANGUAGES,
    Account,
    clean_name,
    clean_organisation,
    end_links,
    find_account,
)
from webapp.domain.accounts.passwords import (
    check_password,
    needs_rehash,
    password_hash,
    password_matches,
)
from webapp.domain.audit.trail import SYSTEM, Actor, AuditKind, add_event
from webapp.domain.shared.error_codes import ErrorCode
from webapp.domain.shared.errors import InvalidInput, TooBusy

Also = Callable[[str], None]


def find_sign_in(email: str, password: str) -> Account | None:
    """The account with this address and password, detached; holds no connection while hashing.

    Takes the same time if there is no such account.
    """
    account = find_account(email)
    known_hash = account.password_hash if account else None
    release_connections()  # hashing has its queue
    if not password_matches(known_hash, password) or account is None:
        return None
    if needs_rehash(account.password_hash):
        with suppress(TooBusy):  # another sign-in will rehash it
            _rehash(account, password)
    return account


def change_details(
    account_id: str, name: str, language: str, organisation: str = "", accent: str = ""
) -> None:
    """Change the name, organisation and colour that respondents see, and the language of the
    creator's pages. Forms that are out keep what was confirmed.

    A blank name is the mailbox part of the address. Raises InvalidInput.
    """
    if accent not in ACCENTS:
        raise InvalidInput(
            ErrorCode.VALIDATION_FAILED,
            "There is no such colour.",
            f"Choose one of {', '.join(filter(None, ACCENTS))}, or none.",
            field="accent",
        )
    if language not in CREATOR_LANGUAGES:
        raise InvalidInput(
            ErrorCode.VALIDATION_FAILED,
            "These pages are not written in that language.",
            "Choose one of the list.",
            field="language",
        )
    with write_transaction():
        account = db.session.get_one(Account, account_id)
        account.name = clean_name(name, account.email)
        account.language = language
        account.organisation = clean_organisation(organisation)
        account.accent = accent


def change_password(
    account_id: str,
    password: str,
    new_password: str,
    *,
    now: datetime,
    by: Actor = SYSTEM,
    also: Also | None = None,
) -> Account:
    """Set a new password; ends every browser session, the caller's included, and every link.

    also    what else it ends, in the same transaction
    Raises InvalidInput with the field `current` when `password` is wrong, else `password`.
    """
    account = db.session.get_one(Account, account_id)
    check_own_password(account, password)
    known_hash = password_hash(check_password(new_password, account.email))
    with write_transaction():
        account = set_password(account_id, known_hash, also)
        add_event(AuditKind.PASSWORD_CHANGED, account_id, by=by, now=now)
    return account


def check_own_password(account: Account, password: str) -> None:
    """Raises InvalidInput with the field `current` when it is not the account's password."""
    release_connections()  # hashing has its queue
    if not password_matches(account.password_hash, password):
        raise InvalidInput(
            ErrorCode.VALIDATION_FAILED,
            "That is not your password.",
            "Type the one you sign in with.",
            field="current",
        )


def set_password(account_id: str, known_hash: str, also: Also | None) -> Account:
    """Store a new password; ends all browser sessions and unused links of the account."""
    end_links(account_id)
    account = db.session.get_one(Account, account_id, populate_existing=True)
    account.password_hash = known_hash
    account.session_epoch += 1
    if also is not None:
        db.session.flush()
        also(account_id)
    return account


def _rehash(account: Account, password: str) -> None:
    """Store the password under a new hash, in the row and in the detached account."""
    known_hash = password_hash(password)
    with write_transaction():
        kept = db.session.execute(
            update(Account)
            .where(Account.id == account.id, Account.password_hash == account.password_hash)
            .values(password_hash=known_hash)
            .returning(Account.id)
        ).first()
    if kept:
        account.password_hash = known_hash
