"""Events of the MCP endpoint: list, poll, subscribe and unsubscribe."""

from datetime import timedelta
from typing import Annotated, TypeVar

from flask_limiter import RateLimitExceeded
from pydantic import Field, StrictInt, StrictStr

from api.mcp.protocol import EVENTS, INSTRUCTIONS, INVALID_PARAMS, Call, Json, RpcError
from api.mcp.tools.table import Id, input_schema
from api.rate_limits import limit_subscribes
from api.subscriptions import UnverifiedCallback, subscribe_verified
from api.wire.types import wire_time
from webapp.base import database, errors, outbound, sealing
from webapp.base.vocabulary import ErrorProfile, Scope
from webapp.events import endings, outbox, subscriptions
from webapp.oauth.guard import acting_agent, require_scopes
from webapp.records.content.draft_input import Text
from webapp.records.events import EVENT_NAME, EventError
from webapp.web.limiter import seconds_to_wait

WEBHOOK, POLL = "webhook", "poll"
SHOWN_CHARS = 60  # of an unsupported mode
NEXT_POLL_MS = 5000

Count = Annotated[StrictInt, Field(ge=1)]
Age = Annotated[StrictInt, Field(ge=0)]
M = TypeVar("M", bound=errors.InputModel)


class EventArguments(errors.InputModel):
    """Which responses."""

    form_id: Id = Field(description="Published form owned by the connected account.")


class Address(errors.InputModel, extra="ignore"):
    """Where events go."""

    url: Text = Field(max_length=outbound.URL_MAX_CHARS)


class Delivery(Address):
    """Where events go, and what signs them."""

    secret: Text


class UnsubscribeParams(errors.InputModel, extra="ignore"):
    """Which subscription."""

    delivery: Address


class PollParams(errors.InputModel, extra="ignore"):
    """The cursor of a poll and the bounds of its page; milliseconds."""

    cursor: StrictStr | None = None
    max_age_ms: Age | None = None
    max_events: Count | None = None


class SubscribeParams(errors.InputModel, extra="ignore"):
    """What is asked of a subscription; milliseconds."""

    delivery: Delivery
    ttl_ms: Count | None = None
    max_age_ms: Age | None = None
    cursor: StrictStr | None = None


def error_profile(call: Call) -> ErrorProfile:
    """Return EXTENSION for requests that declare the extension, else PLAIN."""
    extensions = call.capabilities.get("extensions")
    declared = isinstance(extensions, dict) and EVENTS in extensions
    return ErrorProfile.EXTENSION if declared else ErrorProfile.PLAIN


def event_error(call: Call, error: EventError, **data: object) -> RpcError:
    """Return an error whose message is its name; only `data` holds details."""
    return RpcError(error.code(error_profile(call)), error.message, data)


def read_form_id(call: Call, params: Json, mode: str = WEBHOOK) -> str:
    """Return the form in the arguments of a known event, and check its mode. raises RpcError"""
    name, arguments = params.get("name"), params.get("arguments", {})
    if not isinstance(name, str):
        raise RpcError(INVALID_PARAMS, "name: the name of an event is needed.")
    if name != EVENT_NAME:
        raise event_error(call, EventError.NOT_FOUND, kind="event")
    if not isinstance(arguments, dict):
        raise RpcError(INVALID_PARAMS, "arguments: an object is needed.")
    form_id = read_params(EventArguments, arguments, "arguments.").form_id
    delivery = params.get("delivery")
    asked = delivery.get("mode", mode) if isinstance(delivery, dict) else mode
    if asked != mode:
        shown = asked[:SHOWN_CHARS] if isinstance(asked, str) and asked.isprintable() else None
        raise event_error(call, EventError.UNSUPPORTED, feature="deliveryMode", value=shown)
    return form_id


def read_params(model: type[M], params: Json, path: str = "") -> M:
    """Parse parameters; `path` is the prefix of a refusal. raises RpcError `INVALID_PARAMS`"""
    try:
        return errors.parse_input(model, params, drops_unset=not path)
    except errors.InvalidInput as failure:
        raise _invalid_params(failure, path) from None


def _invalid_params(failure: errors.InvalidInput, path: str = "") -> RpcError:
    return RpcError(INVALID_PARAMS, f"{path}{failure.message} {failure.resolution}")


def list_events(call: Call, params: Json) -> Json:
    """Answer `events/list` with one page that holds the only event."""
    require_scopes(call.caller, Scope.RESPONSES_READ)
    if params.get("cursor") not in (None, ""):
        raise RpcError(INVALID_PARAMS, "There is no such page: all events are on the first one.")
    listed = {
        "name": EVENT_NAME,
        "description": INSTRUCTIONS["event"]["description"],
        "delivery": [WEBHOOK, POLL],
        "inputSchema": input_schema(EventArguments),
        "payloadSchema": INSTRUCTIONS["event"]["payload"],
    }
    return {"events": [listed]}


def subscribe(call: Call, params: Json) -> Json:
    """Answer `events/subscribe`: make or refresh a subscription. raises RpcError"""
    require_scopes(call.caller, Scope.RESPONSES_READ)
    try:
        return _granted(_subscribe(call, params))
    except RateLimitExceeded as reached:
        wait, most = seconds_to_wait(reached), reached.limit.limit.amount
        raise _exhausted(call, "subscribe_rate", max=most, retryAfterMs=wait * 1000) from None
    except errors.Outcome as failure:
        raise _refusal(call, failure) from None


def poll(call: Call, params: Json) -> Json:
    """Answer `events/poll` with the events after a cursor, without a wait. raises RpcError"""
    require_scopes(call.caller, Scope.RESPONSES_READ)
    form_id = read_form_id(call, params, POLL)
    sent = read_params(PollParams, params)
    try:
        found = outbox.poll(
            call.caller.account_id,
            form_id,
            sent.cursor,
            max_age_ms=sent.max_age_ms,
            most=sent.max_events or outbox.POLL_MAX_EVENTS,
            cursor_key=sealing.cursor_key(),
            now=database.utc_now(),
        )
    except errors.Outcome as failure:
        raise _refusal(call, failure) from None
    return {
        "events": found.events,
        "cursor": found.cursor,
        "truncated": found.truncated,
        "hasMore": found.has_more,
        "nextPollMs": NEXT_POLL_MS,
    }


def unsubscribe(call: Call, params: Json) -> Json:
    """Answer `events/unsubscribe`. Without a subscription it succeeds, as ChatGPT expects, but is
    refused for clients that declare the extension. raises RpcError
    """
    require_scopes(call.caller, Scope.RESPONSES_READ)
    form_id = read_form_id(call, params)
    url = read_params(UnsubscribeParams, params).delivery.url
    account_id, by = call.caller.account_id, acting_agent()
    key = subscriptions.subscription_id(account_id, form_id, url)
    held = endings.unsubscribe(account_id, form_id, key, now=database.utc_now(), by=by)
    if not held and error_profile(call) is ErrorProfile.EXTENSION:
        raise event_error(call, EventError.NOT_FOUND, kind="subscription")
    return {}


@limit_subscribes
def _subscribe(call: Call, params: Json) -> subscriptions.Granted:
    form_id = read_form_id(call, params)
    sent = read_params(SubscribeParams, params)
    ttl_seconds = None if sent.ttl_ms is None else sent.ttl_ms // 1000
    return subscribe_verified(
        form_id,
        url=sent.delivery.url,
        secret=sent.delivery.secret,
        ttl_seconds=ttl_seconds and min(ttl_seconds, subscriptions.SECONDS_MAX),
        cursor=sent.cursor,
        max_age_ms=sent.max_age_ms,
        error_profile=error_profile(call),
    )


def _refusal(call: Call, failure: errors.Outcome) -> Exception:
    """Convert the failure of a use case to an error of the extension, or return it unchanged."""
    if isinstance(failure, UnverifiedCallback):
        return event_error(call, EventError.CALLBACK_ENDPOINT_ERROR, reason=failure.failure)
    if isinstance(failure, errors.InvalidInput):
        return _invalid_params(failure)
    if isinstance(failure, errors.NotFound):
        return event_error(call, EventError.FORBIDDEN, reason=failure.message)
    if isinstance(failure, errors.RateLimited):
        return _exhausted(call, "verification_rate", retryAfterMs=failure.seconds * 1000)
    if failure.code is errors.ErrorCode.TOO_MANY_SUBSCRIPTIONS:
        return _exhausted(call, "subscriptions", max=subscriptions.SUBSCRIPTIONS_MAX)
    return failure


def _exhausted(call: Call, limit: str, **data: int) -> RpcError:
    return event_error(call, EventError.RESOURCE_EXHAUSTED, limit=limit, **data)


def _granted(granted: subscriptions.Granted) -> Json:
    found: Json = {
        "id": granted.subscription_id,
        "refreshBefore": wire_time(database.to_millis(granted.refresh_before)),
        "cursor": granted.cursor,
        "truncated": granted.truncated,
    }
    if before := granted.before:
        sent_at, rests_until, now = before.last_delivery_at, before.paused_until, database.utc_now()
        reported: Json = {
            "active": before.suspended_at is None,
            "lastDeliveryAt": wire_time(database.to_millis(sent_at)) if sent_at else None,
            "lastError": before.last_failure,
        }
        if granted.failed_since:
            reported["failedSince"] = wire_time(database.to_millis(granted.failed_since))
        if rests_until and rests_until > now:
            wait = (rests_until - now) // timedelta(milliseconds=1)
            reported |= {"throttled": True, "retryAfterMs": wait}
        found["deliveryStatus"] = reported
    return found
