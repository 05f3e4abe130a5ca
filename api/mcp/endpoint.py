"""The one route. What is wrong with a request is found in an order that costs little first."""

from http import HTTPStatus

from flask import Response, g, request
from werkzeug.exceptions import Forbidden, MethodNotAllowed, RequestEntityTooLarge

from api.json_body import UnreadableJson, decode_json, is_json_in_utf_8, is_uncompressed
from api.mcp.blueprint import bp
from api.mcp.call import Call
from api.mcp.dispatcher import answer
from api.mcp.eras import Era, check_modern, check_version, era_of, takes_blocks
from api.mcp.messages import (
    INVALID_REQUEST,
    PARSE_ERROR,
    Message,
    RpcError,
    read_message,
    readable_id,
    result_body,
)
from api.mcp.origins import add_cors, is_refused
from api.mcp.refusals import EVENT_STREAM, JSON, respond
from webapp.domain.shared.limits import MCP_BODY_MAX_BYTES
from webapp.oauth.guard import authenticate_for_mcp
from webapp.web.accept_headers import accepts

bp.after_request(add_cors)


@bp.before_request
def check_origin() -> None:
    """Before the token, so that no page of a stranger learns whether one is valid."""
    if is_refused():
        raise Forbidden


@bp.route("", methods=["OPTIONS"], strict_slashes=False)
def preflight() -> Response:
    """For browsers only: other clients are told the one method."""
    if "Origin" not in request.headers:
        raise MethodNotAllowed
    return Response(status=HTTPStatus.NO_CONTENT)


@bp.post("", provide_automatic_options=False, strict_slashes=False)
def post() -> Response:
    """One message in, at most one out."""
    g.caller = caller = authenticate_for_mcp()
    message = _message()
    version = _version()
    if message.is_notification:
        check_version(version)
        return Response(status=HTTPStatus.ACCEPTED)
    g.era = era = era_of(version, message.params)
    capabilities = check_modern(message, request.headers) if era is Era.MODERN else {}
    call = Call(caller, era, capabilities, takes_blocks=takes_blocks(version))
    return respond(result_body(message.id, answer(call, message)))


def _message() -> Message:
    """The message of the body, whose id is kept for a refusal. raises RpcError"""
    body = _body()
    _check_headers()
    try:
        value = decode_json(body)
    except UnreadableJson as problem:
        raise RpcError(PARSE_ERROR, f"The body {problem}.") from None
    g.message_id = readable_id(value)
    return read_message(value)


def _body() -> bytes:
    """raises RpcError"""
    request.max_content_length = MCP_BODY_MAX_BYTES
    try:
        return request.get_data()
    except RequestEntityTooLarge:
        raise RpcError(
            INVALID_REQUEST,
            f"The body is larger than {MCP_BODY_MAX_BYTES} bytes.",
            status=HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        ) from None


def _check_headers() -> None:
    """raises RpcError"""
    if not (is_json_in_utf_8() and is_uncompressed()):
        raise RpcError(
            INVALID_REQUEST,
            "The body is not uncompressed application/json in UTF-8, by its headers.",
            status=HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
        )
    if not (accepts(JSON) or accepts(EVENT_STREAM)):
        raise RpcError(
            INVALID_REQUEST,
            f"The Accept header admits neither {JSON} nor {EVENT_STREAM}.",
            status=HTTPStatus.NOT_ACCEPTABLE,
        )


def _version() -> str | None:
    given = request.headers.get("MCP-Protocol-Version")
    return (given or "").strip() or None
