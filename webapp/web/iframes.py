"""Whether a request comes from a page in an iframe, where no cookie is read or set."""

from flask import g, request

# Fetch, section 2.2.5: request destinations
FRAMES = {"iframe", "frame", "embed", "object"}


def says_in_iframe() -> bool:
    """True if the address says so (`embed=1`), or `Sec-Fetch-Dest` does.

    Requests of scripts in an iframe carry no such header value, so the address has to say it.
    """
    if "framed" not in g:
        in_frame = request.headers.get("Sec-Fetch-Dest") in FRAMES
        g.framed = in_frame or request.args.get("embed") == "1"
    framed: bool = g.framed
    return framed
