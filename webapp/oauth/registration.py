"""Registers clients and reads their metadata documents."""

import hashlib
import json
import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, cast

from authlib.oauth2 import OAuth2Error
from sqlalchemy import select
from werkzeug.http import parse_cache_control_header

from webapp.base.database import db, new_id, release_connections, write_transaction
from webapp.base.outbound import Bounds, Reply, Unreachable, checked_url, fetch
from webapp.base.text import token_hash
from webapp.base.vocabulary import ClientKind, Scope
from webapp.oauth import client_metadata, protocol
from webapp.oauth.models import CLIENT_ID_MAX_CHARS, OAuthClient
from webapp.oauth.tokens import store_client
from webapp.records.audit import SYSTEM, Actor, AuditKind, add_event

REDIRECT_URIS_MAX = 20
PUBLIC = "none"
BASIC = "client_secret_basic"  # the default, also in place of an unknown method
AUTH_METHODS = (PUBLIC, BASIC, "client_secret_post")
GRANT_TYPES = ("authorization_code", "refresh_token")
RENEWED_AFTER = timedelta(hours=1)  # far below the day that an unused client is kept
ID_CHARS = 40  # the first 160 bits of a hash
Refusals = list[dict[str, str | None]]  # redirect URIs with the reasons


class Refused(OAuth2Error):
    """The refusal of a client; `error` is a code of RFC 7591 section 3.2.2."""

    def __init__(self, error: str, description: str) -> None:
        super().__init__(description, error=error)

    def __str__(self) -> str:
        return str(self.description)


def _no_metadata(description: str) -> Refused:
    return Refused("invalid_client_metadata", description)


def _no_client(description: str) -> Refused:
    return Refused("invalid_client", description)


def register_client(metadata: object, *, now: datetime) -> tuple[dict[str, Any], bool]:
    """Register a client (RFC 7591), and commit.

    Return the client information response, and whether the client is new. Senders of equal metadata
    without a secret share one client, because consents belong to accounts. Only this response
    contains the secret. Unsupported metadata is dropped. `scope` sets no limit; the response names
    all scopes. A client that names no grant types gets both: most agents name none, and the creator
    decides whether an agent stays connected. Raises Refused.
    """
    if not isinstance(metadata, dict):
        raise _no_metadata("Send one JSON object.")
    details, refused = client_details(metadata)
    if details["token_endpoint_auth_method"] == PUBLIC:
        client, is_new = _shared_client(details, now=now)
        secret = None
    else:
        with write_transaction():
            client, secret = _add_client(ClientKind.DYNAMIC, details, now=now)
        is_new = True
    # a known client gets the same response as a new one: it does not show that others registered
    body = {
        "client_id": client.client_id,
        "client_id_issued_at": int(now.timestamp()),
        "client_name": client.name,
        **details,
        "response_types": ["code"],
        "scope": " ".join(Scope),
    }
    if secret is not None:
        body |= {"client_secret": secret, "client_secret_expires_at": 0}  # never
    return body | ({"refused_redirect_uris": refused} if refused else {}), is_new


def create_client(
    name: str, redirect_uris: list[str], *, public: bool = False, now: datetime, by: Actor = SYSTEM
) -> tuple[str, str | None]:
    """Create a client for the operator, and commit; return its id and, unless public, its secret.

    The secret is not stored. Raises Refused.
    """
    method = PUBLIC if public else BASIC
    details, refused = client_details(
        {"client_name": name, "redirect_uris": redirect_uris, "token_endpoint_auth_method": method}
    )
    if refused:
        raise Refused("invalid_redirect_uri", f"{refused[0]['reason']} {client_metadata.TAKEN}")
    if details.get("client_name") != name.strip():
        most = client_metadata.CLIENT_NAME_MAX_CHARS
        raise _no_metadata(f"The name is one line of 1 to {most} printable characters.")
    with write_transaction():
        client, secret = _add_client(ClientKind.PRE_REGISTERED, details, now=now)
        by = client.named(by)
        add_event(AuditKind.CLIENT_CREATED, None, by=by, now=now, subject=client.id)
    return client.client_id, secret


def client_details(metadata: Mapping[str, Any]) -> tuple[dict[str, Any], Refusals]:
    """Return the metadata to store, and the refused redirect URIs with the reasons.

    Members that are null, empty or of another type count as absent. Raises Refused.
    """
    taken, refused = _redirect_uris(listed(metadata.get("redirect_uris")))
    types = listed(metadata.get("grant_types"))
    grant_types = [kind for kind in GRANT_TYPES if kind in types or not types]
    if "authorization_code" not in grant_types:
        raise _no_metadata("The grant_types have to contain authorization_code.")
    method = metadata.get("token_endpoint_auth_method")
    details: dict[str, Any] = {
        "redirect_uris": taken,
        "grant_types": grant_types,
        "token_endpoint_auth_method": method if method in AUTH_METHODS else BASIC,
    }
    name = client_metadata.cleaned_name(metadata.get("client_name"))
    return (details | {"client_name": name} if name else details), refused


def listed(value: object) -> list[object]:
    """Return the members of a list except null and ""; a text counts as a list of one."""
    values = value if isinstance(value, list) else [value] if isinstance(value, str) else []
    return [each for each in values if each is not None and each != ""]


def _redirect_uris(uris: list[object]) -> tuple[list[str], Refusals]:
    taken: list[str] = []
    refused: Refusals = []
    for uri in uris:
        problem = client_metadata.redirect_problem(uri)
        if problem is None and uri not in taken and len(taken) == REDIRECT_URIS_MAX:
            problem = f"A client has at most {REDIRECT_URIS_MAX} redirect URIs."
        if problem is not None:
            written = uri if isinstance(uri, str) else None
            refused.append({"redirect_uri": written, "reason": problem})
        elif uri not in taken:
            taken.append(cast(str, uri))
    if not taken:
        why = refused[0]["reason"] if refused else "The redirect_uris name no address."
        raise Refused("invalid_redirect_uri", f"{why} {client_metadata.TAKEN}")
    return taken, refused


def _shared_client(details: dict[str, Any], *, now: datetime) -> tuple[OAuthClient, bool]:
    """Return the client with this public metadata, and whether it is new; commit. Raises Refused.

    Each registration renews its age, so that the purge does not remove it before its consent.
    """
    client_id = _shared_id(details)
    found = select(OAuthClient).where(OAuthClient.client_id == client_id)
    known = db.session.scalars(found).first()
    if known is not None and known.disabled_at is not None:
        raise _no_metadata("The operator of this server has switched this client off.")
    if known is not None and known.created_at >= now - RENEWED_AFTER:
        return known, False
    with write_transaction():
        renewed = ("created_at",)
        client = store_client(client_id, ClientKind.DYNAMIC, details, now=now, renewed=renewed)
    return client, known is None


def _shared_id(details: dict[str, Any]) -> str:
    """Return an id hashed from the metadata, without the ports that may change at each request."""
    parts = (
        details.get("client_name", ""),
        sorted(map(client_metadata.without_port, details["redirect_uris"])),
        details["grant_types"],
    )
    return f"client_{hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:ID_CHARS]}"


def _add_client(
    kind: ClientKind, details: dict[str, Any], *, now: datetime
) -> tuple[OAuthClient, str | None]:
    is_public = details["token_endpoint_auth_method"] == PUBLIC
    secret = None if is_public else protocol.new_secret(protocol.CLIENT_SECRET_PREFIX)
    known_hash = secret and token_hash(secret)
    client = store_client(new_id("client"), kind, details, now=now, secret_hash=known_hash)
    return client, secret


BOUNDS = Bounds(body_bytes=5120)  # the draft recommends 5 KB
KEPT_AT_LEAST, KEPT_AT_MOST = 60, 24 * 3600  # seconds

BAD_ADDRESS = "The address of this app is not one we accept."
DOT_SEGMENT = re.compile(r"/(\.|%2e){1,2}(/|$)", re.IGNORECASE)
JSON_TYPE = re.compile(r"application/([a-z0-9.!#$&^_-]+\+)?json", re.IGNORECASE)
SECRET_MEMBERS = ("client_secret", "client_secret_expires_at")
# several mainstream hosts list their methods in the second member
METHOD_MEMBERS = ("token_endpoint_auth_method", "token_endpoint_auth_methods_supported")


def names_document(client_id: str) -> bool:
    """Return whether this client id is the URL of a metadata document."""
    return client_id.startswith("https://")


def load_document_client(client_id: str, *, now: datetime) -> OAuthClient:
    """Return the client described at this address; fetch stale metadata first, and commit.

    Raises Refused with a sentence for the person at the screen.
    """
    found = select(OAuthClient).where(OAuthClient.client_id == client_id)
    known = db.session.scalars(found).first()
    if known and known.fetched_until and known.fetched_until > now:
        return known
    reply = _fetch(client_id)
    details = _document_details(client_id, reply)
    until, renewed = now + _kept(reply), ("name", "details", "fetched_until")
    with write_transaction():
        return store_client(
            client_id, ClientKind.DOCUMENT, details, now=now, fetched_until=until, renewed=renewed
        )


def _fetch(client_id: str) -> Reply:
    try:
        parts = checked_url(client_id, frozenset({443}))
    except Unreachable as error:
        raise _no_client(BAD_ADDRESS) from error
    no_path = parts.path in {"", "/"} or DOT_SEGMENT.search(parts.path)
    if len(client_id) > CLIENT_ID_MAX_CHARS or no_path or ":" in parts.netloc:
        raise _no_client(BAD_ADDRESS)
    try:
        # the caller's read transaction must not stay open while a remote server responds
        release_connections()
        return fetch(client_id, headers={"Accept": "application/json"}, bounds=BOUNDS)
    except Unreachable as error:
        missing = f"This server could not fetch the description of this app at {parts.hostname}."
        raise _no_client(missing) from error


def _document_details(client_id: str, reply: Reply) -> dict[str, Any]:
    kind = reply.headers.get("content-type", "").partition(";")[0].strip()
    if reply.status != 200 or reply.cut or not JSON_TYPE.fullmatch(kind):
        raise _no_client("The description of this app is not a small JSON document.")
    try:
        document = json.loads(reply.body)
    except (ValueError, RecursionError) as error:
        raise _no_client("The description of this app is not JSON.") from error
    if not isinstance(document, dict):
        raise _no_client("The description of this app is not a JSON object.")
    if document.get("client_id") != client_id:
        raise _no_client("The description of this app is for another address.")
    if any(document.get(name) not in (None, "") for name in SECRET_MEMBERS):
        raise _no_client("The description of this app holds a secret.")
    methods = [method for name in METHOD_MEMBERS for method in listed(document.get(name))]
    if methods and PUBLIC not in methods:
        raise _no_client(
            "The description of this app does not offer token_endpoint_auth_method none, "
            "the only one taken here."
        )
    return client_details({**document, "token_endpoint_auth_method": PUBLIC})[0]


def _kept(reply: Reply) -> timedelta:
    control = parse_cache_control_header(reply.headers.get("cache-control"))
    fresh = not (control.no_store or control.no_cache) and control.max_age or 0
    return timedelta(seconds=min(max(fresh, KEPT_AT_LEAST), KEPT_AT_MOST))
