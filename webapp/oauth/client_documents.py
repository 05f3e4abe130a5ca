"""Clients identified by a URL: their metadata document is fetched and checked.

Source: draft-ietf-oauth-client-id-metadata-document-00. Only the consent page fetches, and only
for somebody who is signed in; the token endpoint works with what is stored.
"""

import json
import re
import threading
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, cast
from urllib.parse import urlsplit

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError

from webapp.database import db, new_id, release_connections, write_transaction
from webapp.domain.shared.limits import CLIENT_ID_MAX_CHARS
from webapp.domain.shared.vocabulary import ClientKind
from webapp.oauth.models import OAuthClient
from webapp.oauth.registration import PUBLIC, Refused, client_details, listed
from webapp.outbound import Bounds, Pinned, Reply, Unreachable, checked_url, fetch

DOCUMENT_MAX_BYTES = 5120  # our choice, as the draft recommends 5 KB
KEPT_AT_LEAST = timedelta(seconds=60)  # our choice
KEPT_AT_MOST = timedelta(hours=24)  # our choice
FAILURE_KEPT = timedelta(seconds=60)  # our choice
FAILURES_MAX = 1000  # our choice: how many addresses are remembered as failed

DOT_SEGMENT = re.compile(r"/(\.|%2e){1,2}(/|$)", re.IGNORECASE)
JSON_TYPE = re.compile(r"application/([a-z0-9.!#$&^_-]+\+)?json", re.IGNORECASE)
MAX_AGE = re.compile(r"(?:^|[,\s])max-age=\"?(\d{1,9})", re.IGNORECASE)


SECRET_MEMBERS = ("client_secret", "client_secret_expires_at")
# several mainstream hosts offer a choice in the second
METHOD_MEMBERS = ("token_endpoint_auth_method", "token_endpoint_auth_methods_supported")


@dataclass(slots=True)
class Failures:
    """Addresses that failed recently, so that reloading a page does not fetch again."""

    reasons: dict[str, tuple[datetime, str]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def recent(self, client_id: str, now: datetime) -> str | None:
        with self.lock:
            at, reason = self.reasons.get(client_id, (None, ""))
            return reason if at is not None and at > now - FAILURE_KEPT else None

    def add(self, client_id: str, reason: str, now: datetime) -> None:
        with self.lock:
            if len(self.reasons) >= FAILURES_MAX:
                self.reasons.clear()
            self.reasons[client_id] = (now, reason)


def names_document(client_id: str) -> bool:
    """True if this client id is the URL of a document."""
    return client_id.startswith("https://")


def load_document_client(
    client_id: str, failures: Failures, *, pinned: tuple[Pinned, ...] = (), now: datetime
) -> OAuthClient:
    """The client described at this address, fetched if the stored metadata is too old; commits.

    Raises Refused with a sentence for the person at the screen.
    """
    known = _find(client_id)
    if known and known.fetched_until and known.fetched_until > now:
        return known
    reason = failures.recent(client_id, now)
    if reason is not None:
        raise Refused("invalid_client", reason)
    try:
        reply = _fetch(client_id, pinned)
        details = _document_details(client_id, reply)
    except Refused as refusal:
        failures.add(client_id, refusal.description, now)
        raise
    return _store(client_id, details, now + _kept(reply), now=now)


def check_document_url(client_id: str) -> None:
    """Raises Refused when the address cannot be a client id."""
    try:
        parts = checked_url(client_id, frozenset({443}))
    except Unreachable as error:
        raise Refused("invalid_client", "The address of this app is not one we accept.") from error
    if (
        len(client_id) > CLIENT_ID_MAX_CHARS
        or parts.path in {"", "/"}
        or DOT_SEGMENT.search(parts.path)
        or ":" in parts.netloc
    ):
        raise Refused("invalid_client", "The address of this app is not one we accept.")


def _fetch(client_id: str, pinned: tuple[Pinned, ...]) -> Reply:
    check_document_url(client_id)
    bounds = Bounds(body_bytes=DOCUMENT_MAX_BYTES, pinned=pinned)
    try:
        # the caller's read transaction must not stay open while a remote server responds
        release_connections()
        return fetch(client_id, headers={"Accept": "application/json"}, bounds=bounds)
    except Unreachable as error:
        host = urlsplit(client_id).hostname
        raise Refused(
            "invalid_client", f"This server could not fetch the description of this app at {host}."
        ) from error


def _document_details(client_id: str, reply: Reply) -> dict[str, Any]:
    document = _document(reply)
    if document.get("client_id") != client_id:
        raise Refused("invalid_client", "The description of this app is for another address.")
    if any(document.get(name) not in (None, "") for name in SECRET_MEMBERS):
        raise Refused("invalid_client", "The description of this app holds a secret.")
    methods = [method for name in METHOD_MEMBERS for method in listed(document.get(name))]
    if methods and PUBLIC not in methods:
        raise Refused(
            "invalid_client",
            "The description of this app does not offer token_endpoint_auth_method none, "
            "the only one taken here.",
        )
    details, _ = client_details({**document, "token_endpoint_auth_method": PUBLIC})
    return details


def _document(reply: Reply) -> dict[str, Any]:
    kind = reply.headers.get("content-type", "").partition(";")[0].strip()
    if reply.status != 200 or reply.cut or not JSON_TYPE.fullmatch(kind):
        raise Refused("invalid_client", "The description of this app is not a small JSON document.")
    try:
        document = json.loads(reply.body)
    except (ValueError, RecursionError) as error:
        raise Refused("invalid_client", "The description of this app is not JSON.") from error
    if not isinstance(document, dict):
        raise Refused("invalid_client", "The description of this app is not a JSON object.")
    return document


def _kept(reply: Reply) -> timedelta:
    control = reply.headers.get("cache-control", "")
    found = MAX_AGE.search(control)
    if found is None or "no-store" in control.lower() or "no-cache" in control.lower():
        return KEPT_AT_LEAST
    return min(max(timedelta(seconds=int(found[1])), KEPT_AT_LEAST), KEPT_AT_MOST)


def _store(
    client_id: str, details: dict[str, Any], until: datetime, *, now: datetime
) -> OAuthClient:
    with write_transaction():
        client = _find(client_id) or _added(client_id, details, now=now)
        client.given_name = details.get("client_name", "")
        client.details = details
        client.fetched_until = until
    return client


def _added(client_id: str, details: dict[str, Any], *, now: datetime) -> OAuthClient:
    """The client in the session, created here or by a concurrent request."""
    client = OAuthClient(
        id=new_id("cli"),
        client_id=client_id,
        kind=ClientKind.DOCUMENT,
        given_name=details.get("client_name", ""),
        details=details,
        created_at=now,
    )
    try:
        with db.session.begin_nested():
            db.session.add(client)
    except IntegrityError:
        return cast(OAuthClient, _find(client_id))
    return client


def _find(client_id: str) -> OAuthClient | None:
    return db.session.scalars(
        select(OAuthClient).where(
            OAuthClient.client_id == client_id, OAuthClient.kind == ClientKind.DOCUMENT
        )
    ).first()
