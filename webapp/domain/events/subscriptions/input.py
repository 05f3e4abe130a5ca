"""SubscriptionInput: where an agent wants events to be sent, and for how long."""

from typing import Annotated, NamedTuple

from pydantic import Field, StrictStr

from webapp.domain.content.draft_fields import STORABLE, whole_number
from webapp.domain.events.callbacks.requests import check_callback_url
from webapp.domain.events.callbacks.signing import secret_key
from webapp.domain.shared.error_codes import ErrorCode
from webapp.domain.shared.errors import InvalidInput
from webapp.domain.shared.input_model import InputModel
from webapp.outbound import URL_MAX_CHARS, Unreachable

SECONDS_MAX = 10**9  # our choice: some thirty years, which any clock can add
NAMED = (
    "Send the https address of a host name, on port 443 or 8443, without user name and fragment, "
    f"in at most {URL_MAX_CHARS} printable ASCII characters. Other origins have to be allowed by "
    "the operator of this server."
)
RANDOM = "Send whsec_ and 24 to 64 random bytes in base64, as Standard Webhooks has it."


class SubscriptionInput(InputModel):
    """A callback for the events of one form."""

    url: Annotated[
        StrictStr,
        Field(
            max_length=URL_MAX_CHARS,
            description=(
                "The https address that takes the events; it stays as it is sent and tells "
                "subscriptions of a form apart. Sends back a challenge, or is confirmed by "
                "the creator."
            ),
        ),
        STORABLE,
    ]
    secret: Annotated[
        StrictStr,
        Field(
            description=(
                "`whsec_` and 24 to 64 random bytes in base64 (Standard Webhooks), with which "
                "everything is signed. A new one replaces it; for 24 hours both sign."
            ),
        ),
        STORABLE,
    ]
    ttl_seconds: Annotated[
        Annotated[int, Field(ge=1, le=SECONDS_MAX), whole_number(SECONDS_MAX, 1)] | None,
        Field(
            description=(
                "How long the subscription should last. `refreshBefore` says how long it does: "
                "never longer than the server allows or the connection lasts."
            ),
        ),
    ] = None
    cursor: Annotated[
        Annotated[StrictStr, STORABLE] | None,
        Field(
            description=(
                "That of the last event or of an earlier answer: a new or lapsed subscription "
                "sends what came after it. Without it, what comes from here on."
            ),
        ),
    ] = None
    max_age_seconds: Annotated[
        Annotated[int, Field(ge=0, le=SECONDS_MAX), whole_number(SECONDS_MAX)] | None,
        Field(description="Of what came after `cursor`, send nothing older."),
    ] = None


class Callback(NamedTuple):
    """A callback whose syntax was checked; `host` has its port."""

    url: str
    host: str
    secret: str


def check_callback(url: str, secret: str, allowed_origins: frozenset[str]) -> Callback:
    """A callback that may be asked. raises InvalidInput `validation_failed`, without the secret"""
    try:
        host = check_callback_url(url, allowed_origins)
    except Unreachable:
        raise _refused("url", "is not an address that events are sent to", NAMED) from None
    try:
        secret_key(secret)
    except ValueError as reason:
        raise _refused("secret", str(reason), RANDOM) from None
    return Callback(url, host, secret)


def _refused(field: str, reason: str, resolution: str) -> InvalidInput:
    message = f"{field}: {reason}."
    return InvalidInput(ErrorCode.VALIDATION_FAILED, message, resolution, field=field)
