"""The address of the sign-in page, and where to go after sign-in."""

import re
from urllib.parse import urlsplit

from flask import current_app, request
from itsdangerous import BadSignature, URLSafeTimedSerializer

from webapp.pages.fragments import shown_address
from webapp.web.url_converters import current_address, quoted_query

HOME = "/drafts"
RETURN_SECONDS = 3600  # our choice: how long a page to come back to is remembered
# no second slash, no backslash and no white space, which browsers turn into a slash or drop
OWN_PATH = re.compile(r"/(?!/)[!-\[\]-~]*")


def login_url() -> str:
    """The sign-in page with the page to return to: the one asked for, for htmx the open one."""
    shown = shown_address()
    if shown is None:
        remembered = request.method == "GET" or request.endpoint == "consent.decide"
        going = current_address() if remembered else ""
    else:
        going = own_page(shown)
    return f"/login?next={_serializer().dumps(going)}" if going else "/login"


def next_page() -> str:
    """The page to return to after sign-in.

    Only a signed `next` counts, so that no link can redirect to another site.
    """
    try:
        page: str = _serializer().loads(request.args.get("next", ""), max_age=RETURN_SECONDS)
    except BadSignature:
        return HOME
    return page


def own_page(address: str) -> str:
    """The path and query of a page of ours, "" for any other address."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return ""
    query = quoted_query(parts.query)
    path = parts._replace(scheme="", netloc="", query=query, fragment="").geturl()
    return path if parts.netloc == request.host and is_own_path(path) else ""


def is_own_path(path: str) -> bool:
    """True if a redirect to this path and query cannot leave this site."""
    return OWN_PATH.fullmatch(path) is not None


def _serializer() -> URLSafeTimedSerializer:
    return URLSafeTimedSerializer(current_app.config["SECRET_KEY"], salt="after-sign-in")
