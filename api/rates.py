"""How often an account and an access token may write. Decorators below `require_scope`."""

from collections.abc import Callable
from http import HTTPStatus
from typing import ParamSpec

from flask import Response

from webapp.config import settings
from webapp.extensions import limiter
from webapp.oauth.guard import current_caller

FREE = {HTTPStatus.CONFLICT, HTTPStatus.TOO_MANY_REQUESTS}

P = ParamSpec("P")
View = Callable[P, Response]


def _account() -> str:
    return current_caller().account_id


def _token() -> str:
    return current_caller().token_id


def _used(response: Response) -> bool:
    """A refusal because the creator has not confirmed yet uses no quota."""
    return response.status_code not in FREE


def _limited(
    setting: str, deduct_when: Callable[[Response], bool] | None = None
) -> Callable[[View[P]], View[P]]:
    """Count a call for its account, by the limit in `setting`, and for its token."""
    of_account = limiter.limit(
        lambda: str(getattr(settings(), setting)), key_func=_account, deduct_when=deduct_when
    )
    of_token = limiter.shared_limit(
        lambda: settings().limit_writes, "writes", key_func=_token, deduct_when=deduct_when
    )
    return lambda view: of_account(of_token(view))


limit_creates = _limited("limit_create_draft")
limit_updates = _limited("limit_update_draft")
limit_publishes = _limited("limit_publish", deduct_when=_used)
