"""The parameters of the methods `events/…`, checked in the order in which they are refused."""

from typing import Annotated, TypeVar

from pydantic import ConfigDict, Field, StrictInt, StrictStr

from api.mcp.call import Call
from api.mcp.event_codes import event_error
from api.mcp.messages import INVALID_PARAMS, Json, RpcError
from webapp.domain.content.draft_fields import STORABLE
from webapp.domain.events.protocol import EVENT_NAME, EventError
from webapp.domain.shared.errors import InvalidInput
from webapp.domain.shared.input_model import InputModel, parse_input
from webapp.outbound import URL_MAX_CHARS

WEBHOOK, POLL = "webhook", "poll"
SHOWN_CHARS = 60  # of a mode that is not offered

Text = Annotated[StrictStr, STORABLE]
M = TypeVar("M", bound=InputModel)


class OpenModel(InputModel):
    """An object that may hold more: what it does not name is ignored."""

    model_config = ConfigDict(extra="ignore")


class EventArguments(InputModel):
    """Which responses."""

    form_id: Annotated[
        Text, Field(min_length=1, description="Published form owned by the connected account.")
    ]


class Address(OpenModel):
    """Where events go."""

    url: Annotated[Text, Field(max_length=URL_MAX_CHARS)]


class Delivery(Address):
    """Where events go, and what signs them."""

    secret: Text


class UnsubscribeParams(OpenModel):
    """Which subscription."""

    delivery: Address


class SubscribeParams(OpenModel):
    """What is asked of a subscription; milliseconds."""

    delivery: Delivery
    ttl_ms: Annotated[StrictInt, Field(ge=1)] | None = None
    max_age_ms: Annotated[StrictInt, Field(ge=0)] | None = None
    cursor: StrictStr | None = None


class PollParams(OpenModel):
    """The cursor of a poll and the bounds of its page."""

    cursor: StrictStr | None = None
    max_age_ms: Annotated[StrictInt, Field(ge=0)] | None = None
    max_events: Annotated[StrictInt, Field(ge=1)] | None = None


def read_form_id(call: Call, params: Json, mode: str = WEBHOOK) -> str:
    """The form in the arguments of a known event; the mode goes by the method. raises RpcError"""
    name = params.get("name")
    if not isinstance(name, str):
        raise RpcError(INVALID_PARAMS, "name: the name of an event is needed.")
    if name != EVENT_NAME:
        raise event_error(call, EventError.NOT_FOUND, kind="event")
    form_id = _read_arguments(params.get("arguments", {})).form_id
    _require_mode(call, params.get("delivery"), mode)
    return form_id


def read_params(model: type[M], params: Json) -> M:
    """raises RpcError `INVALID_PARAMS`"""
    try:
        return parse_input(model, params, drops_unset=True)
    except InvalidInput as failure:
        raise invalid_params(failure) from None


def _read_arguments(arguments: object) -> EventArguments:
    if not isinstance(arguments, dict):
        raise RpcError(INVALID_PARAMS, "arguments: an object is needed.")
    try:
        return parse_input(EventArguments, arguments)
    except InvalidInput as failure:
        message = f"arguments.{failure.message} {failure.resolution}"
        raise RpcError(INVALID_PARAMS, message) from None


def invalid_params(failure: InvalidInput) -> RpcError:
    """What is wrong and what to do about it."""
    return RpcError(INVALID_PARAMS, f"{failure.message} {failure.resolution}")


def _require_mode(call: Call, delivery: object, wanted: str) -> None:
    mode = delivery.get("mode", wanted) if isinstance(delivery, dict) else wanted
    if mode != wanted:
        shown = mode[:SHOWN_CHARS] if isinstance(mode, str) and mode.isprintable() else None
        raise event_error(call, EventError.UNSUPPORTED, feature="deliveryMode", value=shown)
