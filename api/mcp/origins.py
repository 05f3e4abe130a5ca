"""Which pages of browsers may call the endpoint, and the CORS headers for them."""

from urllib.parse import urlsplit

from flask import Response, request

from webapp.config import Settings, settings
from webapp.config_readers import is_loopback, origin

KEPT_SECONDS = 7200  # the longest that Chromium keeps a preflight
PREFLIGHT = {
    "Access-Control-Allow-Methods": "POST",
    "Access-Control-Allow-Headers": (
        "Authorization, Content-Type, MCP-Protocol-Version, Mcp-Method, Mcp-Name"
    ),
    "Access-Control-Max-Age": str(KEPT_SECONDS),
}


def is_refused() -> bool:
    """Whether the request comes from a page that may not call; programs name no origin."""
    return "Origin" in request.headers and not _is_allowed(
        request.headers["Origin"], settings(), _own_origin()
    )


def add_cors(response: Response) -> Response:
    """Let the page of an allowed origin read the response; there are no credentials."""
    found = cors_headers(request.headers.get("Origin"), settings(), _own_origin())
    response.headers.add("Vary", found.pop("Vary"))
    response.headers.update(found)
    if found and request.method == "OPTIONS":
        response.headers.update(PREFLIGHT)
    return response


def cors_headers(given: str | None, config: Settings, own_origin: str) -> dict[str, str]:
    """Those of every response to a request of the origin `given`.

    own_origin  under which the request arrived, empty if unknown: its pages need no CORS
    """
    found = {"Vary": "Origin"}
    if given is not None and _is_allowed(given, config, own_origin):
        found["Access-Control-Allow-Origin"] = given
        found["Access-Control-Expose-Headers"] = "WWW-Authenticate"
    return found


def _own_origin() -> str:
    return request.host_url.rstrip("/")


def _is_allowed(given: str, config: Settings, own_origin: str) -> bool:
    """Whether it is our own, one that the operator named, or loopback where we are, too."""
    try:
        found = origin(given)
    except ValueError:
        return False
    if found in {config.public_url, own_origin}:
        return True
    local = config.on_loopback and is_loopback(urlsplit(found).hostname or "")
    return local or found in config.mcp_allowed_origins
