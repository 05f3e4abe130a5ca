"""The key of a respondent's session, and the cookie that lets a GET find it.

Keys carry their time of creation and a MAC over it. No POST trusts the cookie, and in an iframe
of another website it is neither read nor set.
"""

import re
import secrets
from datetime import datetime
from functools import lru_cache

from flask import request
from itsdangerous import BadSignature, TimestampSigner
from werkzeug.wrappers import Response

from webapp.config import settings
from webapp.web.iframes import says_in_iframe

COOKIE_DAYS = 30
SESSION_KEY = re.compile(r"[A-Za-z0-9_.-]{22,100}")


def new_session_key() -> str:
    """A new random key, with its time of creation and a MAC over both."""
    return _signer(settings().secret_key).sign(secrets.token_urlsafe(24)).decode()


def remembered_key(share_token: str) -> str | None:
    """The session key in the cookie of this form, None if absent or malformed."""
    key = request.cookies.get(_cookie_name(), "")
    return key if SESSION_KEY.fullmatch(key) else None


def remember(response: Response, share_token: str, session_key: str) -> None:
    """Set the cookie of this form, except in an iframe."""
    if says_in_iframe():
        return
    response.set_cookie(
        _cookie_name(),
        session_key,
        max_age=COOKIE_DAYS * 24 * 3600,
        path=f"/r/{share_token}",
        secure=settings().secure,
        httponly=True,
        samesite="Lax",
    )


def forget(response: Response, share_token: str) -> None:
    """Delete the cookie of this form."""
    if says_in_iframe():
        return
    response.delete_cookie(
        _cookie_name(),
        path=f"/r/{share_token}",
        secure=settings().secure,
        httponly=True,
        samesite="Lax",
    )


@lru_cache
def _signer(secret_key: str) -> TimestampSigner:
    return TimestampSigner(secret_key, salt="respondent")


def made_at(session_key: str) -> datetime | None:
    """When this key was made, rounded down to the second; None without a valid MAC."""
    try:
        return _signer(settings().secret_key).unsign(session_key, return_timestamp=True)[1]
    except BadSignature:
        return None


def _cookie_name() -> str:
    return "__Secure-askback_r" if settings().secure else "askback_r"
