"""Limits on writes by account and by access token, shared by REST and tools: decorators of routes,
placed below `require_scope`, and of tools.
"""

from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from typing import ParamSpec, TypeVar

from flask import Response, g

from webapp.base.config import settings
from webapp.oauth.guard import current_caller
from webapp.web.limiter import AGENT_TOKENS, limiter

UPDATES_RATE = "60/minute"  # draft changes of one account

P = ParamSpec("P")
R = TypeVar("R")


def _account() -> str:
    return current_caller().account_id


def count_nothing() -> None:
    """Let this call use no quota: it is refused, or repeats a call that was counted."""
    g.uses_quota = False


def _uses_quota(response: Response) -> bool:
    """Return False for refusals and repeats; tools answer these with 200."""
    return response.status_code < HTTPStatus.BAD_REQUEST and g.get("uses_quota", True)


def _limited(
    rate: Callable[[], str], counted: str, scope: str = ""
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Limit the calls of an account to `rate`, and the writes of a token.

    counted  what the limit of the account counts, as worded in its refusal
    scope    the name of the counter, if other limits share it
    """
    limit = partial(limiter.shared_limit, deduct_when=_uses_quota)
    of_account = limit(rate, scope or counted, key_func=_account, error_message=counted)
    of_token = limit(
        lambda: settings().limit_writes,
        "writes",
        key_func=lambda: current_caller().token_id,
        error_message="write operations of one connection",
    )
    return lambda view: of_account(of_token(view))


limit_creates = _limited(lambda: settings().limit_create_draft, "new drafts")
limit_updates = _limited(lambda: UPDATES_RATE, "changes of drafts")
limit_publishes = _limited(lambda: settings().limit_publish, "publishes")
limit_subscribes = limiter.shared_limit(
    lambda: settings().limit_subscribe,
    "subscribes",
    key_func=_account,
    error_message="subscribing calls",
)
limit_agent_tokens = _limited(
    lambda: settings().limit_agent_tokens, "new agent tokens", AGENT_TOKENS
)
