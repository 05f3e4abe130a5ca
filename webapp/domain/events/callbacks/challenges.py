"""The verification of a callback: it has to send back what only the holder of its secret expects.

SEP-3415, "Callback verification".
"""

import json
import secrets
from hmac import compare_digest

from webapp.database import utc_now
from webapp.domain.events.callbacks.requests import failure_of, post
from webapp.domain.events.callbacks.signing import signed_headers
from webapp.domain.shared.vocabulary import DeliveryFailure
from webapp.outbound import Bounds, Reply, Unreachable

CHALLENGE_BYTES = 32


def send_challenge(
    url: str, secret: str, subscription_id: str, *, bounds: Bounds
) -> DeliveryFailure | None:
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
        return DeliveryFailure.CHALLENGE_FAILED if is_garbled else failure_of(failure)
    return _judged(reply, challenge)


def _judged(reply: Reply, challenge: str) -> DeliveryFailure | None:
    if reply.status >= 400:
        return failure_of(reply.status)
    echoed = 200 <= reply.status < 300 and _echo(reply)
    sent_back = echoed.encode(errors="replace") if isinstance(echoed, str) else b""
    same = compare_digest(sent_back, challenge.encode())
    return None if same else DeliveryFailure.CHALLENGE_FAILED


def _echo(reply: Reply) -> object:
    """What the answer has as its challenge; None where it is no JSON object of 64 KiB."""
    try:
        answered = json.loads(b"" if reply.cut else reply.body)
    except (ValueError, RecursionError):
        return None
    return answered.get("challenge") if isinstance(answered, dict) else None
