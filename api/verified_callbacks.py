"""Subscribing: the address is asked to verify, then the subscription is stored."""

from collections.abc import Callable

from flask import g

from webapp.config import settings
from webapp.data_keys import cursor_key, sealer
from webapp.database import utc_now
from webapp.domain.events.callbacks.requests import CHALLENGE_SECONDS
from webapp.domain.events.subscriptions.identity import subscription_id
from webapp.domain.events.subscriptions.subscribing import (
    Asked,
    Granted,
    TtlBounds,
    needs_challenge,
    subscribe,
)
from webapp.domain.shared.error_codes import ErrorCode
from webapp.domain.shared.errors import InvalidInput, StateConflict
from webapp.domain.shared.vocabulary import DeliveryFailure
from webapp.oauth.guard import Caller, acting_agent
from webapp.web.rate_limits.challenges import challenge

LATER = "Send the same request again once the address answers "
REMEDIES = {
    DeliveryFailure.CONNECTION_REFUSED: "Give the address a host name that has public network "
    "addresses only, and something that listens there.",
    DeliveryFailure.TIMEOUT: f"{LATER}within {CHALLENGE_SECONDS:.0f} seconds.",
    DeliveryFailure.TLS_ERROR: "Give the address a certificate for its name, of an authority that "
    "everybody knows.",
    DeliveryFailure.HTTP_4XX: f"{LATER}with a status of 200 to 299.",
    DeliveryFailure.HTTP_5XX: f"{LATER}with a status of 200 to 299.",
    DeliveryFailure.CHALLENGE_FAILED: "Send back the challenge that is posted to the address, as "
    'the JSON {"challenge": "…"}, with a status of 200 to 299 and not by a redirect.',
}


class UnverifiedCallback(InvalidInput):
    """The address did not answer its challenge; `failure` says how."""

    def __init__(self, failure: DeliveryFailure) -> None:
        message = f"url: did not answer the challenge ({failure})."
        super().__init__(ErrorCode.CALLBACK_FAILED, message, REMEDIES[failure], field="url")
        self.failure = failure


def subscribe_verified(asked: Asked, *, authorize: Callable[[], Caller]) -> Granted:
    """Store or refresh a subscription of the current caller, after a challenge where one is due.

    authorize  the caller whose token is valid just now; a challenge takes its time
    raises     UnverifiedCallback; RateLimited; what `subscribe` and `authorize` raise
    """
    verified = _is_verified_now(asked)
    caller = authorize()
    try:
        return subscribe(
            asked,
            verified=verified,
            sealer=sealer(),
            cursor_key=cursor_key(),
            bounds=_ttl_bounds(),
            grant_ends=caller.grant_expires_at,
            now=utc_now(),
            by=acting_agent(),
        )
    except StateConflict as refusal:
        if refusal.code is ErrorCode.AUTHENTICATION_REQUIRED:  # the connection ended just now
            authorize()
        raise


def _ttl_bounds() -> TtlBounds:
    config = settings()
    return TtlBounds(
        config.subscription_seconds_min,
        config.subscription_seconds_default,
        config.subscription_seconds_max,
    )


def _is_verified_now(asked: Asked) -> bool:
    """True if the address has just answered a challenge, False if it needed none.

    It is asked once: the view runs again when the database gave its transaction up.
    """
    if "challenge_answered" not in g:
        needed = needs_challenge(asked, now=utc_now())
        if needed:
            _challenge(asked)
        g.challenge_answered = needed
    return bool(g.challenge_answered)


def _challenge(asked: Asked) -> None:
    key = subscription_id(asked.account_id, asked.form_id, asked.url)
    failure = challenge(asked.account_id, asked.host, asked.url, asked.secret, key)
    if failure is not None:
        raise UnverifiedCallback(failure)
