"""How often an account and an access token may write, by REST and by tools together: decorators of
routes, below `require_scope`, and of tools.
"""

from collections.abc import Callable
from http import HTTPStatus
from typing import ParamSpec, TypeVar

from flask import Response, g

from webapp.base.config import settings
from webapp.oauth.guard import current_caller
from webapp.web.limiter import AGENT_TOKENS, limiter

UPDATES_RATE = "60/minute"  # changes of drafts of one account

P = ParamSpec("P")
R = TypeVar("R")


def _account() -> str:
    return current_caller().account_id


def _token() -> str:
    return current_caller().token_id


def count_nothing() -> None:
    """This call is refused, or repeats what an earlier one did, which was counted."""
    g.uses_quota = False


def _uses_quota(response: Response) -> bool:
    """Refusals and repeats use none; those of tools are answered with 200."""
    return response.status_code < HTTPStatus.BAD_REQUEST and g.get("uses_quota", True)


def _limited(
    rate: Callable[[], str], counted: str, scope: str = ""
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Count a call for its account, by the limit `rate`, and for its token.

    counted  what the limit of the account counts, in the words of its refusal
    scope    the name of its count, if others count there, too
    """
    of_account = limiter.shared_limit(
        rate,
        scope or counted,
        key_func=_account,
        error_message=counted,
        deduct_when=_uses_quota,
    )
    of_token = limiter.shared_limit(
        lambda: settings().limit_writes,
        "writes",
        key_func=_token,
        error_message="write operations of one connection",
        deduct_when=_uses_quota,
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
