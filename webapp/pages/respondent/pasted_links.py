"""Redirects for links with trailing text from a message: a full stop, a bracket, a space.

The keys in links have a fixed length, so that no character of a key is taken for trailing text.
"""

import re
from http import HTTPStatus

from flask import Flask, redirect, request
from flask.typing import ResponseReturnValue

from webapp.pages.respondent.session_view import find_form
from webapp.web.url_converters import quoted_query

LINK = re.compile(
    r"(?P<link>/join/[\w-]{43}"
    r"|/r/(?P<share_token>[\w-]{22})(?:/|/q/\d+(?:/f/\d+)?|/check|/done|/sent|/continue/[\w-]{32})?)"
    r"(?!\.\d)[^0-9A-Za-z/].*",  # 1.5 is not a question number
    re.ASCII | re.DOTALL,
)


def init_app(app: Flask) -> None:
    """Redirect addresses with trailing text to the link; an unknown form still gives 404."""
    app.before_request(_open)


def _open() -> ResponseReturnValue | None:
    found = LINK.fullmatch(request.path) if request.method in {"GET", "HEAD"} else None
    if not found:
        return None
    if found["share_token"]:
        find_form(found["share_token"])
    query = quoted_query(request.query_string)
    address = found["link"] + (f"?{query}" if query else "")
    return redirect(address, HTTPStatus.SEE_OTHER)
