"""The switch between light and dark of all pages but those of respondents, who have their own.

It works signed out, too, and looking at such a page sets no cookie. So a page of ours is told by
where a browser says that the request comes from, not by the token of a session.
"""

from flask import Blueprint, Response, request
from werkzeug.exceptions import Forbidden

from webapp.pages.fragments import go_to
from webapp.pages.login_redirect import HOME, is_own_path
from webapp.web import request_origin, themes
from webapp.web.extensions import csrf

bp = Blueprint("appearance", __name__)
csrf.exempt(bp)


@bp.post("/appearance")
def choose() -> Response:
    """Keep the theme and go back to the page that the choice was made on."""
    if not request_origin.is_same_origin():
        raise Forbidden
    back = request.form.get("back", "")
    response = go_to(back if is_own_path(back) else HOME)
    themes.keep(response, request.form.get(themes.FIELD, ""))
    return response
