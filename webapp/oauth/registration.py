"""Checks client metadata from dynamic registration, a metadata document or the operator."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from webapp.database import db, new_id, write_transaction
from webapp.domain.audit.trail import SYSTEM, Actor, AuditKind, add_event
from webapp.domain.shared.limits import CLIENT_NAME_MAX_CHARS, REDIRECT_URIS_MAX
from webapp.domain.shared.secrets import token_hash
from webapp.domain.shared.vocabulary import ClientKind, Scope
from webapp.oauth.credentials import CLIENT_SECRET_PREFIX, new_secret
from webapp.oauth.models import OAuthClient
from webapp.oauth.redirect_uris import redirect_problem

PUBLIC = "none"
AUTH_METHODS = (PUBLIC, "client_secret_basic", "client_secret_post")
GRANT_TYPES = ("authorization_code", "refresh_token")


class Refused(Exception):
    """A client we do not take; `error` as in RFC 7591 section 3.2.2."""

    def __init__(self, error: str, description: str) -> None:
        super().__init__(description)
        self.error = error
        self.description = description


def register_client(metadata: object, *, now: datetime) -> dict[str, Any]:
    """Dynamic registration (RFC 7591): the client information response; commits.

    Only this response contains the secret. Unsupported metadata is dropped; `scope` is no ceiling,
    and the response names all scopes. Without grant types the client gets both: whether an agent
    stays connected is its creator's choice, and most agents name none. Raises Refused.
    """
    if not isinstance(metadata, dict):
        raise Refused("invalid_client_metadata", "Send one JSON object.")
    details = client_details(metadata)
    with write_transaction():
        client, secret = _add_client(ClientKind.DYNAMIC, details, now=now)
    return _registered(client, secret)


def create_client(
    name: str,
    redirect_uris: list[str],
    *,
    public: bool = False,
    now: datetime,
    by: Actor = SYSTEM,
) -> tuple[str, str | None]:
    """Create a client for the operator: its id, and its secret unless it is public; commits.

    The secret is not stored. Raises Refused.
    """
    method = PUBLIC if public else "client_secret_basic"
    details = client_details(
        {
            "client_name": name,
            "redirect_uris": redirect_uris,
            "token_endpoint_auth_method": method,
            "grant_types": list(GRANT_TYPES),
        }
    )
    with write_transaction():
        client, secret = _add_client(ClientKind.PRE_REGISTERED, details, now=now)
        by = replace(by, client_id=client.client_id, client_name=client.name)
        add_event(AuditKind.CLIENT_CREATED, None, by=by, now=now, subject=client.id)
    return client.client_id, secret


def client_details(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The metadata that is stored, after checking it. Raises Refused."""
    method = metadata.get("token_endpoint_auth_method", "client_secret_basic")
    if method not in AUTH_METHODS:
        raise Refused(
            "invalid_client_metadata",
            f"The token_endpoint_auth_method is one of {', '.join(AUTH_METHODS)}.",
        )
    details = {
        "redirect_uris": _redirect_uris(metadata.get("redirect_uris")),
        "grant_types": _grant_types(metadata.get("grant_types", list(GRANT_TYPES))),
        "token_endpoint_auth_method": method,
    }
    name = metadata.get("client_name")
    return details if name is None else details | {"client_name": _checked_name(name)}


def _redirect_uris(uris: object) -> list[str]:
    if not isinstance(uris, list) or not 1 <= len(uris) <= REDIRECT_URIS_MAX:
        raise Refused(
            "invalid_redirect_uri",
            f"The redirect_uris are a list of 1 to {REDIRECT_URIS_MAX} addresses.",
        )
    for uri in uris:
        problem = redirect_problem(uri)
        if problem is not None:
            raise Refused("invalid_redirect_uri", problem)
    return uris


def _grant_types(types: object) -> list[str]:
    known = [kind for kind in GRANT_TYPES if isinstance(types, list) and kind in types]
    if "authorization_code" not in known:
        raise Refused(
            "invalid_client_metadata", "The grant_types have to contain authorization_code."
        )
    return known


def _checked_name(name: object) -> str:
    if not isinstance(name, str) or not name.strip() or len(name) > CLIENT_NAME_MAX_CHARS:
        raise Refused(
            "invalid_client_metadata",
            f"The client_name is text of 1 to {CLIENT_NAME_MAX_CHARS} characters.",
        )
    if not name.isprintable():
        raise Refused("invalid_client_metadata", "The client_name has no control characters.")
    return name.strip()


def _add_client(
    kind: ClientKind, details: dict[str, Any], *, now: datetime
) -> tuple[OAuthClient, str | None]:
    method = details["token_endpoint_auth_method"]
    secret = None if method == PUBLIC else new_secret(CLIENT_SECRET_PREFIX)
    client = OAuthClient(
        id=new_id("cli"),
        client_id=new_id("client"),
        kind=kind,
        given_name=details.get("client_name", ""),
        secret_hash=secret and token_hash(secret),
        details=details,
        created_at=now,
    )
    db.session.add(client)
    return client, secret


def _registered(client: OAuthClient, secret: str | None) -> dict[str, Any]:
    """RFC 7591 section 3.2.1; a secret never expires (0)."""
    body = {
        "client_id": client.client_id,
        "client_id_issued_at": int(client.created_at.timestamp()),
        "client_name": client.name,
        **client.details,
        "response_types": ["code"],
        "scope": " ".join(Scope),
    }
    return (
        body if secret is None else body | {"client_secret": secret, "client_secret_expires_at": 0}
    )
