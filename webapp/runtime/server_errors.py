"""Error responses of the server itself, before the application was called or after it failed."""

from http import HTTPStatus

import orjson

from api.mcp import origins
from api.mcp.messages import INTERNAL_ERROR, INVALID_REQUEST, RpcError, encoded, error_body
from webapp.config import Settings
from webapp.domain.shared.error_codes import ErrorCode
from webapp.oauth import endpoints
from webapp.web.request_kind import REST, RequestKind

FAULT = "The service could not complete the request."
# whether anything was stored before the error is unknown, so the text does not say
BROKEN = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Something broke on our side. · Askback</title>
<h1>Something broke on our side.</h1>
<p>It has been written down for whoever runs this server. What was saved before is safe.
Go back and look whether what you sent is there before you send it again.</p>
</html>
""".encode()


def refusal(code: int, reason: str, kind: RequestKind | None) -> tuple[str, str, bytes]:
    """Status line, content type and body, in the form that requests of this kind expect."""
    if kind in REST:
        status, body = _api_refusal(code)
        return status, "application/json", body
    if kind is RequestKind.MCP:
        return f"{code} {reason}", "application/json", _rpc_refusal(code)
    if code == 500:
        return "500 Internal Server Error", "text/html; charset=utf-8", BROKEN
    body = f"{reason}. Nothing was changed.\n".encode()
    return f"{code} {reason}", "text/plain; charset=utf-8", body


def cors_headers(kind: RequestKind | None, origin: str | None, config: Settings) -> dict[str, str]:
    """Those with which the routes of this kind let pages of this origin read their responses."""
    if kind is RequestKind.OAUTH:
        return endpoints.OPEN
    if kind is RequestKind.MCP:
        return origins.cors_headers(origin, config, own_origin="")
    return {}


def _rpc_refusal(code: int) -> bytes:
    """A JSON-RPC error; the id of the request is not known here."""
    if _is_fault(code):
        return encoded(error_body(None, RpcError(INTERNAL_ERROR, FAULT)))
    return encoded(error_body(None, RpcError(INVALID_REQUEST, f"{HTTPStatus(code).phrase}.")))


def _is_fault(code: int) -> bool:
    """Whether it is not the request that is wrong; 501 is for an unknown transfer encoding."""
    return code >= 500 and code != 501


def _api_refusal(code: int) -> tuple[str, bytes]:
    """Status line and body with the four fields; too large and unreadable are both a 400 there."""
    if _is_fault(code):
        refused = ErrorCode.INTERNAL_ERROR
        message = FAULT
        resolution = "Try again; if it happens again, tell the operator of this service."
    elif code == 413:
        refused = ErrorCode.PAYLOAD_TOO_LARGE
        message = "body: is larger than this server reads."
        resolution = "Send less: all questions of a draft together must fit into 256 KiB."
    elif code == 431:
        refused = ErrorCode.PAYLOAD_TOO_LARGE
        message = "The headers are larger than this server reads."
        resolution = "Send fewer or shorter headers."
    else:
        refused = ErrorCode.VALIDATION_FAILED
        message = "The request is not HTTP/1.1 that this server understands."
        resolution = "Check the request line, the headers and the transfer encoding."
    fields = {"error": message, "code": refused, "message": message, "resolution": resolution}
    return f"{refused.status.value} {refused.status.phrase}", orjson.dumps(fields)
