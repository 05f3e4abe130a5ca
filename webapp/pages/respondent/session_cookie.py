"""The key of a respondent's session, and the cookie that brings a GET back to it.

Keys are made here and carry a MAC over the moment they were made. No POST trusts the cookie, and
in a frame of another website it is neither read nor set.
"""

import re
import secrets
from datetime import datetime
from functools import lru_cache

from flask import request
from itsdangerous import BadSignature, TimestampSigner
from werkzeug.wrappers import Response

from webapp.config import settings
from webapp.web.iframes import says_framed

COOKIE_DAYS = 30
SESSION_KEY = re.compile(r"[A-Za-z0-9_.-]{22,100}")


def new_session_key() -> str:
    """A key that nobody has yet, with the moment it was made and a MAC over both."""
    return _signer(settings().secret_key).sign(secrets.token_urlsafe(24)).decode()


def remembered_key(share_token: str) -> str | None:
    """The session key in the cookie of this form, None when there is none that could be one."""
    key = request.cookies.get(_cookie_name(), "")
    return key if SESSION_KEY.fullmatch(key) else None


def remember(response: Response, share_token: str, session_key: str) -> None:
    """Let later GETs from this browser find the session; nothing is left behind in a frame."""
    if says_framed():
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
    """Take the cookie of this form back, where there can be one."""
    if says_framed():
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
    """When this key was made, to the second below; None when not by us."""
    try:
        return _signer(settings().secret_key).unsign(session_key, return_timestamp=True)[1]
    except BadSignature:
        return None


def _cookie_name() -> str:
    return "__Secure-askback_r" if settings().secure else "askback_r"
