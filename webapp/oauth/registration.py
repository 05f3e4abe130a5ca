"""Checks client metadata from dynamic registration, a metadata document or the operator."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, cast

from sqlalchemy import Table, select

from webapp.database import db, execute, insert_into, new_id, write_transaction
from webapp.domain.audit.trail import SYSTEM, Actor, AuditKind, add_event
from webapp.domain.shared.limits import CLIENT_NAME_MAX_CHARS, REDIRECT_URIS_MAX
from webapp.domain.shared.secrets import token_hash
from webapp.domain.shared.vocabulary import ClientKind, Scope
from webapp.oauth.client_names import cleaned_name
from webapp.oauth.credentials import CLIENT_SECRET_PREFIX, new_secret
from webapp.oauth.models import OAuthClient
from webapp.oauth.redirect_uris import TAKEN, redirect_problem, without_port

PUBLIC = "none"
BASIC = "client_secret_basic"  # without a method, and for one that we do not know
AUTH_METHODS = (PUBLIC, BASIC, "client_secret_post")
GRANT_TYPES = ("authorization_code", "refresh_token")
RENEWED_AFTER = timedelta(hours=1)  # our choice: far below the day that an unused client is kept
ID_CHARS = 40  # of a hash, 160 bits


class Refused(Exception):
    """A client we do not take; `error` as in RFC 7591 section 3.2.2."""

    def __init__(self, error: str, description: str) -> None:
        super().__init__(description)
        self.error = error
        self.description = description


def register_client(metadata: object, *, now: datetime) -> tuple[dict[str, Any], bool]:
    """Dynamic registration (RFC 7591): the client information response, and whether it is a new
    client; commits.

    Equal metadata without a secret is one client for all senders, as consents belong to accounts.
    Only this response contains the secret. Unsupported metadata is dropped; `scope` is no ceiling,
    and the response names all scopes. Without grant types the client gets both: whether an agent
    stays connected is its creator's choice, and most agents name none. Raises Refused.
    """
    if not isinstance(metadata, dict):
        raise Refused("invalid_client_metadata", "Send one JSON object.")
    details, refused = client_details(metadata)
    if details["token_endpoint_auth_method"] == PUBLIC:
        client, is_new = _shared_client(details, now=now)
        secret = None
    else:
        with write_transaction():
            client, secret = _add_client(ClientKind.DYNAMIC, details, now=now)
        is_new = True
    body = _registered(client, details, secret, now)
    return body | ({"refused_redirect_uris": refused} if refused else {}), is_new


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
    method = PUBLIC if public else BASIC
    details, refused = client_details(
        {"client_name": name, "redirect_uris": redirect_uris, "token_endpoint_auth_method": method}
    )
    if refused:
        raise Refused("invalid_redirect_uri", f"{refused[0]['reason']} {TAKEN}")
    if details.get("client_name") != name.strip():
        raise Refused(
            "invalid_client_metadata",
            f"The name is one line of 1 to {CLIENT_NAME_MAX_CHARS} printable characters.",
        )
    with write_transaction():
        client, secret = _add_client(ClientKind.PRE_REGISTERED, details, now=now)
        by = replace(by, client_id=client.client_id, client_name=client.name)
        add_event(AuditKind.CLIENT_CREATED, None, by=by, now=now, subject=client.id)
    return client.client_id, secret


def client_details(
    metadata: Mapping[str, Any],
) -> tuple[dict[str, Any], list[dict[str, str | None]]]:
    """The metadata that is stored, and the redirect URIs that are not taken, with the reasons.

    Members that are null, empty or of another type count as absent. Raises Refused.
    """
    taken, refused = _redirect_uris(listed(metadata.get("redirect_uris")))
    method = metadata.get("token_endpoint_auth_method")
    details: dict[str, Any] = {
        "redirect_uris": taken,
        "grant_types": _grant_types(listed(metadata.get("grant_types"))),
        "token_endpoint_auth_method": method if method in AUTH_METHODS else BASIC,
    }
    name = cleaned_name(metadata.get("client_name"))
    return (details | {"client_name": name} if name else details), refused


def listed(value: object) -> list[object]:
    """The members of a list that are set; a text is a list of one, anything else is empty."""
    values = value if isinstance(value, list) else [value] if isinstance(value, str) else []
    return [each for each in values if each is not None and each != ""]


def _redirect_uris(uris: list[object]) -> tuple[list[str], list[dict[str, str | None]]]:
    taken: list[str] = []
    refused: list[dict[str, str | None]] = []
    for uri in uris:
        problem = redirect_problem(uri)
        if problem is None and uri not in taken and len(taken) == REDIRECT_URIS_MAX:
            problem = f"A client has at most {REDIRECT_URIS_MAX} redirect URIs."
        if problem is not None:
            refused.append(
                {"redirect_uri": uri if isinstance(uri, str) else None, "reason": problem}
            )
        elif uri not in taken:
            taken.append(cast(str, uri))
    if not taken:
        why = refused[0]["reason"] if refused else "The redirect_uris name no address."
        raise Refused("invalid_redirect_uri", f"{why} {TAKEN}")
    return taken, refused


def _grant_types(types: list[object]) -> list[str]:
    known = [kind for kind in GRANT_TYPES if kind in types or not types]
    if "authorization_code" not in known:
        raise Refused(
            "invalid_client_metadata", "The grant_types have to contain authorization_code."
        )
    return known


def _shared_client(details: dict[str, Any], *, now: datetime) -> tuple[OAuthClient, bool]:
    """The client with this public metadata, and whether it is new; commits. Raises Refused.

    Registered again it is young again, so that it is not purged before its consent.
    """
    client_id = _shared_id(details)
    found = select(OAuthClient).where(OAuthClient.client_id == client_id)
    known = db.session.scalars(found).first()
    if known is not None and known.disabled_at is not None:
        raise Refused(
            "invalid_client_metadata", "The operator of this server has switched this client off."
        )
    if known is None or known.created_at < now - RENEWED_AFTER:
        adding = insert_into(cast(Table, OAuthClient.__table__))
        with write_transaction():
            execute(
                adding.on_conflict_do_update(
                    index_elements=["client_id"], set_={"created_at": now}
                ),
                id=new_id("cli"),
                client_id=client_id,
                kind=ClientKind.DYNAMIC,
                name=details.get("client_name", ""),
                details=details,
                created_at=now,
            )
    return known or db.session.scalars(found).one(), known is None


def _shared_id(details: dict[str, Any]) -> str:
    """What the metadata hashes to, without what a client may change at each request."""
    parts = (
        details.get("client_name", ""),
        sorted(map(without_port, details["redirect_uris"])),
        details["grant_types"],
    )
    return f"client_{hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:ID_CHARS]}"


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


def _registered(
    client: OAuthClient, details: dict[str, Any], secret: str | None, now: datetime
) -> dict[str, Any]:
    """RFC 7591 section 3.2.1; a secret never expires (0).

    A client that is known already reads the same as a new one, when others came included.
    """
    body = {
        "client_id": client.client_id,
        "client_id_issued_at": int(now.timestamp()),
        "client_name": client.name,
        **details,
        "response_types": ["code"],
        "scope": " ".join(Scope),
    }
    return (
        body if secret is None else body | {"client_secret": secret, "client_secret_expires_at": 0}
    )
