"""How often an account and an access token may write. Decorators below `require_scope`."""

from http import HTTPStatus

from flask import Response

from webapp.config import settings
from webapp.extensions import limiter
from webapp.oauth.guard import current_caller

WRITES = "writes"
FREE = {HTTPStatus.CONFLICT, HTTPStatus.TOO_MANY_REQUESTS}


def _account() -> str:
    return current_caller().account_id


def _token() -> str:
    return current_caller().token_id


def _off() -> bool:
    return not settings().write_limits


def _published(response: Response) -> bool:
    """A refusal because the creator has not confirmed yet uses no quota."""
    return response.status_code not in FREE


def _all_writes() -> str:
    return settings().limit_writes


limit_creates = limiter.limit(
    lambda: settings().limit_create_draft, key_func=_account, exempt_when=_off
)
limit_updates = limiter.limit(
    lambda: settings().limit_update_draft, key_func=_account, exempt_when=_off
)
limit_publishes = limiter.limit(
    lambda: settings().limit_publish,
    key_func=_account,
    exempt_when=_off,
    deduct_when=_published,
)
limit_writes = limiter.shared_limit(_all_writes, WRITES, key_func=_token, exempt_when=_off)
limit_publish_writes = limiter.shared_limit(
    _all_writes, WRITES, key_func=_token, exempt_when=_off, deduct_when=_published
)
