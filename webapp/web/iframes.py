"""Whether a request comes from a page inside another website, where nothing is remembered."""

from flask import g, request

# Fetch, section 2.2.5: request destinations
FRAMES = {"iframe", "frame", "embed", "object"}


def says_framed() -> bool:
    """True when the address says so (`embed=1`), or the browser does.

    Requests that scripts make inside a frame look like any other, so the address has to say it.
    """
    if "framed" not in g:
        in_frame = request.headers.get("Sec-Fetch-Dest") in FRAMES
        g.framed = in_frame or request.args.get("embed") == "1"
    framed: bool = g.framed
    return framed
