"""Sets the security headers of every response.

A route relaxes one of them by calling a function of this module.
"""

from flask import Flask, Response, g, session

from webapp.base.config import settings
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
NOTHING = "default-src 'none'; frame-ancestors 'none'"
# routes must not set these themselves: to look for each header before adding it takes time
FOR_EVERYBODY = (
    ("X-Content-Type-Options", "nosniff"),
    # no-referrer would make the CSRF check refuse every form on https
    ("Referrer-Policy", "same-origin"),
)
FOR_PROGRAMS = (*FOR_EVERYBODY, ("Content-Security-Policy", NOTHING))
HSTS = "max-age=63072000"  # two years, the span that preload lists ask for


def init_app(app: Flask) -> None:
    """Add the headers to every response of `app`; HSTS only if the public address is https.

    Call it before other extensions: the hook that is registered first sees the response last.
    """
    app.after_request(_add_headers)


def allow_any_form_action() -> None:
    """Drop form-action on the consent page, as browsers apply it to the redirect to the client."""
    g.any_form_action = True


def allow_frames(origins: str) -> None:
    """Let these origins, separated by spaces, embed this page; "" allows none."""
    g.frame_origins = origins


def allow_microphone() -> None:
    """Let this document record; pages that are swapped into it get its rights, not their own."""
    g.microphone = True


def _add_headers(response: Response) -> Response:
    headers = response.headers
    kind = request_kind()
    if settings().secure:
        subdomains = "; includeSubDomains" if settings().hsts_include_subdomains else ""
        headers.setdefault("Strict-Transport-Security", HSTS + subdomains)
    if kind in PROGRAMS:
        headers.extend(FOR_PROGRAMS)
        return response
    headers.extend(FOR_EVERYBODY)
    headers.setdefault("Cache-Control", "private, no-store")
    if response.mimetype == "text/html":
        headers.add("Content-Security-Policy", _policy())
        allowed = "(self)" if g.get("microphone") else "()"
        headers.add("Permissions-Policy", FEATURES.format(allowed))
        if not g.get("frame_origins"):
            headers.add("X-Frame-Options", "DENY")
        return response
    if kind is not RequestKind.STATIC:
        headers.add("Content-Security-Policy", NOTHING)
    if kind is RequestKind.STATIC or response.cache_control.public:
        # Flask-Login reads the session of every request and writes some; a response that anybody
        # may cache must carry no cookie
        session.modified = False
        session.accessed = False  # last, because any access to the session sets it
    return response


def _policy() -> str:
    policy = dict(POLICY)
    if origins := g.get("frame_origins"):
        policy["frame-ancestors"] = origins
    if g.get("any_form_action"):
        del policy["form-action"]
    return "; ".join(f"{name} {value}" for name, value in policy.items())
