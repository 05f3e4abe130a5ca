"""Whose page sent a request, and whether anybody sees the answer, as far as browsers say."""

from flask import request

from webapp.config import settings


def is_same_origin() -> bool:
    """Whether a browser says that this request comes from a page of ours; silence is a no."""
    site = request.headers.get("Sec-Fetch-Site")
    origin = request.headers.get("Origin")
    if site not in {None, "same-origin"} or (site is None and origin is None):
        return False
    ours = {settings().public_url, request.host_url.rstrip("/")}
    return origin is None or origin in ours


def is_from_another_site() -> bool:
    """Whether a browser says that a page which is not ours sent this; silence is a no.

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
    """Whether a browser or mail program fetches the page ahead, unseen."""
    return "prefetch" in request.headers.get("Sec-Purpose", request.headers.get("Purpose", ""))
