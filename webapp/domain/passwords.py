"""Passwords: which are accepted, and how they are kept (argon2id)."""

import os
import threading

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from webapp.domain.errors import InvalidInput
from webapp.domain.limits import PASSWORD_MAX_CHARS, PASSWORD_MIN_CHARS
from webapp.domain.normalization import normalized

# our choice: 19 MiB, two passes, one lane (19 ms on the reference machine)
HASHER = PasswordHasher(memory_cost=19456, time_cost=2, parallelism=1)
# hashing is memory-hard on purpose, so more at once than cores only makes all of them slower
_hashing = threading.BoundedSemaphore(os.cpu_count() or 1)
# an unknown address is checked against this, so that it answers as slowly as a known one
_NOBODY = HASHER.hash("nobody has this password")

# Compared without case, and without digits and punctuation at the end.
COMMON_PASSWORDS = """
    password passwordpassword passwort passwortpasswort mypassword mysecretpassword thepassword
    changeme changemechangeme pleasechangeme letmein letmeinletmein letmeinplease
    iloveyou iloveyouforever iloveyousomuch qwerty qwertyqwerty qwertyuiop qwertyuiopasdf
    qwertyuiopasdfghjkl qwertzuiop azertyuiop asdfghjkl asdfghjklzxcvbnm zxcvbnm
    administrator administratoradministrator adminadmin adminadminadmin welcome welcomewelcome
    welcomehome secretsecret secretsecretsecret supersecret topsecret correcthorsebatterystaple
    abcdefghijkl abcdefghijklm abcdefghijklmnop abcabcabcabc football footballfootball
    baseballbaseball monkeymonkey dragondragon sunshinesunshine princessprincess
    supermansuperman batmanbatman starwarsstarwars manchesterunited liverpoolfc
    askback askbackaskback
"""
COMMON = frozenset(COMMON_PASSWORDS.split())


def check_password(password: str, email: str) -> str:
    """The password as typed; raises InvalidInput for too short, too long and easy to guess."""
    text = normalized("NFC", password) if len(password) <= PASSWORD_MAX_CHARS else password
    if not PASSWORD_MIN_CHARS <= len(text) <= PASSWORD_MAX_CHARS:
        raise _refused(
            f"A password has {PASSWORD_MIN_CHARS} to {PASSWORD_MAX_CHARS:,} characters.",
            "Choose a longer one; several words are easy to remember."
            if len(text) < PASSWORD_MIN_CHARS
            else "Choose a shorter one.",
        )
    if _is_common(text, email):
        raise _refused(
            "That password is among the first ones anybody would try.",
            "Choose several unrelated words.",
        )
    return password


def password_hash(password: str) -> str:
    """The argon2id hash of an accepted password, as text with its parameters."""
    with _hashing:
        return HASHER.hash(_bytes(password))


def password_matches(known_hash: str | None, password: str) -> bool:
    """Whether the password is right.

    None (no such account) and a password longer than any take as long and are never right.
    """
    known = known_hash if len(password) <= PASSWORD_MAX_CHARS else None
    with _hashing:
        try:
            return HASHER.verify(known or _NOBODY, _bytes(password)) and bool(known)
        except (VerificationError, InvalidHashError):
            return False


def needs_rehash(known_hash: str) -> bool:
    """Whether the hash was made with weaker parameters than today's."""
    return HASHER.check_needs_rehash(known_hash)


def _bytes(password: str) -> bytes:
    text = normalized("NFC", password[:PASSWORD_MAX_CHARS])
    return text.encode("utf-8", "surrogatepass")


def _is_common(text: str, email: str) -> bool:
    lower = text.casefold()
    stem = lower.rstrip("0123456789!?.*#-_ ")
    mailbox = email.casefold().partition("@")[0]
    return (
        stem in COMMON
        or stem in {"", mailbox, email.casefold()}
        or lower == email.casefold()
        or len(set(lower)) < 3
    )


def _refused(message: str, resolution: str) -> InvalidInput:
    return InvalidInput("validation_failed", message, resolution, field="password")
