"""Refuse weak passwords; hash and verify the others."""

import re
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from webapp.base.database import db, release_connections, write_transaction
from webapp.base.errors import ErrorCode, InvalidInput, PageCode, TooBusy
from webapp.base.text import normalized
from webapp.records.accounts import models
from webapp.records.audit import SYSTEM, Actor, AuditKind, add_event

PASSWORD_MIN_CHARS = 12  # no composition rules
PASSWORD_MAX_CHARS = 1024  # longer text is not read


# 19 MiB, two passes, one lane (19 ms on the reference machine)
HASHER = PasswordHasher(memory_cost=19456, time_cost=2, parallelism=1)
# Hashing is memory-hard on purpose, and the allocator keeps the memory of each thread: without
# threads of its own, it would cost every thread of the server 19 MiB.
HASHING_THREADS = 2
WAITING_FOR_HASHING = 32  # each waiting request holds a thread of the server
_hashing = ThreadPoolExecutor(HASHING_THREADS, thread_name_prefix="passwords")
_places = threading.BoundedSemaphore(HASHING_THREADS + WAITING_FOR_HASHING)
# Checked for an unknown address, so that the response takes as long as for a known one. It is the
# hash of "nobody has this password", which would otherwise be computed at every start.
_NOBODY = (
    "$argon2id$v=19$m=19456,t=2,p=1"
    "$BVp+6/iQrnRuzbLpdY/2Bw$hW3NV/hfXtLSlA0ryPmCEq1jocEQwXxxdEbjGyWN7l0"
)

GUESSES_MIN = 10**10  # zxcvbn: "very unguessable"
RATED_CHARS = 32  # the time for a rating grows with their square
# Characters that seldom replace a letter: each further spelling doubles the time of a rating.
# Controls and line ends: zxcvbn takes digits before a line end for a date, and fails to read it.
RARE_SPELLINGS = dict.fromkeys(
    [*map(ord, "({[<|!+%\u2028\u2029"), *range(0x20), *range(0x7F, 0xA0)], "_"
)
WELL_KNOWN = ("askback", "correcthorsebatterystaple")  # in no list of zxcvbn

_T = TypeVar("_T")


def check_password(password: str, email: str) -> str:
    """Return the password as typed; raises InvalidInput if its length is wrong or it is weak."""
    text = normalized("NFC", password) if len(password) <= PASSWORD_MAX_CHARS else password
    if not PASSWORD_MIN_CHARS <= len(text) <= PASSWORD_MAX_CHARS:
        raise _refused(
            f"A password has {PASSWORD_MIN_CHARS} to {PASSWORD_MAX_CHARS:,} characters.",
            "Choose a longer one; several words are easy to remember."
            if len(text) < PASSWORD_MIN_CHARS
            else "Choose a shorter one.",
        )
    if _is_guessed(text, email):
        raise _refused(
            "That password is too easy to guess: a well-known one, or a word,"
            " a name, a date or a row of keys with little else.",
            "Choose several unrelated words.",
        )
    return password


def password_hash(password: str) -> str:
    """Return the argon2id hash of a password, as text with its parameters. Raises TooBusy."""
    return _in_own_thread(HASHER.hash, _bytes(password))


def password_matches(known_hash: str | None, password: str) -> bool:
    """Return True if it matches; None (no such account) takes as long. Raises TooBusy."""
    known = known_hash if len(password) <= PASSWORD_MAX_CHARS else None
    try:
        right = _in_own_thread(HASHER.verify, known or _NOBODY, _bytes(password))
    except (VerificationError, InvalidHashError):
        return False
    return right and known is not None


def _in_own_thread(work: Callable[..., _T], *args: str | bytes) -> _T:
    if not _places.acquire(blocking=False):
        raise TooBusy(
            PageCode.TOO_BUSY,
            "Too many passwords are being checked just now.",
            "Wait a few seconds, then try again.",
            field="password",
        )
    try:
        return _hashing.submit(work, *args).result()
    finally:
        _places.release()


def _bytes(password: str) -> bytes:
    text = normalized("NFC", password[:PASSWORD_MAX_CHARS])
    return text.encode("utf-8", "surrogatepass")


def _is_guessed(text: str, email: str) -> bool:
    # takes a third of a second and 15 MB, so only processes that set a password import it
    from zxcvbn import zxcvbn

    mailbox = email.partition("@")[0]
    own_words = [*WELL_KNOWN, email, mailbox, *re.findall(r"[^\W_]{3,}", email)]
    with _rating:
        rated = zxcvbn(text[:RATED_CHARS].translate(RARE_SPELLINGS), own_words)
    return float(rated["guesses"]) < GUESSES_MIN


# zxcvbn puts the words of a call into a dictionary that all calls share
_rating = threading.Lock()


def _refused(message: str, resolution: str) -> InvalidInput:
    return InvalidInput(ErrorCode.VALIDATION_FAILED, message, resolution, field="password")


Also = Callable[[str], None]


def find_sign_in(email: str, password: str) -> models.Account | None:
    """Return the account with this address and password, detached, or None.

    It takes the same time if there is no such account, and holds no connection while hashing.
    """
    account = models.find_account(email)
    release_connections()  # hashing may have to wait
    matches = password_matches(account.password_hash if account else None, password)
    return account if matches else None


def change_details(
    account_id: str, name: str, language: str, organisation: str = "", accent: str = ""
) -> None:
    """Change the name, organisation and colour that respondents see, and the language of the
    creator's pages. Published forms keep what was confirmed.
    """
    if accent not in models.ACCENTS:
        raise InvalidInput(
            ErrorCode.VALIDATION_FAILED,
            "There is no such colour.",
            f"Choose one of {', '.join(filter(None, models.ACCENTS))}, or none.",
            field="accent",
        )
    if language not in models.CREATOR_LANGUAGES:
        raise InvalidInput(
            ErrorCode.VALIDATION_FAILED,
            "These pages are not written in that language.",
            "Choose one of the list.",
            field="language",
        )
    with write_transaction():
        account = db.session.get_one(models.Account, account_id)
        account.name = models.clean_name(name, account.email)
        account.language = language
        account.organisation = models.clean_name(organisation)
        account.accent = accent


def change_password(
    account_id: str,
    password: str,
    new_password: str,
    *,
    now: datetime,
    by: Actor = SYSTEM,
    also: Also | None = None,
) -> models.Account:
    """Set a new password; end every browser session, including the caller's, and every link.

    Raises InvalidInput with the field `current` when `password` is wrong, else `password`.
    """
    account = db.session.get_one(models.Account, account_id)
    check_own_password(account, password)
    known_hash = password_hash(check_password(new_password, account.email))
    with write_transaction():
        account = set_password(account_id, known_hash, also)
        add_event(AuditKind.PASSWORD_CHANGED, account_id, by=by, now=now)
    return account


def check_own_password(account: models.Account, password: str) -> None:
    """Raise InvalidInput with the field `current` if the password is not the account's."""
    release_connections()  # hashing may have to wait
    if not password_matches(account.password_hash, password):
        raise InvalidInput(
            ErrorCode.VALIDATION_FAILED,
            "That is not your password.",
            "Type the one you sign in with.",
            field="current",
        )


def set_password(account_id: str, known_hash: str, also: Also | None) -> models.Account:
    """Store a new password; end all browser sessions and unused links of the account."""
    models.end_links(account_id)
    account = db.session.get_one(models.Account, account_id, populate_existing=True)
    account.password_hash = known_hash
    account.session_epoch += 1
    if also is not None:
        db.session.flush()
        also(account_id)
    return account
