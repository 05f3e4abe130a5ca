"""Requests to callbacks: their bounds, signature and challenge."""

import binascii
import hmac
import json
import re
import secrets
from base64 import b64decode, b64encode
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from webapp.base.database import utc_now
from webapp.base.outbound import Bounds, Pinned, Reply, Unreachable, checked_url, fetch, port_of
from webapp.base.vocabulary import DeliveryFailure

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
        now=utc_now(),
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
