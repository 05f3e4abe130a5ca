"""The one route. What is wrong with a request is found in an order that costs little first."""

from http import HTTPStatus

import orjson
from flask import Response, g, request
from werkzeug.exceptions import RequestEntityTooLarge

from api.json_body import UnreadableJson, decode_json
from api.mcp.blueprint import bp
from api.mcp.call import Call
from api.mcp.dispatcher import answer
from api.mcp.eras import Era, check_modern, era_of, status_of
from api.mcp.messages import (
    INVALID_REQUEST,
    PARSE_ERROR,
    MessageId,
    RpcError,
    error_body,
    read_message,
    readable_id,
    result_body,
)
from webapp.oauth.guard import Unauthenticated, authenticate_for_mcp

BODY_MAX_BYTES = 1024 * 1024


@bp.post("")
def post() -> Response:
    """One message in, at most one out."""
    era: Era | None = None
    message_id: MessageId | None = None
    try:
        g.caller = caller = authenticate_for_mcp()
        value = _json()
        message_id = readable_id(value)
        message = read_message(value)
        if message.is_notification:
            return Response(status=HTTPStatus.ACCEPTED)
        era = era_of(request.headers.get("MCP-Protocol-Version"), message.params)
        capabilities = check_modern(message, request.headers) if era is Era.MODERN else {}
        return _answer(result_body(message_id, answer(Call(caller, era, capabilities), message)))
    except RpcError as error:
        response = _answer(error_body(message_id, error), status_of(error, era))
        response.headers.update(error.headers)
        return response
    except Unauthenticated as failure:
        return _unauthenticated(failure, message_id)


def _json() -> object:
    """raises RpcError"""
    if request.mimetype != "application/json":
        raise RpcError(
            INVALID_REQUEST,
            "The Content-Type is not application/json.",
            status=HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
        )
    if "Accept" in request.headers and not request.accept_mimetypes["application/json"]:
        raise RpcError(
            INVALID_REQUEST,
            "The Accept header admits no application/json.",
            status=HTTPStatus.NOT_ACCEPTABLE,
        )
    request.max_content_length = BODY_MAX_BYTES
    try:
        return decode_json(request.get_data())
    except RequestEntityTooLarge:
        raise RpcError(
            INVALID_REQUEST,
            f"The body is larger than {BODY_MAX_BYTES} bytes.",
            status=HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        ) from None
    except UnreadableJson as problem:
        raise RpcError(PARSE_ERROR, f"The body {problem}.") from None


def _unauthenticated(failure: Unauthenticated, message_id: MessageId | None) -> Response:
    """401, or 403 where only a scope is missing, with the challenge of RFC 6750."""
    error = RpcError(INVALID_REQUEST, failure.message)
    status = HTTPStatus.FORBIDDEN if failure.lacks_scope else HTTPStatus.UNAUTHORIZED
    response = _answer(error_body(message_id, error), status)
    response.headers["WWW-Authenticate"] = failure.challenge
    return response


def _answer(body: object, status: HTTPStatus = HTTPStatus.OK) -> Response:
    headers = {"Content-Type": "application/json", "Cache-Control": "private, no-store"}
    return Response(orjson.dumps(body), status, headers)
