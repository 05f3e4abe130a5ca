"""Checks the bearer token of a request for one resource and its scopes."""

from collections.abc import Callable, Collection, Iterable
from datetime import datetime, timedelta
from functools import partial, wraps
from typing import NamedTuple, ParamSpec, TypeVar, cast

from flask import g, request
from sqlalchemy import bindparam, func, select, update

from webapp.base.config import settings
from webapp.base.database import execute_autocommit, read_rows, utc_now
from webapp.base.errors import ErrorCode, Outcome
from webapp.base.text import token_hash
from webapp.base.vocabulary import ClientKind, Scope, TokenKind
from webapp.oauth.models import OAuthClient, OAuthGrant, OAuthToken, shows_given_name
from webapp.oauth.protocol import ACCESS_PREFIX, PERMISSIONS, looks_like, resource_metadata_url
from webapp.records.accounts.models import Account
from webapp.records.audit import Actor
from webapp.web import request_audit
from webapp.web.deferred_writes import write_later

LAST_USED_EVERY_SECONDS = 60  # one write a minute and connection
QUERY_NAMES = ("access_token", "token")

P = ParamSpec("P")
R = TypeVar("R")


class Caller(NamedTuple):
    """An access token in any state, with its connection, as selected by `find_access_token`.

    attests_publish  its publish counts as the creator's word
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
        """What creators are shown as the name of the client."""
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
    """The row of this access token in any state; one select, no entities."""
    found = read_rows(LOOK_UP, hash=token_hash(token))
    return Caller._make(found[0]) if found else None


def note_use(caller: Caller, *, now: datetime) -> None:
    """Store `last_used_at` by a deferred write, at most once a minute."""
    since = now - timedelta(seconds=LAST_USED_EVERY_SECONDS)
    if caller.last_used_at is None or caller.last_used_at <= since:
        write_later(("use", caller.grant_id), partial(_store_use, caller.grant_id, now))


def _store_use(grant_id: str, now: datetime) -> None:
    execute_autocommit(_USED, grant=grant_id, now=now)


_USED = (
    update(OAuthGrant)
    .where(OAuthGrant.id == bindparam("grant"))
    .values(last_used_at=bindparam("now"))
)


class Unauthenticated(Outcome):
    """No token that fits, or a valid one that lacks a scope.

    challenge  the WWW-Authenticate value
    """

    def __init__(
        self, message: str, resolution: str, challenge: str, *, lacks_scope: bool = False
    ) -> None:
        super().__init__(ErrorCode.AUTHENTICATION_REQUIRED, message, resolution)
        self.challenge = challenge
        self.lacks_scope = lacks_scope


def require_scope(*scopes: Scope) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let a REST route run only for a token of the REST API that has all of `scopes`.

    Sets `g.caller`; raises as `check_scope`.
    """

    def decorate(view: Callable[P, R]) -> Callable[P, R]:
        @wraps(view)
        def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
            g.caller = check_scope(*scopes)
            return view(*args, **kwargs)

        return guarded

    return decorate


def check_scope(*scopes: Scope) -> Caller:
    """The caller of this request, whose token for the REST API has all of `scopes` just now.

    raises  Unauthenticated with the challenge of RFC 6750 section 3 and RFC 9728; a missing scope
            is a 401, too
    """
    caller = _authenticate(settings().api_url)
    _require_scopes(caller, scopes, settings().api_url)
    return caller


def authenticate_for_mcp() -> Caller:
    """The caller of this request, whose token for the MCP endpoint is valid just now.

    raises  Unauthenticated
    """
    return _authenticate(settings().mcp_url)


def require_mcp_scope(caller: Caller, *scopes: Scope) -> None:
    """raises  Unauthenticated for a token that lacks one"""
    _require_scopes(caller, scopes, settings().mcp_url)


def current_caller() -> Caller:
    """The connection behind the current call; only inside a guarded route."""
    return cast(Caller, g.caller)


def acting_agent() -> Actor:
    """The connection behind the current call as the audit trail names it."""
    caller = current_caller()
    return request_audit.agent(caller.client_id, caller.client_name)


def _authenticate(resource: str) -> Caller:
    """The caller of this request when its token is valid for `resource`; scopes are not judged.

    raises  Unauthenticated, whose challenge asks for all permissions: a client asks its creator
            once, who may untick any
    """
    token, now = _bearer_token(resource), utc_now()
    caller = find_access_token(token) if looks_like(ACCESS_PREFIX, token) else None
    problem = _problem(caller, now)
    if caller is None or problem:
        raise _invalid_token(problem, resource)
    if resource not in caller.resource.split():
        raise _refusal(
            "This access token is for another resource.",
            f"Complete OAuth once more with the parameter resource={resource}, or without it for "
            "all of this server, and use the access token of that connection here.",
            resource,
        )
    note_use(caller, now=now)
    return caller


def _bearer_token(resource: str) -> str:
    if request.query_string and any(name in request.args for name in QUERY_NAMES):
        raise _refusal(
            "A token in the address is refused.",
            "Take the token out of the address, where logs keep it, and send it in the header "
            "Authorization: Bearer.",
            resource,
            error="invalid_request",
        )
    scheme, _, token = request.headers.get("Authorization", "").strip().partition(" ")
    if not scheme:
        message = "This call needs an access token."
        raise Unauthenticated(message, _complete_oauth(), _challenge(resource))
    if scheme.lower() != "bearer":
        raise _invalid_token(
            "The Authorization header does not begin with the word Bearer.", resource
        )
    return token.strip()


def _problem(caller: Caller | None, now: datetime) -> str:
    if caller is None:
        return "This access token is not known here."
    if caller.revoked_at or caller.grant_revoked_at:
        return "This access token was revoked."
    if caller.account_disabled_at:
        return "The account of this access token is switched off."
    if caller.expires_at <= now or caller.grant_expires_at <= now:
        return "This access token has expired."
    return ""


def _invalid_token(message: str, resource: str) -> Unauthenticated:
    remedy = f"Refresh the access token. If that fails: {_complete_oauth()}"
    return _refusal(message, remedy, resource)


def _refusal(
    message: str, remedy: str, resource: str, *, error: str = "invalid_token"
) -> Unauthenticated:
    return Unauthenticated(message, remedy, _challenge(resource, PERMISSIONS, error, message))


def _require_scopes(caller: Caller, needed: Collection[Scope], resource: str) -> None:
    """The refusal names the granted scopes, too, as some clients ask for no others."""
    if caller.scopes.issuperset(needed):
        return
    wanted = sorted(caller.scopes.union(needed) - {Scope.OFFLINE_ACCESS})
    message = f"This access token lacks the permission {' '.join(needed)}."
    challenge = _challenge(resource, wanted, "insufficient_scope", message)
    raise Unauthenticated(message, _complete_oauth(wanted), challenge, lacks_scope=True)


def _challenge(
    resource: str,
    scopes: Iterable[str] = PERMISSIONS,
    error: str = "",
    description: str = "",
) -> str:
    """One WWW-Authenticate value; without `error` when no token was sent (RFC 6750 section 3.1)."""
    parts = [f'error="{error}"', f'error_description="{description}"'] if error else []
    metadata = resource_metadata_url(settings(), resource)
    parts += [f'resource_metadata="{metadata}"', f'scope="{" ".join(scopes)}"']
    return "Bearer " + ", ".join(parts)


def _complete_oauth(scopes: Iterable[str] = PERMISSIONS) -> str:
    return (
        f"Complete OAuth as the WWW-Authenticate header says, with the scope {' '.join(scopes)}, "
        "and retry with the header Authorization: Bearer and the access token."
    )
