"""The verification of a callback: it has to send back what only the holder of its secret expects.

SEP-3415, "Callback verification".
"""

import json
import re
import secrets
from hmac import compare_digest
from typing import NamedTuple

from webapp.database import utc_now
from webapp.domain.events.callbacks.requests import failure_of, post
from webapp.domain.events.callbacks.signing import signed_headers
from webapp.domain.shared.vocabulary import DeliveryFailure
from webapp.outbound import Bounds, Reply, Unreachable

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
    if compare_digest(sent_back, challenge.encode()):
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
