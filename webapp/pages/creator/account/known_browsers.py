"""Browsers that have signed in before: strangers who guess passwords cannot lock them out.

The cookie proves nothing else. Failed attempts with it are counted separately, under the same
strict limit, and a new password invalidates it.
"""

import secrets

from flask import Response, after_this_request, g, request
from itsdangerous import BadSignature, URLSafeSerializer

from webapp.config import settings
from webapp.domain.accounts.models import Account, find_account
from webapp.web.browser_cookies import BrowserCookie

COOKIE = BrowserCookie("askback_device", max_age=365 * 24 * 3600)  # our choice


def remember_device(account: Account) -> None:
    """Set a new cookie for the account, in its state after this request."""
    value = _signer(account).dumps([account.id, secrets.token_hex(16)])

    @after_this_request
    def keep(response: Response) -> Response:
        COOKIE.keep(response, value)
        return response


def known_device() -> str | None:
    """The id of the browser of this request, if it has signed in to this account before."""
    if "known_device" not in g:
        g.known_device = _read(COOKIE.read())
    found: str | None = g.known_device
    return found


def _read(cookie: str) -> str | None:
    account = find_account(request.form.get("email", "")) if cookie else None
    if account is None:
        return None
    try:
        account_id, device_id = _signer(account).loads(cookie)
    except BadSignature:
        return None
    return str(device_id) if account_id == account.id else None


def _signer(account: Account) -> URLSafeSerializer:
    return URLSafeSerializer(settings().secret_key, salt=f"device {account.password_hash}")
