"""REST routes of subscriptions, and the challenge to their callbacks."""

from collections.abc import Callable
from functools import partial, wraps
from http import HTTPStatus
from typing import Any, ParamSpec

from flask import Response, g

from api.blueprint import bp
from api.bodies import json_answer, json_body
from api.challenges import challenge, shared
from api.rate_limits import limit_subscribes
from api.wire.subscriptions import granted_subscription, subscription_list
from webapp.base.config import settings
from webapp.base.database import utc_now
from webapp.base.errors import ErrorCode, InvalidInput, NotFound, StateConflict, parse_input
from webapp.base.sealing import cursor_key, sealer
from webapp.base.vocabulary import DeliveryFailure, Scope
from webapp.events import callbacks, subscriptions
from webapp.events.callbacks import CHALLENGE_SECONDS, Asked, Unverified
from webapp.events.endings import unsubscribe
from webapp.oauth.guard import Caller, acting_agent, check_scope, current_caller, require_scope

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
    f"{callbacks.ASKED_AGAIN_AFTER.seconds // 60} minutes."
)
TOO_MANY_WAIT = (
    "{remedy} The creator of the form could confirm it instead, but "
    f"{callbacks.WAITING_MAX} other addresses wait for that: "
    "ask them to decide on those at {page} first."
)


class UnverifiedCallback(InvalidInput):
    """A callback that did not answer its challenge; `failure` is the cause.

    otherwise  the resolution, with fields for the usual remedy and the creator's page
    """

    def __init__(self, unverified: Unverified, otherwise: str = "{remedy}") -> None:
        self.failure, answered = unverified.failure, unverified.answered
        instead = f": what came instead is {answered}" if answered else ""
        message = f"url: did not answer the challenge ({self.failure}){instead}."
        page = f"{settings().public_url}/connections#addresses-label"
        remedy = otherwise.format(page=page, remedy=REMEDIES[self.failure])
        super().__init__(ErrorCode.CALLBACK_FAILED, message, remedy, field="url")


def subscribe_verified(
    form_id: str, *, authorize: Callable[[], Caller], confirmable: bool = False, **given: Any
) -> subscriptions.Granted:
    """Store or refresh a subscription of the current caller, after a challenge if one is due.

    authorize    checks the token again after the challenge, which may take seconds
    confirmable  a confirmation by the creator replaces the challenge
    given        other fields of Asked
    raises       UnverifiedCallback; RateLimited; what `subscribe` and `authorize` raise
    """
    caller, allowed = current_caller(), settings().mcp_events_callback_allowlist
    host = subscriptions.check_callback(given["url"], given["secret"], allowed)
    asked = Asked(caller.account_id, form_id, caller.grant_id, host=host, **given)
    try:
        return subscriptions.subscribe(
            asked,
            confirmed=_prove_once(asked, confirmable=confirmable),
            sealer=sealer(),
            cursor_key=cursor_key(),
            grant_ends=authorize().grant_expires_at,
            now=utc_now(),
            by=acting_agent(),
        )
    except StateConflict as refusal:
        if refusal.code is ErrorCode.AUTHENTICATION_REQUIRED:  # the connection has just ended
            authorize()
        raise


def _prove_once(asked: Asked, *, confirmable: bool) -> bool:
    """Return True if the creator confirmed the address, False if it answered a challenge.

    Runs once per request, although the view runs again if the database aborts its transaction.
    """
    if "is_confirmed" not in g:
        subscriptions.check_asked(asked, now=utc_now())
        key = ("callback", asked.account_id, asked.url, asked.secret, confirmable)
        g.is_confirmed = shared(key, asked.account_id, lambda: _prove(asked, confirmable))
    return bool(g.is_confirmed)


def _prove(asked: Asked, confirmable: bool) -> bool:  # noqa: FBT001
    """Look for a stored proof, otherwise challenge the address. raises UnverifiedCallback"""
    known = callbacks.read_callback(asked, now=utc_now())
    if known.verified:
        return False
    if confirmable and known.confirmed:
        return True
    if confirmable and known.answered is not None:
        failure = DeliveryFailure.CHALLENGE_FAILED
        raise UnverifiedCallback(Unverified(failure, known.answered), CONFIRM)
    key = subscriptions.subscription_id(asked.account_id, asked.form_id, asked.url)
    unverified = challenge(asked.account_id, asked.host, asked.url, asked.secret, key)
    if unverified is None:
        callbacks.note_verified(asked, now=utc_now())
        return False
    if not (confirmable and unverified.taken):
        raise UnverifiedCallback(unverified)
    waits = callbacks.note_unverified(asked, unverified.answered, now=utc_now())
    raise UnverifiedCallback(unverified, CONFIRM if waits else TOO_MANY_WAIT)


P = ParamSpec("P")


def only_with_events(view: Callable[P, Response]) -> Callable[P, Response]:
    """Answer 404 if MCP_EVENTS_ENABLED is off."""

    @wraps(view)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> Response:
        if not settings().mcp_events_enabled:
            raise NotFound(
                ErrorCode.NOT_FOUND,
                "There is nothing at this address: events are switched off on this server.",
                "Read the responses with GET /forms/{formId}/responses?since= instead.",
            )
        return view(*args, **kwargs)

    return guarded


@bp.post("/forms/<form_id>/subscriptions")
@only_with_events
@require_scope(Scope.RESPONSES_READ)
@limit_subscribes
def create_subscription(form_id: str) -> Response:
    """createSubscription: make or renew a subscription (200 Subscription)."""
    given, _ = json_body()
    sent = parse_input(subscriptions.SubscriptionInput, given)
    max_age = sent.max_age_seconds
    granted = subscribe_verified(
        form_id,
        authorize=partial(check_scope, Scope.RESPONSES_READ),
        confirmable=True,
        max_age_ms=None if max_age is None else max_age * 1000,
        **sent.model_dump(exclude={"max_age_seconds"}),
    )
    return json_answer(granted_subscription(granted))


@bp.get("/forms/<form_id>/subscriptions")
@only_with_events
@require_scope(Scope.RESPONSES_READ)
def list_form_subscriptions(form_id: str) -> Response:
    """listSubscriptions: the live subscriptions of a form (200 SubscriptionList)."""
    account_id = current_caller().account_id
    found = subscriptions.list_subscriptions(account_id, form_id, now=utc_now())
    return json_answer(subscription_list(found))


@bp.delete("/forms/<form_id>/subscriptions/<subscription_id>")
@only_with_events
@require_scope(Scope.RESPONSES_READ)
def delete_subscription(form_id: str, subscription_id: str) -> Response:
    """deleteSubscription: end a subscription, even if it has already ended (204)."""
    account_id = current_caller().account_id
    unsubscribe(account_id, form_id, subscription_id, now=utc_now(), by=acting_agent())
    return Response(status=HTTPStatus.NO_CONTENT, headers={"Cache-Control": "private, no-store"})
