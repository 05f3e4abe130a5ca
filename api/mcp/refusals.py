"""Every failure of the endpoint as a JSON-RPC error, also what the router refuses there."""

from collections.abc import Callable
from http import HTTPStatus
from typing import cast

from flask import Response, g
from werkzeug.exceptions import HTTPException, MethodNotAllowed
from werkzeug.wrappers import Response as AnyResponse

from api.errors import unexpected_fields
from api.mcp.blueprint import bp
from api.mcp.eras import status_of
from api.mcp.messages import INTERNAL_ERROR, INVALID_REQUEST, Json, RpcError, encoded, error_body
from api.mcp.origins import add_cors, is_refused
from webapp.oauth.guard import Unauthenticated
from webapp.web.accept_headers import accepts
from webapp.web.hosts import UnknownHost
from webapp.web.request_kind import RequestKind, request_kind

JSON, EVENT_STREAM = "application/json", "text/event-stream"


@bp.errorhandler(RpcError)
def rpc_error(error: RpcError) -> Response:
    """A refusal of ours, with the status of its code in the era of the request."""
    body = error_body(g.get("message_id"), error)
    response = respond(body, error.status or status_of(error.code, g.get("era")))
    response.headers.update(error.headers)
    return response


@bp.errorhandler(Unauthenticated)
def unauthenticated(failure: Unauthenticated) -> Response:
    """401, or 403 where only a scope is missing, with the challenge of RFC 6750."""
    status = HTTPStatus.FORBIDDEN if failure.lacks_scope else HTTPStatus.UNAUTHORIZED
    challenge = {"WWW-Authenticate": failure.challenge}
    return rpc_error(RpcError(INVALID_REQUEST, failure.message, status=status, headers=challenge))


@bp.errorhandler(HTTPException)
def http_problem(error: HTTPException) -> Response:
    """What the router or the HTTP layer refuses; a wrong host or origin comes first."""
    if isinstance(error, UnknownHost):
        refused = _forbidden(f"Host: {error.description}")
    elif is_refused():
        refused = _forbidden("Origin: pages of this origin may not call this server.")
    elif isinstance(error, MethodNotAllowed):
        method = "GET" if "GET" in (error.valid_methods or ()) else "POST"
        refused = RpcError(
            INVALID_REQUEST,
            f"Only {method} is possible at this address.",
            status=HTTPStatus.METHOD_NOT_ALLOWED,
            headers={"Allow": method},
        )
    else:
        status = HTTPStatus(error.code or HTTPStatus.BAD_REQUEST)
        refused = RpcError(INVALID_REQUEST, f"{status.phrase}.", status=status)
    return rpc_error(refused)


@bp.errorhandler(Exception)
def unexpected(error: Exception) -> Response:
    """A fault of ours or of the storage, whose four fields are the data."""
    fields = unexpected_fields(error)
    return rpc_error(RpcError(INTERNAL_ERROR, fields["message"], cast(Json, fields)))


def router_refusal(
    elsewhere: Callable[[HTTPException], AnyResponse],
) -> Callable[[HTTPException], AnyResponse]:
    """An error before routing as a JSON-RPC error, such as a wrong method."""

    def refuse(error: HTTPException) -> AnyResponse:
        if request_kind() is RequestKind.MCP:
            return add_cors(http_problem(error))
        return elsewhere(error)

    return refuse


def respond(body: Json, status: HTTPStatus = HTTPStatus.OK) -> Response:
    """A JSON-RPC body as the response; as a stream of one event for a client that reads no JSON."""
    streamed = status is HTTPStatus.OK and not accepts(JSON)
    sent = b"event: message\ndata: %b\n\n" % encoded(body) if streamed else encoded(body)
    headers = {
        "Content-Type": EVENT_STREAM if streamed else JSON,
        "Cache-Control": "private, no-store",
    }
    return Response(sent, status, headers)


def _forbidden(message: str) -> RpcError:
    return RpcError(INVALID_REQUEST, message, status=HTTPStatus.FORBIDDEN)
