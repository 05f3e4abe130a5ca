"""JSON-RPC 2.0: what a message is, and the bodies of results and errors."""

import json
from http import HTTPStatus
from typing import NamedTuple

import orjson

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603

BATCH = (
    "Batches are not supported: send each message as a request of its own. "
    "Only protocol 2025-03-26 had batches."
)

MessageId = str | int
Json = dict[str, object]


class RpcError(Exception):
    """A request that is refused; `data` is left out where it is None.

    status   of HTTP, None for that of the code in the era of the request
    headers  of the response
    """

    def __init__(
        self,
        code: int,
        message: str,
        data: Json | None = None,
        *,
        status: HTTPStatus | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data
        self.status = status
        self.headers = headers or {}


class Message(NamedTuple):
    """A request, or a notification, which has no id. `params` are {} where there are none."""

    id: MessageId | None
    method: str
    params: object
    is_notification: bool


def read_message(value: object) -> Message:
    """The message in a body. raises RpcError `INVALID_REQUEST`"""
    if isinstance(value, list):
        raise RpcError(INVALID_REQUEST, BATCH)
    if not isinstance(value, dict) or value.get("jsonrpc") != "2.0":
        raise RpcError(INVALID_REQUEST, "The body is no JSON-RPC 2.0 object.")
    method = value.get("method")
    if not isinstance(method, str):
        raise RpcError(INVALID_REQUEST, "The message names no method.")
    params = value.get("params", {})
    if "id" not in value:
        return Message(None, method, params, is_notification=True)
    if not is_id(value["id"]):
        raise RpcError(INVALID_REQUEST, "The id is neither a string nor an integer.")
    return Message(value["id"], method, params, is_notification=False)


def is_id(value: object) -> bool:
    """Whether a request may have this id; True and False are no numbers here."""
    return isinstance(value, (str, int)) and not isinstance(value, bool)


def readable_id(value: object) -> MessageId | None:
    """The id of a body that may be no message, for the error that answers it."""
    found = value.get("id") if isinstance(value, dict) else None
    return found if is_id(found) else None


def result_body(message_id: MessageId | None, result: Json) -> Json:
    """The response to a request."""
    return {"jsonrpc": "2.0", "id": message_id, "result": result}


def error_body(message_id: MessageId | None, error: RpcError) -> Json:
    """The refusal of a request, or of a body that holds none."""
    found: Json = {"code": error.code, "message": error.message}
    if error.data is not None:
        found["data"] = error.data
    return {"jsonrpc": "2.0", "id": message_id, "error": found}


def encoded(body: Json) -> bytes:
    """The bytes of a body; an id may be a number or a text that orjson does not write."""
    try:
        return orjson.dumps(body)
    except TypeError:
        return json.dumps(body).encode()
