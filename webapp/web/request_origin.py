"""Same-origin, cross-site, framed and prefetch requests, by the headers of browsers."""

from flask import g, request

from webapp.config import settings

# Fetch, section 2.2.5: request destinations
FRAMES = {"iframe", "frame", "embed", "object"}


def is_same_origin() -> bool:
    """True if a browser header says that the request comes from our origin; False without one."""
    site = request.headers.get("Sec-Fetch-Site")
    origin = request.headers.get("Origin")
    if site not in {None, "same-origin"} or (site is None and origin is None):
        return False
    ours = {settings().public_url, request.host_url.rstrip("/")}
    return origin is None or origin in ours


def is_from_another_site() -> bool:
    """True if a browser header says that the request is cross-site; False without one.

    `Origin: null` is not ours: under `Referrer-Policy: same-origin` our pages name themselves.
    """
    if request.headers.get("Sec-Fetch-Site") in {"cross-site", "same-site"}:
        return True
    origin = request.headers.get("Origin")
    if origin is None or origin == settings().public_url:
        return False
    # a proxy that ends TLS may not say so
    return origin not in {request.host_url.rstrip("/"), f"https://{request.host}"}


def is_prefetch() -> bool:
    """True if a browser or mail program prefetches the page."""
    return "prefetch" in request.headers.get("Sec-Purpose", request.headers.get("Purpose", ""))


def says_in_iframe() -> bool:
    """True for a page in an iframe, where no cookie is read or set.

    The address says so (`embed=1`), or `Sec-Fetch-Dest` does: requests of scripts in an iframe
    carry no such header value.
    """
    if "framed" not in g:
        in_frame = request.headers.get("Sec-Fetch-Dest") in FRAMES
        g.framed = in_frame or request.args.get("embed") == "1"
    framed: bool = g.framed
    return framed
