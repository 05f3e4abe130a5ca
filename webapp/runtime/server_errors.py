"""Error responses of the server itself, before the application was called or after it failed."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING, NamedTuple

import orjson
from waitress.utilities import Error
from werkzeug.wrappers import Response

from api.mcp import origins
from api.mcp.messages import INTERNAL_ERROR, INVALID_REQUEST, RpcError, encoded, error_body
from webapp.config import Settings
from webapp.domain.shared.error_codes import ErrorCode
from webapp.oauth import endpoints
from webapp.web.form_body_limits import REFUSED
from webapp.web.request_kind import REST, RequestKind, of_address

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

# of requests to nobody's address, too: these are pages of creators and of the public
PAGES = {RequestKind.RESPONDENT_PAGE, None}
FAULT = "The service could not complete the request."
# whether anything was stored before the error is unknown, so the text does not say
BROKEN = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Something broke on our side. · Askback</title>
<h1>Something broke on our side.</h1>
<p>The error has been logged. What was saved before is safe.
Go back and look whether what you sent is there before you send it again.</p>
</html>
""".encode()


# of the headers of a browser, those that choose a page: its language, its colours, its size
OF_PAGES = ("ACCEPT_LANGUAGE", "COOKIE", "HX_REQUEST", "HX_TARGET", "SEC_FETCH_DEST")


class Asked(NamedTuple):
    """A request that the application does not see; `headers` as in a WSGI environment."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    client: str = ""

    @property
    def kind(self) -> RequestKind | None:
        """Whose format the refusal has; None for pages of creators and of the public."""
        return of_address(self.path)


class Refused(NamedTuple):
    """A response of this server."""

    status: str
    headers: list[tuple[str, str]]
    body: bytes


def refusal(app: "WSGIApplication", config: Settings, error: Error, asked: Asked) -> Refused:
    """The response, in the form that requests of this kind expect."""
    if asked.path and error.code != 500 and asked.kind in PAGES:
        return _page(app, config, error.code, asked)
    status, content_type, body = _text(error.code, error.reason, asked.kind)
    headers = {
        "Content-Type": content_type,
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "no-store",
    }
    return Refused(status, list(headers.items()), body)


def _page(app: "WSGIApplication", config: Settings, code: int, asked: Asked) -> Refused:
    """The page that the application has for this status, in the language of the browser."""
    from werkzeug.test import create_environ  # here to keep the start fast

    environ = create_environ(
        asked.path,
        config.public_url,
        query_string=asked.query,
        method="POST" if asked.method == "POST" else "GET",
        headers={name: asked.headers[name] for name in OF_PAGES if name in asked.headers},
    )
    environ |= {"REMOTE_ADDR": asked.client, REFUSED: code}
    page = Response.from_app(app, environ, buffered=True)
    headers = [each for each in page.headers if each[0] != "Content-Length"]
    return Refused(page.status, headers, page.get_data())


def _text(code: int, reason: str, kind: RequestKind | None) -> tuple[str, str, bytes]:
    """Status line, content type and body, without the application."""
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
