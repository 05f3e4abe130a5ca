"""Checks the private agent token of a request."""

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial, wraps
from typing import ParamSpec, TypeVar, cast

from flask import g, request

from webapp.database import utc_now
from webapp.domain.forms.agent_token_text import PREFIX
from webapp.domain.forms.agent_tokens import TokenRow, find_agent_token, store_use
from webapp.domain.shared.limits import LAST_USED_EVERY_SECONDS
from webapp.domain.shared.vocabulary import TokenEnd
from webapp.oauth import guard as oauth_guard
from webapp.oauth.guard import Unauthenticated
from webapp.web.deferred_writes import write_later

# no OAuth metadata: a client has to ask its creator and not to begin OAuth
CHALLENGE = 'Bearer realm="agent"'
QUERY_NAMES = (*oauth_guard.QUERY_NAMES, "key")
REMEDY = (
    "Send an agent token of this form in the header Authorization: Bearer. Its creator makes one "
    "on the page of connected agents, a connected agent by POST /forms/{formId}/agent-tokens."
)
ENDED = {
    TokenEnd.REVOKED: "This agent token was revoked.",
    TokenEnd.EXPIRED: "This agent token has expired.",
}

P = ParamSpec("P")
R = TypeVar("R")


def require_agent_token(view: Callable[P, R]) -> Callable[P, R]:
    """Let a route run only for a live agent token, which `current_token` then tells.

    raises  as `check_agent_token`
    """

    @wraps(view)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
        g.agent_token = check_agent_token(now=utc_now())
        return view(*args, **kwargs)

    return guarded


def current_token() -> TokenRow:
    """The token of the current call; only inside a guarded route."""
    return cast(TokenRow, g.agent_token)


def check_agent_token(*, now: datetime) -> TokenRow:
    """The token of this request, which is live at this moment, and note its use.

    raises  Unauthenticated with the challenge of RFC 6750 section 3
    """
    row = find_agent_token(_bearer_token())
    if row is None:
        raise _refusal("This agent token is not known here.")
    end = row.ended(now)
    if end is not None:
        raise _refusal(ENDED[end])
    if row.last_used_at is None or row.last_used_at <= now - timedelta(
        seconds=LAST_USED_EVERY_SECONDS
    ):
        write_later(("use", row.id), partial(store_use, row.id, now))
    return row


def _bearer_token() -> str:
    if request.query_string and any(name in request.args for name in QUERY_NAMES):
        raise _refusal(
            "A token in the address is refused.",
            "Take the token out of the address, where logs keep it, and send it in the header "
            "Authorization: Bearer.",
        )
    scheme, _, token = request.headers.get("Authorization", "").strip().partition(" ")
    if not scheme:
        raise Unauthenticated("This call needs an agent token.", REMEDY, CHALLENGE)
    token = token.strip()
    if scheme.lower() != "bearer" or not token.startswith(PREFIX):
        raise _refusal(
            f"The Authorization header holds no agent token, {PREFIX} and more, after Bearer."
        )
    return token


def _refusal(message: str, remedy: str = REMEDY) -> Unauthenticated:
    challenge = f'{CHALLENGE}, error="invalid_token", error_description="{message}"'
    return Unauthenticated(message, remedy, challenge)
