"""Subscribing: the address is asked to verify, then the subscription is stored."""

from collections.abc import Callable
from functools import partial

from flask import g

from webapp.config import settings
from webapp.data_keys import cursor_key, sealer
from webapp.database import utc_now
from webapp.domain.events.callbacks.challenges import Unverified
from webapp.domain.events.callbacks.requests import CHALLENGE_SECONDS
from webapp.domain.events.subscriptions.confirming import (
    ASKED_AGAIN_AFTER,
    WAITING_MAX,
    note_unverified,
    note_verified,
    read_callback,
)
from webapp.domain.events.subscriptions.identity import Asked, subscription_id
from webapp.domain.events.subscriptions.subscribing import (
    TTL_BOUNDS,
    Granted,
    check_asked,
    subscribe,
)
from webapp.domain.shared.error_codes import ErrorCode
from webapp.domain.shared.errors import InvalidInput, StateConflict
from webapp.domain.shared.vocabulary import DeliveryFailure
from webapp.oauth.guard import Caller, acting_agent
from webapp.web.rate_limits.challenges import challenge, shared

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
CONFIRM = (
    "If it cannot, as hooks of automation tools, let the creator of the form confirm it, once, at "
    "{page}; then send the same request again: it succeeds without a challenge. Otherwise: {remedy}"
    " Until it is confirmed, it is challenged again after "
    f"{ASKED_AGAIN_AFTER.seconds // 60} minutes."
)
TOO_MANY_WAIT = (
    "{remedy} The creator of the form could confirm it instead, but "
    f"{WAITING_MAX} other addresses wait for that: "
    "ask them to decide on those at {page} first."
)


class UnverifiedCallback(InvalidInput):
    """The address did not answer its challenge; `failure` says how.

    otherwise  what to do, with fields for the usual remedy and for the page of the creator
    """

    def __init__(self, unverified: Unverified, otherwise: str = "{remedy}") -> None:
        self.failure, answered = unverified.failure, unverified.answered
        instead = f": what came instead is {answered}" if answered else ""
        message = f"url: did not answer the challenge ({self.failure}){instead}."
        page = f"{settings().public_url}/connections#addresses-label"
        remedy = otherwise.format(page=page, remedy=REMEDIES[self.failure])
        super().__init__(ErrorCode.CALLBACK_FAILED, message, remedy, field="url")


def subscribe_verified(
    asked: Asked, *, authorize: Callable[[], Caller], confirmable: bool = False
) -> Granted:
    """Store or refresh a subscription of the current caller, after a challenge where one is due.

    authorize    the caller whose token is valid just now; a challenge takes its time
    confirmable  a confirmation by the creator replaces the challenge
    raises       UnverifiedCallback; RateLimited; what `subscribe` and `authorize` raise
    """
    try:
        return subscribe(
            asked,
            confirmed=_prove_once(asked, confirmable=confirmable),
            sealer=sealer(),
            cursor_key=cursor_key(),
            bounds=TTL_BOUNDS,
            grant_ends=authorize().grant_expires_at,
            now=utc_now(),
            by=acting_agent(),
        )
    except StateConflict as refusal:
        if refusal.code is ErrorCode.AUTHENTICATION_REQUIRED:  # the connection ended just now
            authorize()
        raise


def _prove_once(asked: Asked, *, confirmable: bool) -> bool:
    """Whether its creator has confirmed the address; otherwise it has answered a challenge.

    Once for each request: the view runs again when the database gave its transaction up.
    """
    if "is_confirmed" not in g:
        check_asked(asked, now=utc_now())
        key = ("callback", asked.account_id, asked.url, asked.secret, confirmable)
        prove = partial(_prove, asked, confirmable=confirmable)
        g.is_confirmed = shared(key, asked.account_id, prove)
    return bool(g.is_confirmed)


def _prove(asked: Asked, *, confirmable: bool) -> bool:
    """The same by what is stored, or by a challenge. raises UnverifiedCallback"""
    known = read_callback(asked, now=utc_now())
    if known.verified:
        return False
    if confirmable and known.confirmed:
        return True
    if confirmable and known.answered is not None:
        failure = DeliveryFailure.CHALLENGE_FAILED
        raise UnverifiedCallback(Unverified(failure, known.answered), CONFIRM)
    key = subscription_id(asked.account_id, asked.form_id, asked.url)
    unverified = challenge(asked.account_id, asked.host, asked.url, asked.secret, key)
    if unverified is None:
        note_verified(asked, now=utc_now())
        return False
    if not (confirmable and unverified.taken):
        raise UnverifiedCallback(unverified)
    waits = note_unverified(asked, unverified.answered, now=utc_now())
    raise UnverifiedCallback(unverified, CONFIRM if waits else TOO_MANY_WAIT)
