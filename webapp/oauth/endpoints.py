"""The OAuth endpoints for programs: metadata, token, registration and revocation.

They use no session, and are open to every origin without credentials: browser clients call them.
"""

import json
import logging
import sqlite3
from contextlib import suppress
from http import HTTPStatus
from typing import Any

from authlib.oauth2 import OAuth2Error
from authlib.oauth2.rfc6749 import InvalidClientError, InvalidRequestError
from authlib.oauth2.rfc6749.util import extract_basic_authorization
from flask import Blueprint, Response, abort, g, jsonify, request
from flask_limiter import RateLimitExceeded
from sqlalchemy.exc import SQLAlchemyError
from werkzeug.exceptions import HTTPException, InternalServerError

from webapp.base import config, text
from webapp.base.database import release_connections, utc_now
from webapp.base.vocabulary import Scope
from webapp.oauth import protocol, registration
from webapp.oauth.server import AUTHORIZE, server
from webapp.records.audit import AuditKind
from webapp.web import extensions, hosts, limiter as limits, request_audit
from webapp.web.limiter import client_network, is_failure, limiter

BODY_MAX_BYTES = 16 * 1024
METADATA_KEPT_SECONDS = 300
CLIENT_KEY_CHARS = 100  # how much of a client id the key of a limit contains
RATE_OF_TOKENS = "600/minute"  # per client and network address
RATE_OF_FAILURES = "10/minute"  # per client, network address, and code or refresh token
# per network address, to bound floods; a known client without a secret does not count
REGISTRATION_RATE = "1000/hour;3000/day"
REFUSED_REGISTRATIONS = "60/minute"
AUTHORIZATION_SERVER = "/.well-known/oauth-authorization-server"
PROTECTED_RESOURCE = "/.well-known/oauth-protected-resource"
FORM = "application/x-www-form-urlencoded"
TOKEN_PARAMETERS = (
    *("grant_type", "code", "redirect_uri", "code_verifier", "client_id", "client_secret"),
    *("refresh_token", "scope", "resource", "token", "token_type_hint"),
)
OPEN = {"Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": "WWW-Authenticate"}
ALLOWED_HEADERS = "authorization, content-type, mcp-protocol-version"

REFUSAL = "The request cannot be read as one of this address."
REFUSALS = {
    404: "There is nothing at this address.",
    405: "This address takes no such method; the Allow header names those that it takes.",
    413: f"The body is larger than {BODY_MAX_BYTES // 1024} KiB.",
}

log = logging.getLogger("askback.oauth")

bp = Blueprint("oauth", __name__)
extensions.csrf.exempt(bp)


@bp.before_request
def read_the_form() -> None:
    """Bound the body, and read the form before the rate limits use its fields."""
    request.max_content_length = BODY_MAX_BYTES
    request.form  # noqa: B018


@bp.after_request
def open_to_all_origins(response: Response) -> Response:
    """Allow CORS without credentials; both official SDKs send a header that needs a preflight."""
    response.headers.update(OPEN)
    if request.method == "OPTIONS":
        response.headers["Access-Control-Allow-Methods"] = response.headers.get("Allow", "")
        response.headers["Access-Control-Allow-Headers"] = ALLOWED_HEADERS
        response.headers["Access-Control-Max-Age"] = str(METADATA_KEPT_SECONDS)
    return response


@bp.errorhandler(OAuth2Error)
def oauth_error(error: OAuth2Error) -> Response:
    """Answer with an error of RFC 6749 section 5.2, or of RFC 7591 section 3.2.2."""
    status, body, headers = protocol.worded(error)()
    return _no_store(body, status, dict(headers))


@bp.errorhandler(HTTPException)
def http_error(error: HTTPException) -> Response:
    """Answer any other HTTP error with an OAuth error."""
    code, said = "invalid_request", REFUSALS.get(error.code or 0, REFUSAL)
    own = {"Content-Type", "Content-Length"}
    headers = {name: value for name, value in error.get_headers() if name not in own}
    if isinstance(error, RateLimitExceeded):
        limit, seconds = limits.limit_in_words(error), limits.seconds_to_wait(error)
        headers["Retry-After"], again = str(seconds), limits.time_in_words(seconds)
        said = f"Too many requests came from here: {limit}. Try again in {again}."
        code = "temporarily_unavailable"
    elif error.code == HTTPStatus.INTERNAL_SERVER_ERROR:
        # a request may have stored something before it failed, such as a spent code
        code, said = "server_error", "Something broke on our side. Try again."
    status = error.code or HTTPStatus.BAD_REQUEST
    return _no_store({"error": code, "error_description": said}, status, headers)


@bp.errorhandler(SQLAlchemyError)
@bp.errorhandler(sqlite3.Error)
def storage_failed(_error: Exception) -> Response:
    """Answer with a server error when the database is locked, full or unavailable."""
    log.exception("storage failed")
    release_connections()
    return http_error(InternalServerError())


def router_refusal(error: HTTPException) -> Response:
    """Answer an error before routing, such as a wrong method, as an OAuth error."""
    return open_to_all_origins(http_error(error))


@bp.get(AUTHORIZATION_SERVER, strict_slashes=False)
@bp.get(f"{AUTHORIZATION_SERVER}/<path:_resource>")
@bp.get(f"/api{AUTHORIZATION_SERVER}", strict_slashes=False)
@bp.get(f"/mcp/app{AUTHORIZATION_SERVER}", strict_slashes=False)
def authorization_server(_resource: str = "") -> Response:
    """Return the server metadata (RFC 8414).

    Clients without RFC 9728 take the address of a resource for the issuer, and some refuse a
    document that names another issuer. So each resource has a document with its own issuer and
    authorization endpoint, whose redirects name that issuer (RFC 9207). All else is the same.
    """
    path, _ = _asked_resource(AUTHORIZATION_SERVER)
    origin = hosts.origin_under(request.host)
    document = {
        "issuer": origin + path,
        "authorization_endpoint": f"{origin}{AUTHORIZE}{path}",
        "token_endpoint": f"{origin}/oauth/token",
        "registration_endpoint": f"{origin}/oauth/register",
        "revocation_endpoint": f"{origin}/oauth/revoke",
        "scopes_supported": [scope.value for scope in Scope],
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": list(registration.GRANT_TYPES),
        "token_endpoint_auth_methods_supported": list(registration.AUTH_METHODS),
        "revocation_endpoint_auth_methods_supported": list(registration.AUTH_METHODS),
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": True,
        "client_id_metadata_document_supported": config.settings().client_documents,
    }
    return _document(document)


@bp.get(PROTECTED_RESOURCE, strict_slashes=False)
@bp.get(f"{PROTECTED_RESOURCE}/<path:_resource>")
@bp.get(f"/api{PROTECTED_RESOURCE}", strict_slashes=False)
@bp.get(f"/mcp/app{PROTECTED_RESOURCE}", strict_slashes=False)
def protected_resource(_resource: str = "") -> Response:
    """Return the metadata (RFC 9728) of one resource, or of the origin, which means all resources.

    `resource` repeats the requested address with its host name and trailing slash (section 3.3).
    The authorization server always has the public address; only that server knows `offline_access`.
    """
    path, name = _asked_resource(PROTECTED_RESOURCE)
    document = {
        "resource": hosts.origin_under(request.host) + path,
        "authorization_servers": [config.settings().public_url],
        "scopes_supported": [s.value for s in Scope if s is not Scope.OFFLINE_ACCESS],
        "bearer_methods_supported": ["header"],
        "resource_name": name,
        "resource_documentation": f"{config.settings().public_url}/docs/connect",
    }
    return _document(document)


@bp.post("/oauth/token")
@limiter.limit(
    lambda: RATE_OF_FAILURES,
    key_func=lambda: f"{_client_key()} {_credential_key()}",
    error_message="failed requests",
    deduct_when=is_failure,
    on_breach=request_audit.telling_refusals(AuditKind.TOKEN_ISSUED),
)
@limiter.limit(lambda: RATE_OF_TOKENS, key_func=lambda: _client_key())
def token() -> Response:
    """Exchange codes and refresh tokens for access tokens."""
    _check_token_request()
    return server.create_token_response()  # type: ignore[no-any-return]


@bp.post("/oauth/revoke")
@limiter.limit(lambda: RATE_OF_TOKENS, key_func=lambda: _client_key())
def revoke() -> Response:
    """Revoke a token (RFC 7009)."""
    _check_token_request()
    return server.create_endpoint_response("revocation")  # type: ignore[no-any-return]


@bp.post("/oauth/register")
@limiter.limit(
    lambda: REGISTRATION_RATE,
    key_func=client_network,
    error_message="registrations",
    deduct_when=lambda _response: g.get("is_new_client", False),
)
def register() -> Response:
    """Register a client (RFC 7591); anybody may."""
    metadata = None  # if the body is no JSON
    with suppress(ValueError, RecursionError):
        metadata = json.loads(request.get_data())
    try:
        body, g.is_new_client = registration.register_client(metadata, now=utc_now())
    except registration.Refused:
        _count_refusal()
        raise
    return _no_store(body, HTTPStatus.CREATED)


@limiter.limit(
    REFUSED_REGISTRATIONS, key_func=client_network, error_message="refused registrations"
)
def _count_refusal() -> None:
    """Count a refusal apart: a broken agent must not lock out others. Raises RateLimitExceeded."""


def _asked_resource(document: str) -> tuple[str, str]:
    """Return the path and the name of the resource that the requested document describes, or 404.

    The path precedes or follows `document` in the address; it is empty for the origin.
    """
    before, _, behind = request.path.partition(document)
    path = before or ("" if behind == "/" else behind)
    named = protocol.served_resources() | {config.settings().public_url: "Askback"}
    name = named.get(config.settings().public_url + path.removesuffix("/"))
    return (path, name) if name else abort(HTTPStatus.NOT_FOUND)


def _check_token_request() -> None:
    """Check that our parameters come in the form, at most once (RFC 6749 section 3.2).

    Raises InvalidRequestError or InvalidClientError.
    """
    if request.query_string:
        raise InvalidRequestError("Send the parameters in the body, not in the address.")
    if request.mimetype != FORM:
        raise InvalidRequestError(f"Send the parameters form-encoded, as {FORM}.")
    for name in TOKEN_PARAMETERS:
        values = request.form.getlist(name)
        if len(values) > 1 and name != "resource":
            raise InvalidRequestError("A parameter was sent more than once.")
        if not all(_printable(value) for value in values):
            raise InvalidRequestError("Every parameter has to be printable ASCII text.")
    problem = ""
    try:
        parts = extract_basic_authorization(request.headers)
        if not all(_printable(part) for part in parts if part):
            raise ValueError
    except ValueError:
        problem = "The Basic authorization cannot be read."
    if not request.form.get("client_id") and "Authorization" not in request.headers:
        problem = "Send client_id, or the client's Basic authorization."
    if problem:
        raise InvalidClientError(problem, status_code=HTTPStatus.UNAUTHORIZED)


def _printable(value: str) -> bool:
    return value.isascii() and value.isprintable()


def _client_key() -> str:
    client_id = request.form.get("client_id", "")
    with suppress(ValueError):  # an unreadable header
        client_id = client_id or extract_basic_authorization(request.headers)[0] or ""
    return f"{client_network()} {client_id[:CLIENT_KEY_CHARS]}"


def _credential_key() -> str:
    """Hash the code or refresh token: many installs of one app share a client id and a network."""
    return text.token_hash(request.form.get("refresh_token") or request.form.get("code") or "")


def _document(body: dict[str, Any]) -> Response:
    response = jsonify(body)
    response.cache_control.public = True
    response.cache_control.max_age = METADATA_KEPT_SECONDS
    return response


def _no_store(body: object, status: int, headers: dict[str, str] | None = None) -> Response:
    response = jsonify(body)
    response.status_code = status
    response.headers.update(headers or {})
    response.headers["Cache-Control"] = "no-store"
    return response
