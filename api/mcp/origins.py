"""Which pages of browsers may call the endpoint, and the CORS headers for them."""

from urllib.parse import urlsplit

from flask import Response, request

from webapp.config import settings
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
    return "Origin" in request.headers and not is_allowed(request.headers["Origin"])


def is_allowed(given: str) -> bool:
    """Whether it is our own, one that the operator named, or loopback where we are, too."""
    try:
        found = origin(given)
    except ValueError:
        return False
    if found in {settings().public_url, request.host_url.rstrip("/")}:
        return True
    local = settings().on_loopback and is_loopback(urlsplit(found).hostname or "")
    return local or found in settings().mcp_allowed_origins


def add_cors(response: Response) -> Response:
    """Let the page of an allowed origin read the response; there are no credentials."""
    response.headers.add("Vary", "Origin")
    if "Origin" in request.headers and not is_refused():
        response.headers["Access-Control-Allow-Origin"] = request.headers["Origin"]
        response.headers["Access-Control-Expose-Headers"] = "WWW-Authenticate"
        if request.method == "OPTIONS":
            response.headers.update(PREFLIGHT)
    return response
