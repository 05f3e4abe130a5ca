"""The key of a respondent's session, and the cookie that lets a GET find it.

Keys carry their time of creation and a MAC over it. In an iframe of another website the cookie is
neither read nor set.
"""

import re
import secrets
from datetime import datetime
from functools import lru_cache

from itsdangerous import BadSignature, TimestampSigner
from werkzeug.wrappers import Response

from webapp.config import settings
from webapp.web.browser_cookies import BrowserCookie
from webapp.web.request_origin import says_in_iframe

COOKIE_DAYS = 30
SESSION_KEY = re.compile(r"[A-Za-z0-9_.-]{22,100}")


def new_session_key() -> str:
    """A new random key, with its time of creation and a MAC over both."""
    return _signer(settings().secret_key).sign(secrets.token_urlsafe(24)).decode()


def remembered_key(share_token: str) -> str | None:
    """The session key in the cookie of this form, None if absent or malformed."""
    key = _cookie(share_token).read()
    return key if SESSION_KEY.fullmatch(key) else None


def remember(response: Response, share_token: str, session_key: str) -> None:
    """Set the cookie of this form, except in an iframe."""
    if not says_in_iframe():
        _cookie(share_token).keep(response, session_key)


def forget(response: Response, share_token: str) -> None:
    """Delete the cookie of this form."""
    if not says_in_iframe():
        _cookie(share_token).delete(response)


@lru_cache
def _signer(secret_key: str) -> TimestampSigner:
    return TimestampSigner(secret_key, salt="respondent")


def made_at(session_key: str) -> datetime | None:
    """When this key was made, rounded down to the second; None without a valid MAC."""
    try:
        return _signer(settings().secret_key).unsign(session_key, return_timestamp=True)[1]
    except BadSignature:
        return None


def _cookie(share_token: str) -> BrowserCookie:
    return BrowserCookie("askback_r", COOKIE_DAYS * 24 * 3600, path=f"/r/{share_token}")
