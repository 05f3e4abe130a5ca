"""The MCP endpoint: its error handlers, its methods and its route."""

from collections.abc import Callable
from dataclasses import replace
from http import HTTPStatus
from typing import NamedTuple, cast

from flask import Response, g, request
from werkzeug.exceptions import Forbidden, HTTPException, MethodNotAllowed, RequestEntityTooLarge

from api.bodies import UnreadableJson, decode_json, is_json_in_utf_8, is_uncompressed
from api.errors import unexpected_fields
from api.mcp import events, protocol
from api.mcp.protocol import INVALID_PARAMS, INVALID_REQUEST, Call, Json, RpcError, bp
from api.mcp.tools import drafts, forms, table
from webapp.base import config, errors
from webapp.oauth.guard import Unauthenticated, authenticate, require_scopes
from webapp.web import hosts, request_kind

MCP_BODY_MAX_BYTES = 1024 * 1024  # several times what a tool accepts
JSON, EVENT_STREAM = "application/json", "text/event-stream"


def _invalid(status: HTTPStatus, message: str, **headers: str) -> RpcError:
    return RpcError(INVALID_REQUEST, message, status=status, headers=headers)


@bp.errorhandler(RpcError)
def rpc_error(error: RpcError) -> Response:
    """Answer an RpcError with its status, else the status of its code in the era of the request."""
    of_era = protocol.MODERN_STATUS if g.get("is_modern") else protocol.STATUS
    status = error.status or of_era.get(error.code, HTTPStatus.OK)
    response = respond(protocol.error_body(g.get("message_id"), error), status)
    response.headers.update(error.headers)
    return response


@bp.errorhandler(Unauthenticated)
def unauthenticated(failure: Unauthenticated) -> Response:
    """Answer 401, or 403 if only a scope is missing, with the challenge of RFC 6750."""
    status = HTTPStatus.FORBIDDEN if failure.lacks_scope else HTTPStatus.UNAUTHORIZED
    challenge = {"WWW-Authenticate": failure.challenge}
    return rpc_error(_invalid(status, failure.message, **challenge))


@bp.errorhandler(HTTPException)
def http_problem(error: HTTPException) -> Response:
    """Answer a refusal by the router or the HTTP layer; a wrong host or origin comes first."""
    status = HTTPStatus(error.code or HTTPStatus.BAD_REQUEST)
    message, headers = f"{status.phrase}.", {}
    if isinstance(error, hosts.UnknownHost):
        status, message = HTTPStatus.FORBIDDEN, f"Host: {error.description}"
    elif protocol.is_refused():
        status = HTTPStatus.FORBIDDEN
        message = "Origin: pages of this origin may not call this server."
    elif isinstance(error, MethodNotAllowed):
        method = "GET" if "GET" in (error.valid_methods or ()) else "POST"
        message, headers = f"Only {method} is possible at this address.", {"Allow": method}
    return rpc_error(_invalid(status, message, **headers))


@bp.errorhandler(Exception)
def unexpected(error: Exception) -> Response:
    """Answer a fault of the server or the storage, with its four fields as data."""
    fields = unexpected_fields(error)
    return rpc_error(RpcError(protocol.INTERNAL_ERROR, fields["message"], cast(Json, fields)))


def router_refusal(error: HTTPException) -> Response:
    """Answer an error before routing, such as a wrong method, as a JSON-RPC error."""
    return protocol.add_cors(http_problem(error))


def respond(body: Json, status: HTTPStatus = HTTPStatus.OK) -> Response:
    """Answer with a JSON-RPC body, or a stream of one event if the client accepts no JSON."""
    streamed = status is HTTPStatus.OK and not request_kind.accepts(JSON)
    sent = protocol.encoded(body)
    if streamed:
        sent = b"event: message\ndata: %b\n\n" % sent
    headers = {
        "Content-Type": EVENT_STREAM if streamed else JSON,
        "Cache-Control": "private, no-store",
    }
    return Response(sent, status, headers)


__all__ = ["answer", "drafts", "forms"]  # imported for tools

LISTED_MS = 300_000  # how long clients may cache what is fixed while a process runs
CACHED: Json = {"ttlMs": LISTED_MS, "cacheScope": "public"}


class Method(NamedTuple):
    """A JSON-RPC method; `call` receives the parameters as an object.

    modern  the only era that has the method; None for both
    """

    call: Callable[[Call, Json], Json]
    modern: bool | None = None


def answer(call: Call, message: protocol.Message) -> Json:
    """Return the result of a request in its era. raises RpcError"""
    method = METHODS.get(message.method)
    is_off = message.method.startswith("events/") and not config.settings().mcp_events_enabled
    if method is None or is_off or method.modern not in (None, call.modern):
        unknown = f"There is no method {message.method[:60]!r} here."
        raise RpcError(protocol.METHOD_NOT_FOUND, unknown)
    if not isinstance(message.params, dict):
        raise RpcError(INVALID_PARAMS, "params is no object.")
    result = method.call(call, message.params)
    if call.modern:
        server = {protocol.SERVER_INFO_KEY: protocol.SERVER_INFO}
        return {"resultType": "complete", "_meta": server, **result}
    return {name: value for name, value in result.items() if name not in CACHED}


def discover(_call: Call, _params: Json) -> Json:
    """Answer `server/discover` without the database: some clients wait only one second."""
    return {
        "supportedVersions": [protocol.MODERN],
        "capabilities": protocol.capabilities(),
        "instructions": protocol.instructions(),
        "_meta": {protocol.SERVER_INFO_KEY: protocol.server_info(protocol.MODERN)},
        **CACHED,
    }


def initialize(_call: Call, params: Json) -> Json:
    """Answer `initialize`, the first call of the earlier versions; it creates no session."""
    asked = params.get("protocolVersion")
    version = asked if isinstance(asked, str) and asked in protocol.LEGACY else protocol.LEGACY[0]
    return {
        "protocolVersion": version,
        "capabilities": protocol.capabilities(),
        "serverInfo": protocol.server_info(version),
        "instructions": protocol.instructions(),
    }


def list_tools(_call: Call, params: Json) -> Json:
    """Answer `tools/list` with one page, sorted by name."""
    if params.get("cursor") not in (None, ""):
        raise RpcError(INVALID_PARAMS, "There is no such page: all tools are on the first one.")
    events = config.settings().mcp_events_enabled
    tools = [table.TOOLS[name].listed(events=events) for name in sorted(table.TOOLS)]
    return {"tools": tools, **CACHED}


def call_tool(call: Call, params: Json) -> Json:
    """Answer `tools/call`; an error that the caller can correct is a result with `isError`."""
    name, arguments = params.get("name"), params.get("arguments")
    tool = table.TOOLS.get(name) if isinstance(name, str) else None
    if tool is None:
        raise RpcError(INVALID_PARAMS, "There is no such tool.")
    if arguments in errors.UNSET:
        arguments = {}
    if not isinstance(arguments, dict):
        raise RpcError(INVALID_PARAMS, "arguments is no object.")
    require_scopes(call.caller, tool.scope)
    state, responses = params.get("requestState"), params.get("inputResponses")
    return table.invoke(tool, replace(call, request_state=state, responses=responses), arguments)


METHODS = {
    "server/discover": Method(discover, modern=True),
    "initialize": Method(initialize, modern=False),
    "ping": Method(lambda _call, _params: {}, modern=False),
    "tools/list": Method(list_tools),
    "tools/call": Method(call_tool),
    "events/list": Method(events.list_events),
    "events/poll": Method(events.poll),
    "events/subscribe": Method(events.subscribe),
    "events/unsubscribe": Method(events.unsubscribe),
}


bp.after_request(protocol.add_cors)


@bp.before_request
def check_origin() -> None:
    """Refuse other origins before the token is checked, so that their pages cannot test tokens."""
    if protocol.is_refused():
        raise Forbidden


@bp.route("", methods=["OPTIONS"], strict_slashes=False)
def preflight() -> Response:
    """Answer the preflights of browsers; other clients get 405."""
    if "Origin" not in request.headers:
        raise MethodNotAllowed
    return Response(status=HTTPStatus.NO_CONTENT)


@bp.post("", provide_automatic_options=False, strict_slashes=False)
def post() -> Response:
    """Read one message, and answer with at most one."""
    g.caller = caller = authenticate()
    message = _message()
    version = request.headers.get("MCP-Protocol-Version", "").strip() or None
    if message.id is None:
        if version not in (None, protocol.MODERN, *protocol.LEGACY):
            raise protocol.unsupported(version)
        return Response(status=HTTPStatus.ACCEPTED)
    g.is_modern = modern = protocol.is_modern(version, message.params)
    able = protocol.check_modern(message) if modern else {}
    call = Call(caller, modern, able, blocks=None if version in protocol.WITHOUT_BLOCKS else [])
    return respond({"jsonrpc": "2.0", "id": message.id, "result": answer(call, message)})


def _message() -> protocol.Message:
    """Read the message, and keep its id for a refusal. raises RpcError"""
    request.max_content_length = MCP_BODY_MAX_BYTES
    try:
        body = request.get_data()
    except RequestEntityTooLarge as error:
        larger = f"The body is larger than {MCP_BODY_MAX_BYTES} bytes."
        raise _invalid(HTTPStatus(error.code), larger) from None
    if not (is_json_in_utf_8() and is_uncompressed()):
        other = "The body is not uncompressed application/json in UTF-8, by its headers."
        raise _invalid(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, other)
    if not (request_kind.accepts(JSON) or request_kind.accepts(EVENT_STREAM)):
        neither = f"The Accept header admits neither {JSON} nor {EVENT_STREAM}."
        raise _invalid(HTTPStatus.NOT_ACCEPTABLE, neither)
    try:
        value = decode_json(body)
    except UnreadableJson as problem:
        raise RpcError(protocol.PARSE_ERROR, f"The body {problem}.") from None
    g.message_id = protocol.readable_id(value)
    return protocol.read_message(value)
