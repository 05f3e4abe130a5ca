"""Checks the bearer token of a request for one resource and its scopes."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import wraps
from typing import ParamSpec, TypeVar, cast

from flask import g, request

from webapp.base.config import settings
from webapp.base.database import utc_now
from webapp.base.error_codes import ErrorCode
from webapp.base.errors import Outcome
from webapp.base.vocabulary import ClientKind, Scope
from webapp.oauth.protocol import ACCESS_PREFIX, PERMISSIONS, looks_like, resource_metadata_url
from webapp.oauth.tokens import TokenRow, client_name, find_access_token, note_use
from webapp.records.audit import Actor
from webapp.web import request_audit

QUERY_NAMES = ("access_token", "token")

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Caller:
    """The connection behind a call; `attests_publish`: its publish counts as the creator's word."""

    account_id: str
    grant_id: str
    client_id: str
    client_kind: ClientKind
    client_given_name: str
    scopes: frozenset[str]
    token_id: str
    attests_publish: bool
    grant_expires_at: datetime


class Unauthenticated(Outcome):
    """No token that fits, or a scope is missing; `challenge` is the WWW-Authenticate value."""

    lacks_scope = False  # the token itself is valid

    def __init__(self, message: str, resolution: str, challenge: str) -> None:
        super().__init__(ErrorCode.AUTHENTICATION_REQUIRED, message, resolution)
        self.challenge = challenge


class LacksScope(Unauthenticated):
    """The token is valid and does not carry a scope that is needed."""

    lacks_scope = True


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
    caller = authenticate(settings().api_url, now=utc_now())
    _require_scopes(caller, scopes, settings().api_url)
    return caller


def authenticate_for_mcp() -> Caller:
    """The caller of this request, whose token for the MCP endpoint is valid just now.

    raises  Unauthenticated
    """
    return authenticate(settings().mcp_url, now=utc_now())


def require_mcp_scope(caller: Caller, *scopes: Scope) -> None:
    """raises  LacksScope"""
    _require_scopes(caller, scopes, settings().mcp_url)


def current_caller() -> Caller:
    """The connection behind the current call; only inside a guarded route."""
    return cast(Caller, g.caller)


def acting_agent() -> Actor:
    """The connection behind the current call as the audit trail names it."""
    caller = current_caller()
    name = client_name(caller.client_id, caller.client_kind, caller.client_given_name)
    return request_audit.agent(caller.client_id, name)


def authenticate(resource: str, *, now: datetime) -> Caller:
    """The caller of this request when its token is valid for `resource`; scopes are not judged.

    raises  Unauthenticated, whose challenge asks for all permissions: a client asks its creator
            once, who may untick any
    """
    token = _bearer_token(resource)
    row = find_access_token(token) if looks_like(ACCESS_PREFIX, token) else None
    problem = _problem(row, now)
    if row is None or problem is not None:
        raise _invalid_token(problem or "This access token is not known here.", resource)
    if resource not in row.resource.split():
        raise _other_resource(resource)
    note_use(row, now=now)
    return Caller(
        account_id=row.account_id,
        grant_id=row.grant_id,
        client_id=row.client_id,
        client_kind=row.client_kind,
        client_given_name=row.client_given_name,
        scopes=frozenset(row.scope.split()),
        token_id=row.token_id,
        attests_publish=row.attests_publish,
        grant_expires_at=row.grant_expires_at,
    )


def challenge(
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
        raise Unauthenticated(message, _complete_oauth(), challenge(resource))
    if scheme.lower() != "bearer":
        raise _invalid_token(
            "The Authorization header does not begin with the word Bearer.", resource
        )
    return token.strip()


def _problem(row: TokenRow | None, now: datetime) -> str | None:
    if row is None:
        return "This access token is not known here."
    if row.revoked_at or row.grant_revoked_at or row.client_disabled_at:
        return "This access token was revoked."
    if row.account_disabled_at:
        return "The account of this access token is switched off."
    if row.expires_at <= now or row.grant_expires_at <= now:
        return "This access token has expired."
    return None


def _invalid_token(message: str, resource: str) -> Unauthenticated:
    remedy = f"Refresh the access token. If that fails: {_complete_oauth()}"
    return _refusal(message, remedy, resource)


def _other_resource(resource: str) -> Unauthenticated:
    return _refusal(
        "This access token is for another resource.",
        f"Complete OAuth once more with the parameter resource={resource}, or without it for all "
        "of this server, and use the access token of that connection here.",
        resource,
    )


def _refusal(
    message: str, remedy: str, resource: str, *, error: str = "invalid_token"
) -> Unauthenticated:
    return Unauthenticated(message, remedy, challenge(resource, PERMISSIONS, error, message))


def _complete_oauth(scopes: Iterable[str] = PERMISSIONS) -> str:
    return (
        f"Complete OAuth as the WWW-Authenticate header says, with the scope {' '.join(scopes)}, "
        "and retry with the header Authorization: Bearer and the access token."
    )


def _require_scopes(caller: Caller, needed: Collection[Scope], resource: str) -> None:
    """raises  LacksScope; it names the granted scopes, too, as some clients ask for no others"""
    if caller.scopes.issuperset(needed):
        return
    wanted = sorted(caller.scopes.union(needed) - {Scope.OFFLINE_ACCESS})
    message = f"This access token lacks the permission {' '.join(needed)}."
    raise LacksScope(
        message,
        _complete_oauth(wanted),
        challenge(resource, wanted, "insufficient_scope", message),
    )
