"""Signatures of what is sent to callbacks, as Standard Webhooks 1.0.0 has them."""

import binascii
import re
from base64 import b64decode
from collections.abc import Sequence
from datetime import UTC, datetime

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

    message_id  without a dot, which would blur what is signed
    body        the bytes that are sent, in UTF-8
    now         with a time zone
    """
    from standardwebhooks import Webhook  # 5 MiB that a process that sends nothing does without

    if now.tzinfo is None or "." in message_id:
        raise ValueError("a naive time, or a dot in the id, would sign something else")
    text, utc = body.decode(), now.astimezone(UTC)  # the library reads any clock as UTC
    signatures = (Webhook(secret_key(secret)).sign(message_id, utc, text) for secret in secrets)
    return {
        "Content-Type": "application/json",
        "webhook-id": message_id,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": " ".join(signatures),
        "X-MCP-Subscription-Id": subscription_id,
    }
