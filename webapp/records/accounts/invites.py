"""Create accounts, by a one-time link or by the operator.

An invite is such a link. It creates an account, or sets a new password for the account it names.
"""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from sqlalchemy import select, update
from sqlalchemy.exc import IntegrityError

from webapp.base.database import db, execute, new_id, release_connections, write_transaction
from webapp.base.errors import ErrorCode, NotFound, PageCode, StateConflict
from webapp.base.text import token_hash
from webapp.records.accounts import credentials, models
from webapp.records.accounts.models import Account, Invite
from webapp.records.audit import SYSTEM, Actor, AuditKind, add_event

INVITE_LIFETIME_SECONDS = 24 * 3600


def create_account(
    email: str, name: str, password: str, *, now: datetime, by: Actor = SYSTEM
) -> Account:
    """Create an account with a password. Raises InvalidInput, or StateConflict `email_taken`."""
    address = models.clean_email(email)
    known_hash = credentials.password_hash(credentials.check_password(password, address))
    with _one_account(address):
        return _add_account(address, models.clean_name(name, address), known_hash, now=now, by=by)


def make_invite(*, email: str | None = None, now: datetime, by: Actor = SYSTEM) -> str:
    """Create a one-time link, valid for 24 h; return its token, stored only as a hash. Commits."""
    token = secrets.token_urlsafe(32)
    address = None if email is None else models.clean_email(email)
    with write_transaction():
        account = db.session.scalars(select(Account).where(Account.email == address)).first()
        if account is not None and account.disabled_at is not None:
            raise StateConflict(
                PageCode.ACCOUNT_DISABLED,
                "This account is switched off.",
                "Your administrator can switch it on again.",
            )
        account_id = account.id if account else None
        db.session.add(
            Invite(
                token_hash=token_hash(token),
                email=address,
                account_id=account_id,
                created_at=now,
                expires_at=now + timedelta(seconds=INVITE_LIFETIME_SECONDS),
            )
        )
        add_event(AuditKind.LINK_MADE, account_id, by=by, now=now)
    return token


def get_invite(token: str, *, now: datetime) -> Invite:
    """Return the invite of a link without using it. Raises NotFound if unknown, used or expired."""
    invite = db.session.get(Invite, token_hash(token))
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
    also: credentials.Also | None = None,
) -> Account:
    """Use a link: create its account, or set a new password for the account it names.

    An address fixed by the invite overrides `email`. A new password ends all browser sessions and
    all other links of the account.
    also    a callback that ends other access on a new password, in the same transaction
    Raises NotFound (link unknown, used, expired), InvalidInput, StateConflict `email_taken`.
    """
    invite = get_invite(token, now=now)
    address = invite.email or models.clean_email(email)
    account_id = invite.account_id
    new_name = models.clean_name(name, address)
    release_connections()  # hashing may have to wait
    known_hash = credentials.password_hash(credentials.check_password(password, address))
    unused = update(Invite).where(Invite.token_hash == invite.token_hash, Invite.used_at.is_(None))
    with _one_account(address):
        if not execute(unused.values(used_at=now)).rowcount:  # another request has used it
            raise _no_invite()
        if account_id is None:
            account = _add_account(address, new_name, known_hash, now=now, by=by)
        else:
            account = credentials.set_password(account_id, known_hash, also)
            add_event(AuditKind.PASSWORD_RESET, account_id, by=by, now=now)
        add_event(AuditKind.LINK_USED, account.id, by=by, now=now)
    return account


def _add_account(email: str, name: str, known_hash: str, *, now: datetime, by: Actor) -> Account:
    account = Account(
        id=new_id("acc"), email=email, name=name, password_hash=known_hash, created_at=now
    )
    db.session.add(account)
    add_event(AuditKind.ACCOUNT_CREATED, account.id, by=by, now=now)
    return account


@contextmanager
def _one_account(email: str) -> Iterator[None]:
    """Open a transaction that stores one account with this address; raises StateConflict."""
    try:
        with write_transaction():
            yield
    except IntegrityError as error:
        raise StateConflict(
            PageCode.EMAIL_TAKEN,
            f"{email} has an account already.",
            "Sign in with it, or use another address.",
        ) from error


def _no_invite() -> NotFound:
    return NotFound(
        ErrorCode.NOT_FOUND,
        "This link does not work any more.",
        "It works once, within a day. If you have used it, sign in; "
        "else ask your administrator for a new one.",
    )
