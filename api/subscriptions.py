"""Subscriptions to completed responses: an extension for agents without MCP, by REST hooks."""

from collections.abc import Callable
from functools import partial, wraps
from http import HTTPStatus
from typing import ParamSpec

from flask import Response

from api.blueprint import bp
from api.json_body import json_body
from api.json_responses import json_answer
from api.rate_limits import limit_subscribes
from api.verified_callbacks import subscribe_verified
from webapp.config import settings
from webapp.database import utc_now
from webapp.domain.events.subscriptions.identity import Asked
from webapp.domain.events.subscriptions.input import SubscriptionInput, check_callback
from webapp.domain.events.subscriptions.subscribing import list_subscriptions
from webapp.domain.events.subscriptions.unsubscribing import unsubscribe
from webapp.domain.shared.error_codes import ErrorCode
from webapp.domain.shared.errors import NotFound
from webapp.domain.shared.input_model import parse_input
from webapp.domain.shared.vocabulary import Scope
from webapp.oauth.guard import acting_agent, check_scope, current_caller, require_scope
from webapp.wire.serializers import granted_subscription, subscription_list

P = ParamSpec("P")


def only_with_events(view: Callable[P, Response]) -> Callable[P, Response]:
    """A route that is not there where MCP_EVENTS_ENABLED is off."""

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
    """createSubscription: makes or renews a subscription (200 Subscription)."""
    caller = current_caller()
    given, _ = json_body()
    sent = parse_input(SubscriptionInput, given)
    callback = check_callback(sent.url, sent.secret, settings().mcp_events_callback_allowlist)
    max_age = sent.max_age_seconds
    granted = subscribe_verified(
        Asked(
            account_id=caller.account_id,
            form_id=form_id,
            grant_id=caller.grant_id,
            **callback._asdict(),
            ttl_seconds=sent.ttl_seconds,
            cursor=sent.cursor,
            max_age_ms=None if max_age is None else max_age * 1000,
        ),
        authorize=partial(check_scope, Scope.RESPONSES_READ),
        confirmable=True,
    )
    return json_answer(granted_subscription(granted))


@bp.get("/forms/<form_id>/subscriptions")
@only_with_events
@require_scope(Scope.RESPONSES_READ)
def list_form_subscriptions(form_id: str) -> Response:
    """listSubscriptions: the live ones of a form (200 SubscriptionList)."""
    found = list_subscriptions(current_caller().account_id, form_id, now=utc_now())
    return json_answer(subscription_list(found))


@bp.delete("/forms/<form_id>/subscriptions/<subscription_id>")
@only_with_events
@require_scope(Scope.RESPONSES_READ)
def delete_subscription(form_id: str, subscription_id: str) -> Response:
    """deleteSubscription: ends a subscription, again too (204)."""
    account_id = current_caller().account_id
    unsubscribe(account_id, form_id, subscription_id, now=utc_now(), by=acting_agent())
    return Response(status=HTTPStatus.NO_CONTENT, headers={"Cache-Control": "private, no-store"})
