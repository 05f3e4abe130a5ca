"""Checks the bearer token of a request: its validity, its resource and its scopes."""

from collections.abc import Callable, Collection, Iterable
from datetime import datetime, timedelta
from functools import partial, wraps
from typing import Any, NamedTuple, TypeVar, cast

from flask import g, request
from sqlalchemy import bindparam, func, select, update

from webapp.base import config, text
from webapp.base.database import execute_autocommit, read_rows, utc_now
from webapp.base.errors import ErrorCode, Outcome
from webapp.base.vocabulary import ClientKind, Scope, TokenKind
from webapp.oauth.models import OAuthClient, OAuthGrant, OAuthToken, shows_given_name
from webapp.oauth.protocol import ACCESS_PREFIX, PERMISSIONS, looks_like, resource_metadata_url
from webapp.records.accounts.models import Account
from webapp.records.audit import Actor
from webapp.web import deferred_writes, request_audit
from webapp.web.request_kind import RequestKind, request_kind

LAST_USED_EVERY_SECONDS = 60  # at most one write per minute and connection
QUERY_NAMES = ("access_token", "token")

View = TypeVar("View", bound=Callable[..., Any])


class Caller(NamedTuple):
    """An access token in any state with its connection; `find_access_token` selects the columns.

    attests_publish  whether a publish by the agent counts as confirmed by the creator
    """

    token_id: str
    scope: str
    expires_at: datetime
    revoked_at: datetime | None
    grant_id: str
    account_id: str
    resource: str
    attests_publish: bool
    grant_expires_at: datetime
    grant_revoked_at: datetime | None
    last_used_at: datetime | None
    client_id: str
    client_kind: ClientKind
    client_given_name: str
    account_disabled_at: datetime | None

    @property
    def scopes(self) -> frozenset[str]:
        return frozenset(self.scope.split())

    @property
    def client_name(self) -> str:
        """Return the client's name as creators see it."""
        if shows_given_name(self.client_kind, self.client_given_name):
            return self.client_given_name
        details = read_rows(_DETAILS, client=self.client_id)[0].details
        named = {"client_id": self.client_id, "given_name": self.client_given_name}
        return OAuthClient(kind=self.client_kind, details=details, **named).name


_DETAILS = select(OAuthClient.details).where(OAuthClient.client_id == bindparam("client"))
LOOK_UP = (
    select(
        OAuthToken.id,
        OAuthToken.scope,
        OAuthToken.expires_at,
        OAuthToken.revoked_at,
        OAuthGrant.id,
        OAuthGrant.account_id,
        func.coalesce(OAuthToken.resource, OAuthGrant.resource),
        OAuthGrant.attests_publish,
        OAuthGrant.expires_at,
        OAuthGrant.revoked_at,
        OAuthGrant.last_used_at,
        OAuthClient.client_id,
        OAuthClient.kind,
        OAuthClient.given_name,
        Account.disabled_at,
    )
    .select_from(OAuthToken)
    .join(OAuthGrant, OAuthGrant.id == OAuthToken.grant_id)
    .join(OAuthClient, OAuthClient.id == OAuthGrant.client_pk)
    .join(Account, Account.id == OAuthGrant.account_id)
    .where(OAuthToken.token_hash == bindparam("hash"), OAuthToken.kind == TokenKind.ACCESS)
)


def find_access_token(token: str) -> Caller | None:
    """Return the row of this access token in any state, with one select and no entities."""
    found = read_rows(LOOK_UP, hash=text.token_hash(token))
    return Caller._make(found[0]) if found else None


_USED = (
    update(OAuthGrant)
    .where(OAuthGrant.id == bindparam("grant"))
    .values(last_used_at=bindparam("now"))
)


class Unauthenticated(Outcome):
    """The request has no suitable token, or a valid one that lacks a scope.

    challenge  the WWW-Authenticate value
    """

    def __init__(
        self, message: str, resolution: str, challenge: str, *, lacks_scope: bool = False
    ) -> None:
        super().__init__(ErrorCode.AUTHENTICATION_REQUIRED, message, resolution)
        self.challenge = challenge
        self.lacks_scope = lacks_scope


def require_scope(*scopes: Scope) -> Callable[[View], View]:
    """Let a route run only for a token that has all of `scopes`; its caller is in `g.caller`."""
    return guarded_by("caller", partial(authenticate, *scopes))


def guarded_by(name: str, check: Callable[[], object]) -> Callable[[View], View]:
    """Let a route run only after `check`, whose result is stored in `g` under `name`."""

    def decorate(view: View) -> View:
        @wraps(view)
        def guarded(*args: Any, **kwargs: Any) -> Any:
            setattr(g, name, check())
            return view(*args, **kwargs)

        return cast(View, guarded)

    return decorate


def authenticate(*scopes: Scope) -> Caller:
    """Return the caller of this request, whose token is for the called resource and has all scopes.

    raises  Unauthenticated with the challenge of RFC 6750 section 3 and RFC 9728. A challenge asks
            for all permissions, so that a client asks its creator only once; the creator may
            untick any of them.
    """
    token, now = _bearer_token(), utc_now()
    caller = find_access_token(token) if looks_like(ACCESS_PREFIX, token) else None
    if caller is None:
        raise _refusal("This access token is not known here.")
    if problem := _problem(caller, now):
        raise _refusal(problem)
    if (resource := _called_resource()) not in caller.resource.split():
        remedy = (
            f"Complete OAuth once more with the parameter resource={resource}, or without it for "
            "all of this server, and use the access token of that connection here."
        )
        raise _refusal("This access token is for another resource.", remedy)
    since = now - timedelta(seconds=LAST_USED_EVERY_SECONDS)
    if caller.last_used_at is None or caller.last_used_at <= since:
        store = partial(execute_autocommit, _USED, grant=caller.grant_id, now=now)
        deferred_writes.write_later(("use", caller.grant_id), store)
    require_scopes(caller, *scopes)
    return caller


def require_scopes(caller: Caller, *needed: Scope) -> None:
    """Raise Unauthenticated if a scope is missing.

    The challenge names granted scopes, too, as some clients ask for no others.
    """
    if caller.scopes.issuperset(needed):
        return
    wanted = sorted(caller.scopes.union(needed) - {Scope.OFFLINE_ACCESS})
    message = f"This access token lacks the permission {' '.join(needed)}."
    raise _refusal(message, COMPLETE_OAUTH, error="insufficient_scope", scopes=wanted)


def current_caller() -> Caller:
    """Return the connection of the current call; works only inside a guarded route."""
    return cast(Caller, g.caller)


def acting_agent() -> Actor:
    """Return the connection of the current call as an actor of the audit trail."""
    caller = current_caller()
    return request_audit.agent(caller.client_id, caller.client_name)


def _called_resource() -> str:
    ours = config.settings()
    return ours.mcp_url if request_kind() is RequestKind.MCP else ours.api_url


def _bearer_token() -> str:
    refuse_in_address(QUERY_NAMES, partial(_refusal, error="invalid_request"))
    scheme, _, token = request.headers.get("Authorization", "").strip().partition(" ")
    if not scheme:
        raise _refusal("This call needs an access token.", COMPLETE_OAUTH, error="")
    if scheme.lower() != "bearer":
        raise _refusal("The Authorization header does not begin with the word Bearer.")
    return token.strip()


def refuse_in_address(
    names: Collection[str], refusal: Callable[[str, str], Unauthenticated]
) -> None:
    """Raise Unauthenticated if the query string has a token under any of these names."""
    if request.query_string and any(name in request.args for name in names):
        raise refusal(
            "A token in the address is refused.",
            "Take the token out of the address, where logs keep it, and send it in the header "
            "Authorization: Bearer.",
        )


def _problem(caller: Caller, now: datetime) -> str:
    if caller.revoked_at or caller.grant_revoked_at:
        return "This access token was revoked."
    if caller.account_disabled_at:
        return "The account of this access token is switched off."
    if caller.expires_at <= now or caller.grant_expires_at <= now:
        return "This access token has expired."
    return ""


COMPLETE_OAUTH = (
    "Complete OAuth as the WWW-Authenticate header says, with the scope {scope}, and retry with "
    "the header Authorization: Bearer and the access token."
)
REFRESH = f"Refresh the access token. If that fails: {COMPLETE_OAUTH}"


def _refusal(
    message: str,
    remedy: str = REFRESH,
    *,
    error: str = "invalid_token",
    scopes: Iterable[str] = PERMISSIONS,
) -> Unauthenticated:
    """Build the error with one WWW-Authenticate value.

    remedy  what the client should do; `{scope}` becomes the scopes to ask for
    error   a code of RFC 6750 section 3.1; empty when no token was sent
    """
    scope = " ".join(scopes)
    parts = [f'error="{error}"', f'error_description="{message}"'] if error else []
    metadata = resource_metadata_url(_called_resource())
    challenge = ", ".join([*parts, f'resource_metadata="{metadata}"', f'scope="{scope}"'])
    lacks_scope = error == "insufficient_scope"
    remedy = remedy.replace("{scope}", scope)
    return Unauthenticated(message, remedy, f"Bearer {challenge}", lacks_scope=lacks_scope)
