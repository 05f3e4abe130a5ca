"""REST routes of subscriptions; challenges to their callbacks, and the limits of these."""

from http import HTTPStatus
from typing import Any

from flask import Flask, Response, current_app
from limits import parse

from api.bodies import json_answer, json_body
from api.errors import bp, too_many
from api.rate_limits import limit_subscribes
from api.wire import forms, types
from webapp.base import config, database, errors, sealing
from webapp.base.vocabulary import DeliveryFailure, Scope
from webapp.events import callbacks, endings, subscriptions
from webapp.events.callbacks import CHALLENGE_SECONDS, Asked, Unverified
from webapp.oauth.guard import acting_agent, authenticate, current_caller, guarded_by, require_scope
from webapp.records.forms import get_form
from webapp.web.limiter import limiter, rate_in_words, seconds_until_free
from webapp.web.wakeups import RETRY_SECONDS, NoSlot, Slots

OF_ACCOUNT = parse("30/minute")
FAILED_OF_HOST = parse("10/minute")
FAILED_BY_ACCOUNT = parse("4/minute")  # per host: two accounts together stay below its limit
CHALLENGES_AT_ONCE = 6  # each holds a thread
CHALLENGES_OF_ACCOUNT = 4
FAILURES = "challenge_failures"  # counted by host, and by host and account


def init_app(app: Flask) -> None:
    """Create the slots for challenges."""
    app.extensions["challenges"] = Slots(CHALLENGES_AT_ONCE, CHALLENGES_OF_ACCOUNT)


def challenge(
    account_id: str, host: str, url: str, secret: str, subscription_id: str
) -> Unverified | None:
    """Challenge a callback once, within the limits; return None if it verifies.

    host  of `url`, with its port
    Releases the database connections first. raises RateLimited
    """
    places: Slots = current_app.extensions["challenges"]
    allowed = config.settings().mcp_events_callback_allowlist
    bounds = callbacks.callback_bounds(allowed, seconds=CHALLENGE_SECONDS)
    database.release_connections()
    try:
        with places.slot(account_id):
            if config.settings().write_limits:
                _count(account_id, host)
            failure = callbacks.send_challenge(url, secret, subscription_id, bounds=bounds)
    except NoSlot:
        message = "Too many challenges of callbacks are under way."
        raise too_many(message, RETRY_SECONDS) from None
    if failure is not None and config.settings().write_limits:
        _count_failure(account_id, host)
    return failure


def _count(account_id: str, host: str) -> None:
    """Count a challenge. raises RateLimited"""
    of_host = "failed challenges of one host"
    for counted, limit, key in (
        (of_host, FAILED_OF_HOST, (FAILURES, host)),
        (f"{of_host} by one account", FAILED_BY_ACCOUNT, (FAILURES, host, account_id)),
        ("challenges", OF_ACCOUNT, ("challenges", account_id)),
    ):
        has_room = limiter.limiter.hit if limit is OF_ACCOUNT else limiter.limiter.test
        if not has_room(limit, *key):
            message = f"Too many write operations: {rate_in_words(counted, limit)}."
            raise too_many(message, seconds_until_free(limit, key))


def _count_failure(account_id: str, host: str) -> None:
    """Count a failure for the account and, while the account is within its limit, for the host."""
    if limiter.limiter.hit(FAILED_BY_ACCOUNT, FAILURES, host, account_id):
        limiter.limiter.hit(FAILED_OF_HOST, FAILURES, host)


WORDS = errors.TEXTS["callback_failed"]


class UnverifiedCallback(errors.InvalidInput):
    """A callback that did not answer its challenge; `failure` is the cause.

    instead  what the creator can do, by its name in `error_codes.toml`; empty for nothing
    """

    def __init__(self, unverified: Unverified, instead: str = "") -> None:
        self.failure, answered = unverified.failure, unverified.answered
        came = f": what came instead is {answered}" if answered else ""
        message = f"url: did not answer the challenge ({self.failure}){came}."
        remedy = WORDS["remedies"][self.failure].format(seconds=CHALLENGE_SECONDS)
        if instead:
            remedy = WORDS["instead"][instead].format(
                page=f"{config.settings().public_url}/connections#addresses-label",
                remedy=remedy,
                minutes=callbacks.ASKED_AGAIN_AFTER.seconds // 60,
                most=callbacks.WAITING_MAX,
            )
        super().__init__(errors.ErrorCode.CALLBACK_FAILED, message, remedy, field="url")


def subscribe_verified(
    form_id: str, *, confirmable: bool = False, **given: Any
) -> subscriptions.Granted:
    """Store or refresh a subscription of the current caller, after a challenge if one is due.

    confirmable  a confirmation by the creator replaces the challenge
    given        other fields of Asked
    raises       UnverifiedCallback; RateLimited; Unauthenticated; what `subscribe` raises
    """
    caller, allowed = current_caller(), config.settings().mcp_events_callback_allowlist
    host = subscriptions.check_callback(given["url"], given["secret"], allowed)
    asked = Asked(caller.account_id, form_id, caller.grant_id, host=host, **given)
    subscriptions.check_asked(asked, now=database.utc_now())
    try:
        return subscriptions.subscribe(
            asked,
            confirmed=_prove(asked, confirmable=confirmable),
            sealer=sealing.sealer(),
            cursor_key=sealing.cursor_key(),
            # again: the challenge may have taken seconds
            grant_ends=authenticate(Scope.RESPONSES_READ).grant_expires_at,
            now=database.utc_now(),
            by=acting_agent(),
        )
    except errors.StateConflict as refusal:
        if refusal.code is errors.ErrorCode.AUTHENTICATION_REQUIRED:
            authenticate(Scope.RESPONSES_READ)  # the connection has just ended
        raise


def _prove(asked: Asked, *, confirmable: bool) -> bool:
    """Return True if the creator confirmed the address, False if it answered a challenge.

    Looks for a stored proof first. raises UnverifiedCallback
    """
    known, now = callbacks.find_callback(asked), database.utc_now()
    if known and known.verified_at and known.verified_at > now - callbacks.VERIFIED_FOR:
        return False
    if confirmable and known and known.confirmed_at:
        return True
    asked_at = known and known.asked_at
    if confirmable and asked_at and asked_at > now - callbacks.ASKED_AGAIN_AFTER:
        failed = Unverified(DeliveryFailure.CHALLENGE_FAILED, known.answered)
        raise UnverifiedCallback(failed, "confirm")
    key = subscriptions.subscription_id(asked.account_id, asked.form_id, asked.url)
    unverified = challenge(asked.account_id, asked.host, asked.url, asked.secret, key)
    if unverified is None:
        callbacks.note_verified(asked, now=database.utc_now())
        return False
    if not (confirmable and unverified.taken):
        raise UnverifiedCallback(unverified)
    waits = callbacks.note_unverified(asked, unverified.answered, now=database.utc_now())
    raise UnverifiedCallback(unverified, "confirm" if waits else "too_many")


def _require_events() -> None:
    if not config.settings().mcp_events_enabled:
        raise errors.NotFound(
            errors.ErrorCode.NOT_FOUND,
            "There is nothing at this address: events are switched off on this server.",
            "Read the responses with GET /forms/{formId}/responses?since= instead.",
        )


only_with_events = guarded_by("events", _require_events)


@bp.post("/forms/<form_id>/subscriptions")
@only_with_events
@require_scope(Scope.RESPONSES_READ)
@limit_subscribes
def create_subscription(form_id: str) -> Response:
    """createSubscription: make or renew a subscription (200 Subscription)."""
    sent = errors.parse_input(subscriptions.SubscriptionInput, json_body())
    max_age = sent.max_age_seconds
    granted = subscribe_verified(
        form_id,
        confirmable=True,
        max_age_ms=None if max_age is None else max_age * 1000,
        **sent.model_dump(exclude={"max_age_seconds"}),
    )
    body: forms.Subscription = {
        "subscriptionId": granted.subscription_id,
        "refreshBefore": types.wire_time(database.to_millis(granted.refresh_before)),
        "cursor": granted.cursor,
        "truncated": granted.truncated,
    }
    return json_answer(body)


@bp.get("/forms/<form_id>/subscriptions")
@only_with_events
@require_scope(Scope.RESPONSES_READ)
def list_form_subscriptions(form_id: str) -> Response:
    """listSubscriptions: the live subscriptions of a form (200 SubscriptionList)."""
    account_id = current_caller().account_id
    found = subscriptions.list_subscriptions(account_id, form_id, now=database.utc_now())
    body: forms.SubscriptionList = {
        "subscriptions": [
            {
                "subscriptionId": row.id,
                "host": row.host,
                "active": row.active,
                "lastDeliveryAt": row.last_delivery_at
                and types.wire_time(database.to_millis(row.last_delivery_at)),
                "lastError": row.last_failure,
                "refreshBefore": types.wire_time(database.to_millis(row.expires_at)),
            }
            for row in found
        ]
    }
    return json_answer(body)


@bp.delete("/forms/<form_id>/subscriptions/<subscription_id>")
@only_with_events
@require_scope(Scope.RESPONSES_READ)
def delete_subscription(form_id: str, subscription_id: str) -> Response:
    """deleteSubscription: end a subscription, even if it has already ended (204)."""
    account_id, now = current_caller().account_id, database.utc_now()
    get_form(account_id, form_id)
    endings.unsubscribe(account_id, form_id, subscription_id, now=now, by=acting_agent())
    return Response(status=HTTPStatus.NO_CONTENT, headers={"Cache-Control": "private, no-store"})
