"""Refusals of the server itself, and responses after a failure of the application."""

import re
from collections.abc import Mapping
from http import HTTPStatus
from io import BytesIO
from typing import Any

import orjson
from flask import Flask
from werkzeug.wrappers import Response

from api.mcp import protocol
from api.mcp.protocol import INTERNAL_ERROR, INVALID_REQUEST, RpcError, encoded, error_body
from webapp.base.config import Settings
from webapp.base.errors import ErrorCode
from webapp.oauth import endpoints
from webapp.web.form_body_limits import REFUSED
from webapp.web.request_kind import REST, RequestKind, of_address

HEAD_BYTES = 64 * 1024
OLD_VERSIONS = {"1", "1.0"}
VERSIONS = {*OLD_VERSIONS, "1.1"}
# RFC 3986 section 3.2: an address in brackets, else a name or an IPv4 address; and a port
HOST = re.compile(
    rb"(?:\[[0-9A-Fa-f:.]+\]|(?:[A-Za-z0-9._~!$&'()*+;=-]|%[0-9A-Fa-f]{2})+)(?::([0-9]{0,5}))?"
)
LENGTH = re.compile(rb"[0-9]{1,18}")


def refused_framing(scope: Mapping[str, Any]) -> HTTPStatus | None:
    """Return the status of the refusal for an ASGI scope; None if its framing is valid.

    Names of headers are in lower case. The connection has to be closed after a refusal.
    """
    version, fields = scope["http_version"], scope["headers"]
    size = sum(len(name) + len(value) + 4 for name, value in fields)
    if size + len(scope["raw_path"]) + len(scope["query_string"]) > HEAD_BYTES:
        return HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
    hosts, lengths, codings = (
        [value for name, value in fields if name == wanted]
        for wanted in (b"host", b"content-length", b"transfer-encoding")
    )
    if version in OLD_VERSIONS and hosts in ([], [b""]):  # how granian passes a missing Host
        hosts = [b"none"]
    if version not in VERSIONS or len(hosts) != 1 or not _is_host(hosts[0]):  # section 3.2
        return HTTPStatus.BAD_REQUEST
    if len(lengths) + len(codings) > 1 or not all(map(LENGTH.fullmatch, lengths)):  # section 6
        return HTTPStatus.BAD_REQUEST
    if codings and codings[0].strip().lower() != b"chunked":
        return HTTPStatus.NOT_IMPLEMENTED
    return None


def _is_host(value: bytes) -> bool:
    found = HOST.fullmatch(value)
    return found is not None and int(found[1] or 0) < 65_536


# None: pages of creators and of the public, and unknown addresses
PAGES = {RequestKind.RESPONDENT_PAGE, None}
FAULT = "The service could not complete the request."
# the text does not say whether anything was stored, because that is unknown
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


def refusal(
    app: Flask, config: Settings, status: HTTPStatus, environ: Mapping[str, Any]
) -> Response:
    """Return the response to a WSGI environment, in the format for this kind of request."""
    path = "/" + environ["PATH_INFO"].lstrip("/")
    kind = of_address(path)  # None for pages of creators and of the public
    if status != HTTPStatus.INTERNAL_SERVER_ERROR and kind in PAGES:
        return _page(app, status, path, environ)
    status, content_type, body = _text(status, kind)
    headers = {"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"}
    if kind is RequestKind.OAUTH:  # pages of other origins read these responses
        headers |= endpoints.OPEN
    elif kind is RequestKind.MCP:
        origin = environ.get("HTTP_ORIGIN")
        headers |= {"Vary": "Origin"} | protocol.cors_headers(origin, config, own_origin="")
    return Response(body, status, headers, content_type=content_type)


def _page(app: Flask, status: HTTPStatus, path: str, environ: Mapping[str, Any]) -> Response:
    """Return the application's page for this status, in the language of the browser."""
    asked = {
        **environ,
        "PATH_INFO": path,
        "REQUEST_METHOD": "POST" if environ["REQUEST_METHOD"] == "POST" else "GET",
        "HTTP_HOST": app.config["SERVER_NAME"],
        "HTTP_X_REQUEST_ID": "",
        "CONTENT_LENGTH": "0",
        "wsgi.input": BytesIO(),
        REFUSED: status,
    }
    return Response.from_app(app, asked, buffered=True)


def _text(status: HTTPStatus, kind: RequestKind | None) -> tuple[HTTPStatus, str, bytes]:
    """Return status, content type and body, without the application."""
    # 501 is for an unknown transfer encoding, which is a fault of the request
    is_fault = status >= 500 and status != HTTPStatus.NOT_IMPLEMENTED
    if kind in REST:
        known = HTTPStatus.INTERNAL_SERVER_ERROR if is_fault else status
        code, message, resolution = API_REFUSALS.get(known, UNREADABLE)
        fields = {"error": message, "code": code, "message": message, "resolution": resolution}
        return code.status, "application/json", orjson.dumps(fields)
    if kind is RequestKind.MCP:  # the id of the request is not known here
        fault = (INTERNAL_ERROR, FAULT) if is_fault else (INVALID_REQUEST, f"{status.phrase}.")
        return status, "application/json", encoded(error_body(None, RpcError(*fault)))
    if status == HTTPStatus.INTERNAL_SERVER_ERROR:
        return status, "text/html; charset=utf-8", BROKEN
    return status, "text/plain; charset=utf-8", f"{status.phrase}. Nothing was changed.\n".encode()


# the API answers 400 both to too large and to unreadable requests
API_REFUSALS = {
    HTTPStatus.INTERNAL_SERVER_ERROR: (
        ErrorCode.INTERNAL_ERROR,
        FAULT,
        "Try again; if it happens again, tell the operator of this service.",
    ),
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: (
        ErrorCode.PAYLOAD_TOO_LARGE,
        "body: is larger than this server reads.",
        "Send less: all questions of a draft together must fit into 256 KiB.",
    ),
    HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE: (
        ErrorCode.PAYLOAD_TOO_LARGE,
        "The headers are larger than this server reads.",
        "Send fewer or shorter headers.",
    ),
}
UNREADABLE = (
    ErrorCode.VALIDATION_FAILED,
    "The request is not HTTP/1.1 that this server understands.",
    "Check the request line, the headers and the transfer encoding.",
)
