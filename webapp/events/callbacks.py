"""Callbacks: which addresses may be one, signed requests to them, challenges and confirmations.

The hook of an automation tool answers 2xx, but cannot send a challenge back. It waits for its
creator, who sees the whole address; once confirmed, it needs no challenge by REST. Only the page
confirms: agents ask. A confirmation belongs to an account and an address, and ends with the
connection that asked or subscribed last.
"""

import binascii
import hmac
import json
import re
import secrets
from base64 import b64decode, b64encode
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy import Row, String, bindparam, column, func, select, table, update

from webapp.base import database
from webapp.base.errors import ErrorCode, InvalidInput, NotFound, StateConflict
from webapp.base.outbound import Bounds, Pinned, Reply, Unreachable, checked_url, fetch, port_of
from webapp.base.vocabulary import DeliveryFailure
from webapp.events.endings import WAITS_FOR, end_subscriptions_at, forget
from webapp.events.subscription_rows import Asked, endpoint_id, store_endpoint
from webapp.records.accounts.models import Account
from webapp.records.audit import SYSTEM, Actor, AuditKind, add_event
from webapp.records.events import CallbackEndpoint, columns_of
from webapp.records.forms import Form, lock_form

PORTS = frozenset({443, 8443})
CONNECT_SECONDS = 5.0
DELIVERY_SECONDS = 10.0  # as ChatGPT's own example and Outpost have it
CHALLENGE_SECONDS = 8.0  # an agent waits for it
REPLY_MAX_BYTES = 64 * 1024
FAILURES = {
    "timed_out": DeliveryFailure.TIMEOUT,
    "tls_failed": DeliveryFailure.TLS_ERROR,
}


def callback_bounds(
    allowed_origins: frozenset[str] = frozenset(),
    *,
    pinned: tuple[Pinned, ...] = (),
    seconds: float = DELIVERY_SECONDS,
) -> Bounds:
    """The bounds of one request to a callback."""
    return Bounds(
        body_bytes=REPLY_MAX_BYTES,
        connect_seconds=CONNECT_SECONDS,
        socket_seconds=seconds,
        total_seconds=seconds,
        ports=PORTS,
        allowed_origins=allowed_origins,
        pinned=pinned,
    )


def check_callback_url(url: str, allowed_origins: frozenset[str] = frozenset()) -> str:
    """Host and port of an address that may be a callback. Raises Unreachable `invalid_url`."""
    parts = checked_url(url, PORTS, allowed_origins)
    host = parts.hostname or ""
    return f"[{host}]:{port_of(parts)}" if ":" in host else f"{host}:{port_of(parts)}"


def post(url: str, headers: dict[str, str], body: bytes, *, bounds: Bounds) -> Reply:
    """POST signed bytes to a callback, once. Raises Unreachable."""
    return fetch(url, headers={"User-Agent": "Askback", **headers}, body=body, bounds=bounds)


def failure_of(outcome: Unreachable | int) -> DeliveryFailure:
    """How agents learn that there was no reply, or one whose status is not 2xx.

    A redirect is the fault of the receiver, as other statuses below 500 are. Why there was no
    connection is not named: it would say which addresses exist inside the network.
    """
    if isinstance(outcome, Unreachable):
        return FAILURES.get(outcome.reason, DeliveryFailure.CONNECTION_REFUSED)
    return DeliveryFailure.HTTP_5XX if outcome >= 500 else DeliveryFailure.HTTP_4XX


PREFIX = "whsec_"
KEY_BYTES = range(24, 65)  # Standard Webhooks, "Signature scheme"
STANDARD_BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}")
MAX_CHARS = len(PREFIX) + 88


def secret_key(secret: str) -> bytes:
    """The key of a secret `whsec_…`; padding may be missing. Raises ValueError with the reason."""
    if not secret.startswith(PREFIX):
        raise ValueError(f"does not begin with {PREFIX}")
    digits = secret.removeprefix(PREFIX)
    if len(secret) > MAX_CHARS or not STANDARD_BASE64.fullmatch(digits):
        raise ValueError(f"is not standard base64 after {PREFIX}")
    try:
        key = b64decode(digits.rstrip("=") + "=" * (-len(digits.rstrip("=")) % 4), validate=True)
    except binascii.Error:
        raise ValueError(f"is not standard base64 after {PREFIX}") from None
    if len(key) not in KEY_BYTES:
        raise ValueError(f"holds {len(key)} bytes; 24 to 64 are needed")
    return key


def signed_headers(
    message_id: str, body: bytes, secrets: Sequence[str], *, subscription_id: str, now: datetime
) -> dict[str, str]:
    """All headers of one POST to a callback, signed at `now` with each secret, newest first.

    Standard Webhooks, "Signature scheme".

    message_id  without a dot, which would blur what is signed
    body        the bytes that are sent, in UTF-8
    now         with a time zone
    """
    if now.tzinfo is None or "." in message_id:
        raise ValueError("a naive time, or a dot in the id, would sign something else")
    timestamp = str(int(now.timestamp()))
    signed = b".".join((message_id.encode(), timestamp.encode(), body))
    digests = (hmac.digest(secret_key(secret), signed, "sha256") for secret in secrets)
    return {
        "Content-Type": "application/json",
        "webhook-id": message_id,
        "webhook-timestamp": timestamp,
        "webhook-signature": " ".join(f"v1,{b64encode(each).decode()}" for each in digests),
        "X-MCP-Subscription-Id": subscription_id,
    }


CHALLENGE_BYTES = 32
MEDIA_TYPE = re.compile(
    r"(application|audio|font|image|message|multipart|text|video)/[a-z0-9.+-]{1,40}", re.I
)


class Unverified(NamedTuple):
    """Why a callback is not verified.

    answered  status, length and type of what came instead; "" for nothing
    taken     it answered 2xx, as it would to an event
    """

    failure: DeliveryFailure
    answered: str = ""
    taken: bool = False


def send_challenge(
    url: str, secret: str, subscription_id: str, *, bounds: Bounds
) -> Unverified | None:
    """Ask a callback, once, to prove that it takes the events of a subscription; None if it does.

    Takes as long as `bounds` let it: no transaction and no connection may be open.
    """
    challenge = secrets.token_urlsafe(CHALLENGE_BYTES)
    body = json.dumps({"type": "verification", "challenge": challenge}).encode()
    headers = signed_headers(
        f"msg_verification_{secrets.token_hex(12)}",
        body,
        [secret],
        subscription_id=subscription_id,
        now=database.utc_now(),
    )
    try:
        reply = post(url, headers, body, bounds=bounds)
    except Unreachable as failure:
        is_garbled = failure.reason == "invalid_reply"
        return Unverified(DeliveryFailure.CHALLENGE_FAILED if is_garbled else failure_of(failure))
    return _judged(reply, challenge)


def _judged(reply: Reply, challenge: str) -> Unverified | None:
    if reply.status >= 400:
        return Unverified(failure_of(reply.status), _described(reply))
    taken = 200 <= reply.status < 300
    echoed = taken and _echo(reply)
    sent_back = echoed.encode(errors="replace") if isinstance(echoed, str) else b""
    if hmac.compare_digest(sent_back, challenge.encode()):
        return None
    return Unverified(DeliveryFailure.CHALLENGE_FAILED, _described(reply), taken)


def _described(reply: Reply) -> str:
    """Its status, length and type, without its content."""
    media_type = MEDIA_TYPE.match(reply.headers.get("content-type", ""))
    size = f"more than {len(reply.body):,}" if reply.cut else f"{len(reply.body):,}"
    return f"{reply.status} with {size} bytes of {media_type[0] if media_type else 'no type'}"


def _echo(reply: Reply) -> object:
    """What the answer has as its challenge; None where it is no JSON object of 64 KiB."""
    try:
        answered = json.loads(b"" if reply.cut else reply.body)
    except (ValueError, RecursionError):
        return None
    return answered.get("challenge") if isinstance(answered, dict) else None


VERIFIED_FOR = timedelta(hours=24)  # how long an address needs no further challenge
ASKED_AGAIN_AFTER = timedelta(minutes=10)  # while it waits for its creator
WAITING_MAX = 20  # addresses of an account that wait for their creator

_E = CallbackEndpoint


class KnownCallback(NamedTuple):
    """What is stored of an address, which may make a challenge unnecessary.

    verified   a challenge was answered within VERIFIED_FOR
    confirmed  by its creator
    answered   what came instead within ASKED_AGAIN_AFTER, of an address that waits for its creator
    """

    verified: bool = False
    confirmed: bool = False
    answered: str | None = None


class ListedCallback(NamedTuple):
    """A callback that waits for its creator, or that they confirmed.

    answered  status, length and type of what came instead of its challenge
    title     of the form that it was asked for; None where that is deleted
    """

    id: str
    url: str
    host: str
    answered: str
    asked_at: datetime | None
    confirmed_at: datetime | None
    grant_id: str
    title: str | None


def read_callback(asked: Asked, *, now: datetime) -> KnownCallback:
    """In no transaction."""
    callback = endpoint_id(asked.account_id, asked.url)
    found = database.read_rows(_ONE, account=asked.account_id, callback=callback)
    if not found:
        return KnownCallback()
    row = found[0]
    verified = row.verified_at is not None and row.verified_at > now - VERIFIED_FOR
    waits = row.asked_at is not None and row.asked_at > now - ASKED_AGAIN_AFTER
    return KnownCallback(verified, row.confirmed_at is not None, row.answered if waits else None)


@database.tried_again
def note_verified(asked: Asked, *, now: datetime) -> None:
    """The address has just answered its challenge: nobody has to confirm it. Commits.

    raises  as `note_unverified`
    """
    with database.write_transaction():
        endpoint = _hold(asked)
        store_endpoint(endpoint, asked.account_id, asked.host, verified=True, now=now)
        database.execute(forget((_E.id == endpoint) & _E.asked_at.is_not(None)))


@database.tried_again
def note_unverified(asked: Asked, answered: str, *, now: datetime) -> bool:
    """Let the address wait for its creator; False if WAITING_MAX others do. Commits.

    raises  NotFound `form_not_found`; StateConflict `authentication_required`
    """
    with database.write_transaction():
        endpoint, account_id = _hold(asked), asked.account_id
        others = database.execute(
            _COUNT_OTHERS, account=account_id, callback=endpoint, since=now - WAITS_FOR
        )
        if others.scalar_one() >= WAITING_MAX:
            return False
        store_endpoint(endpoint, account_id, asked.host, verified=False, now=now)
        waits = update(_E).where(_E.id == endpoint, _E.confirmed_at.is_(None))
        values = {"url": asked.url, "asked_form_id": asked.form_id, "grant_id": asked.grant_id}
        database.execute(waits.values(**values, asked_at=now, answered=answered))
    return True


def require_confirmed(asked: Asked) -> None:
    """Hold the confirmation of a callback, which is bound to this connection from now on.

    In the transaction that subscribes. raises InvalidInput `callback_failed`
    """
    endpoint = endpoint_id(asked.account_id, asked.url)
    if not database.execute(_HOLD_CONFIRMED, callback=endpoint, grant=asked.grant_id).rowcount:
        message = "url: is not confirmed any more."
        remedy = "Send the same request again."
        raise InvalidInput(ErrorCode.CALLBACK_FAILED, message, remedy, field="url")


def list_callbacks(account_id: str, *, now: datetime) -> list[ListedCallback]:
    """Those that wait first, each group by its age."""
    found = database.read_rows(_LISTED, account=account_id, since=now - WAITS_FOR)
    return [ListedCallback._make(row) for row in found]


def confirm_callback(
    account_id: str,
    callback_id: str,
    *,
    allowed_origins: frozenset[str],
    now: datetime,
    by: Actor = SYSTEM,
) -> None:
    """The creator confirms an address that waits; again does nothing.

    raises  NotFound; InvalidInput `validation_failed` for one that is no callback any more
    """
    with database.write_transaction():
        row = _locked(account_id, callback_id)
        if row.confirmed_at is not None:
            return
        if row.asked_at is None or row.asked_at <= now - WAITS_FOR:
            raise _no_callback()
        try:
            check_callback_url(row.url or "", allowed_origins)
        except Unreachable:
            raise InvalidInput(
                ErrorCode.VALIDATION_FAILED,
                "Nothing can be sent to this address.",
                "Ask the operator of this server which addresses of its network are allowed.",
            ) from None
        confirmed = database.execute(_CONFIRM, callback=callback_id, moment=now).rowcount
        if not confirmed:  # its agent was disconnected just now
            raise _no_callback()
        kind = AuditKind.CALLBACK_CONFIRMED
        add_event(kind, account_id, by=by, now=now, subject=row.asked_form_id)


def forget_callback(
    account_id: str, callback_id: str, *, now: datetime, by: Actor = SYSTEM
) -> None:
    """The creator removes an address: its subscriptions end; again does nothing.

    raises  NotFound
    """
    with database.write_transaction():
        row = _locked(account_id, callback_id)
        if row.url is None:
            return
        end_subscriptions_at(callback_id, now=now)
        kind = AuditKind.CALLBACK_REMOVED
        add_event(kind, account_id, by=by, now=now, subject=row.asked_form_id)


def _locked(account_id: str, callback_id: str) -> Row[*tuple[object, ...]]:
    """A callback of the account, which is locked. raises NotFound"""
    lock_account(account_id)
    row = database.execute(_ONE, account=account_id, callback=callback_id).one_or_none()
    if row is None:
        raise _no_callback()
    return row


def _no_callback() -> NotFound:
    return NotFound(
        ErrorCode.NOT_FOUND,
        "This address does not wait for you any more.",
        "If your agent still wants it, let it ask again.",
    )


def lock_account(account_id: str) -> None:
    """Serialise what changes the number of subscriptions or callbacks of an account."""
    database.execute(_LOCK_ACCOUNT, account=account_id)


def require_connection(grant_id: str) -> None:
    """Lock the connection against a concurrent end. raises StateConflict if it has ended"""
    grant = database.execute(_HOLD_GRANT, grant=grant_id).one_or_none()
    if grant is None or grant.revoked_at is not None:
        raise StateConflict(
            ErrorCode.AUTHENTICATION_REQUIRED,
            "The connection of this access token has ended.",
            "Ask the creator for consent again.",
        )


def _hold(asked: Asked) -> str:
    """Take the locks of subscribing; returns the id of the endpoint."""
    lock_account(asked.account_id)
    require_connection(asked.grant_id)
    lock_form(asked.account_id, asked.form_id)
    return endpoint_id(asked.account_id, asked.url)


# the model of connections belongs to a layer above
_GRANTS = table("oauth_grants", column("id", String), column("revoked_at", database.UtcDateTime))
_HOLD_GRANT = (
    select(_GRANTS.c.revoked_at)
    .where(_GRANTS.c.id == bindparam("grant"))
    .with_for_update(read=True)
)
_LOCK_ACCOUNT = (
    select(Account.id).where(Account.id == bindparam("account")).with_for_update(key_share=True)
)
_LISTED = (
    select(*columns_of(ListedCallback, _E, Form))
    .outerjoin(Form, (Form.id == _E.asked_form_id) & Form.deleted_at.is_(None))
    .where(
        _E.account_id == bindparam("account"),
        _E.confirmed_at.is_not(None)
        | (_E.asked_at > bindparam("since", type_=database.UtcDateTime)),
    )
    .order_by(_E.confirmed_at.is_not(None), _E.confirmed_at, _E.asked_at, _E.id)
)
_ONE = select(
    *(_E.url, _E.verified_at, _E.answered, _E.asked_at, _E.confirmed_at, _E.asked_form_id)
).where(_E.account_id == bindparam("account"), _E.id == bindparam("callback"))
_CONFIRM = (
    update(_E)
    .where(_E.id == bindparam("callback"), _E.asked_at.is_not(None))
    .values(confirmed_at=bindparam("moment", type_=database.UtcDateTime), asked_at=None)
)
_COUNT_OTHERS = select(func.count(_E.id)).where(
    _E.account_id == bindparam("account"),
    _E.id != bindparam("callback"),
    _E.asked_at > bindparam("since", type_=database.UtcDateTime),
)
_HOLD_CONFIRMED = (
    update(_E)
    .where(_E.id == bindparam("callback"), _E.confirmed_at.is_not(None))
    .values(grant_id=bindparam("grant"))
)
