"""Scopes, resources, secrets and errors of the OAuth protocol."""

import secrets
from collections.abc import Iterable
from urllib.parse import urlsplit

from authlib.oauth2 import OAuth2Error
from flask import request

from webapp.base import config_readers
from webapp.base.config import settings
from webapp.base.vocabulary import Scope
from webapp.web.hosts import origin_under

CODE_PREFIX = "askac_"
ACCESS_PREFIX = "askat_"
REFRESH_PREFIX = "askrt_"
CLIENT_SECRET_PREFIX = "askcs_"  # noqa: S105 (a public prefix, not a secret)

RANDOM_BYTES = 32
SECRET_CHARS = 6 + 43  # every prefix has six characters; 32 bytes are 43 in base64


def new_secret(prefix: str) -> str:
    """Return a new random secret; secret scanners recognise its prefix."""
    return prefix + secrets.token_urlsafe(RANDOM_BYTES)


def looks_like(prefix: str, secret: str) -> bool:
    """Return False for text that cannot be such a credential, so that garbage costs no query."""
    return len(secret) == SECRET_CHARS and secret.startswith(prefix)


# the default scopes of a request, and the scopes that a 401 asks for
PERMISSIONS = (Scope.FORMS_READ, Scope.FORMS_WRITE, Scope.RESPONSES_READ)


def read_scopes(text: str | None) -> list[Scope]:
    """Return our scopes in the text in order, each once; some clients separate them by commas."""
    words = (text or "").replace(",", " ").split()
    return sorted((scope for scope in Scope if scope in words), key=words.index)


def name_permission(scopes: Iterable[str]) -> bool:
    """Return whether the scopes contain a permission; `offline_access` alone permits nothing."""
    return not set(scopes).isdisjoint(PERMISSIONS)


def served_resources() -> dict[str, str]:
    """Return the resources of this application with their `resource_name` (RFC 9728)."""
    return {settings().api_url: "Askback API", settings().mcp_url: "Askback for MCP"}


def resource_metadata_url(resource: str) -> str:
    """Return the URL of the resource's RFC 9728 document: the well-known part precedes the path.

    The document has to name the address of the request (section 3.3), so this URL takes the host
    name and the trailing slash from the request.
    """
    path = urlsplit(resource).path
    slash = "/" if request.path == f"{path}/" else ""
    origin = origin_under(request.host)
    return f"{origin}/.well-known/oauth-protected-resource{path}{slash}"


def named_resources(name: str) -> set[str]:
    """Return our resources at, below or above this address; none if foreign or with a fragment.

    So the origin names both resources, and the address of a call names its resource.
    """
    try:
        parts = urlsplit(name)
        found = config_readers.origin(f"{parts.scheme}://{parts.netloc}")
    except ValueError:
        return set()
    if "#" in name or found != origin_under(parts.netloc):
        return set()
    path = parts.path.rstrip("/") + "/"
    paths = {resource: urlsplit(resource).path + "/" for resource in served_resources()}
    return {
        resource for resource, own in paths.items() if own.startswith(path) or path.startswith(own)
    }


DESCRIPTION_MAX_CHARS = 200  # a longer one repeats what a client sent
GENERAL = {
    "access_denied": "The creator did not allow it.",
    "consent_required": "Consent is asked each time, and the request forbids to ask.",
    "invalid_client": "The client is unknown or did not prove who it is.",
    "invalid_grant": "This token is unknown, expired or revoked; ask for consent again.",
    "invalid_request": "A parameter is missing, malformed or was sent more than once.",
    "invalid_scope": "A scope is unknown here, or wider than what was granted.",
    "login_required": "Nobody is signed in, and the request forbids to ask.",
    "unsupported_grant_type": "The grant_type is neither authorization_code nor refresh_token.",
    "unsupported_response_type": "The response_type is not code, the only one offered.",
}
REFUSED = "The request was refused; read the documentation of this server."


def worded(error: OAuth2Error) -> OAuth2Error:
    """Return the error; replace its description if that is missing or long."""
    if not 1 <= len(error.description or "") <= DESCRIPTION_MAX_CHARS:
        error.description = GENERAL.get(error.error, REFUSED)
    return error
