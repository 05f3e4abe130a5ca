"""The switch between light and dark of all pages but those of respondents, who have their own.

It works signed out, too, and viewing such a page sets no cookie. So cross-site requests are refused
by their Origin or Sec-Fetch-Site header, not by a session's token.
"""

from flask import Blueprint, Response, request
from werkzeug.exceptions import Forbidden

from webapp.pages.errors import HOME, is_own_path
from webapp.pages.fragments import go_to
from webapp.web import request_kind, themes
from webapp.web.extensions import csrf

bp = Blueprint("appearance", __name__)
csrf.exempt(bp)


@bp.post("/appearance")
def choose() -> Response:
    """Store the theme in a cookie and redirect to the page of the switch."""
    if not request_kind.is_same_origin():
        raise Forbidden
    back = request.form.get("back", "")
    response = go_to(back if is_own_path(back) else HOME)
    themes.keep(response, request.form.get(themes.FIELD, ""))
    return response
