"""Routes of the whole site: its start page, the choice of theme, the security contact."""

from datetime import timedelta
from http import HTTPStatus

from flask import Blueprint, Response, abort, request, url_for
from flask.typing import ResponseReturnValue
from flask_login import current_user
from werkzeug.exceptions import Forbidden

from webapp.base.config import settings
from webapp.base.config_readers import DAY
from webapp.base.database import utc_now
from webapp.pages.errors import HOME, is_own_path
from webapp.pages.fragments import go_to
from webapp.web import request_kind, themes
from webapp.web.extensions import csrf

SECURITY_TXT = "/.well-known/security.txt"
GOOD_FOR = timedelta(days=180)  # the RFC recommends less than a year

bp = Blueprint("site", __name__)


@bp.get("/")
def home() -> ResponseReturnValue:
    """Redirect to the drafts, or to the sign-in page."""
    return go_to(url_for("inbox.show") if current_user.is_authenticated else "/login")


@bp.post("/appearance")
def choose_theme() -> Response:
    """Store the theme in a cookie and redirect to the page where it was chosen.

    Signed-out visitors have no session, and so no CSRF token; the route refuses cross-site
    requests by their Origin or Sec-Fetch-Site header instead.
    """
    if not request_kind.is_same_origin():
        raise Forbidden
    back = request.form.get("back", "")
    response = go_to(back if is_own_path(back) else HOME)
    themes.keep(response, request.form.get(themes.FIELD, ""))
    return response


csrf.exempt(choose_theme)


@bp.get(SECURITY_TXT)
def security_txt() -> Response:
    """Serve the security contact of this server (RFC 9116); 404 if none is set."""
    config = settings()
    if config.security_contact is None:
        abort(HTTPStatus.NOT_FOUND)
    lines = [
        f"Contact: {config.security_contact}",
        f"Expires: {utc_now() + GOOD_FOR:%Y-%m-%dT00:00:00Z}",
        "Preferred-Languages: en",
        f"Canonical: {config.public_url}{SECURITY_TXT}",
        "",
    ]
    response = Response("\n".join(lines), mimetype="text/plain")
    response.cache_control.public = True
    response.cache_control.max_age = DAY
    return response
