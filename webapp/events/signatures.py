"""Secrets and signed headers of webhooks. Source: Standard Webhooks, "Signature scheme"."""

import hmac
from base64 import b64decode, b64encode
from collections.abc import Sequence
from datetime import datetime

PREFIX = "whsec_"
KEY_BYTES = range(24, 65)


def secret_key(secret: str) -> bytes:
    """Decode the key of a secret `whsec_…`, padded or not. Raises ValueError with the reason."""
    if not secret.startswith(PREFIX):
        raise ValueError(f"does not begin with {PREFIX}")
    digits = secret.removeprefix(PREFIX)
    try:
        key = b64decode(digits + "=" * (-len(digits) % 4), validate=True)
    except ValueError:
        raise ValueError(f"is not standard base64 after {PREFIX}") from None
    if len(key) not in KEY_BYTES:
        raise ValueError(f"holds {len(key)} bytes; 24 to 64 are needed")
    return key


def signed_headers(
    message_id: str, body: bytes, secrets: Sequence[str], *, subscription_id: str, now: datetime
) -> dict[str, str]:
    """Return all headers of one POST to a callback, signed with each secret, newest first.

    The id must have no dot: dots separate the signed parts.
    """
    timestamp = str(int(now.timestamp()))
    signed = b".".join((message_id.encode(), timestamp.encode(), body))
    digests = (hmac.digest(secret_key(secret), signed, "sha256") for secret in secrets)
    return {
        "User-Agent": "Askback",
        "Content-Type": "application/json",
        "webhook-id": message_id,
        "webhook-timestamp": timestamp,
        "webhook-signature": " ".join(f"v1,{b64encode(each).decode()}" for each in digests),
        "X-MCP-Subscription-Id": subscription_id,
    }
