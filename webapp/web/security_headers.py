"""Response headers of every page.

A route widens one of the headers by calling a function here.
"""

from flask import Flask, Response, g, session

from webapp.base.config import Settings
from webapp.web.request_kind import PROGRAMS, RequestKind, request_kind

POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self' data:",
    "media-src": "'self' blob:",
    "font-src": "'self'",
    "connect-src": "'self'",
    "form-action": "'self'",
    "base-uri": "'none'",
    "frame-ancestors": "'none'",
}
FEATURES = (
    "microphone={}, camera=(), geolocation=(), payment=(), usb=(), display-capture=(), "
    "browsing-topics=()"
)
WITHOUT_MICROPHONE, WITH_MICROPHONE = FEATURES.format("()"), FEATURES.format("(self)")
NOTHING = "default-src 'none'; frame-ancestors 'none'"
# No route sets any of these itself: looking for each header before it is added takes time.
FOR_EVERYBODY = (
    ("X-Content-Type-Options", "nosniff"),
    # no-referrer would make the CSRF check refuse every form on https
    ("Referrer-Policy", "same-origin"),
)
FOR_PROGRAMS = (*FOR_EVERYBODY, ("Content-Security-Policy", NOTHING))
TWO_YEARS_SECONDS = 63_072_000  # the span that preload lists ask for


def init_app(app: Flask, settings: Settings) -> None:
    """Add the headers to every response of `app`; HSTS only if the public address is https.

    Call it before other extensions: what is registered first sees the answer last.
    """

    promise = f"max-age={TWO_YEARS_SECONDS}"
    if settings.hsts_include_subdomains:
        promise += "; includeSubDomains"

    @app.after_request
    def add_headers(response: Response) -> Response:
        if settings.secure:
            response.headers.setdefault("Strict-Transport-Security", promise)
        return _with_headers(response)


def allow_any_form_action() -> None:
    """The consent page: a browser applies form-action to the redirect back to the client, too."""
    g.any_form_action = True


def allow_frames(origins: str) -> None:
    """Let these origins, separated by spaces, embed this page; "" allows none."""
    g.frame_origins = origins


def allow_microphone() -> None:
    """Let this document record. Pages that are swapped into it have its rights, not their own."""
    g.microphone = True


def _with_headers(response: Response) -> Response:
    headers = response.headers
    kind = request_kind()
    if kind in PROGRAMS:
        headers.extend(FOR_PROGRAMS)
        return response
    headers.extend(FOR_EVERYBODY)
    headers.setdefault("Cache-Control", "private, no-store")
    if response.mimetype == "text/html":
        headers.add("Content-Security-Policy", _policy())
        headers.add(
            "Permissions-Policy", WITH_MICROPHONE if g.get("microphone") else WITHOUT_MICROPHONE
        )
        if not g.get("frame_origins"):
            headers.add("X-Frame-Options", "DENY")
        return response
    if kind is not RequestKind.STATIC:
        headers.add("Content-Security-Policy", NOTHING)
    if kind is RequestKind.STATIC or response.cache_control.public:
        # Flask-Login looks into the session of every request and writes into that of some; what
        # anybody may keep is the same for all, and takes no cookie along
        session.modified = False
        session.accessed = False  # last: looking at the session sets it
    return response


def _policy() -> str:
    origins, policy = g.get("frame_origins"), dict(POLICY)
    if origins:
        policy["frame-ancestors"] = origins
    if g.get("any_form_action"):
        del policy["form-action"]
    return "; ".join(f"{name} {value}" for name, value in policy.items())
