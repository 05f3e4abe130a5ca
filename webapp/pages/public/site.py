"""Routes of the whole site: its start page, the choice of theme, the security contact, its notes.

The about page, for recipients of a form, and the privacy note do not use the database.
"""

from datetime import timedelta
from http import HTTPStatus

from flask import Blueprint, Response, abort, current_app, request, url_for
from flask_login import current_user
from werkzeug.exceptions import Forbidden

from webapp.answers import device_transfer, trash
from webapp.base import config_readers, database
from webapp.base.config import settings
from webapp.events.delivering import KEPT_DAYS
from webapp.oauth.tokens import GRANT_KEPT, SPENT_KEPT
from webapp.pages.errors import HOME, is_own_path
from webapp.pages.fragments import go_to
from webapp.pages.public.docs import public_text
from webapp.pages.respondent.form_data import COOKIE_DAYS
from webapp.records.accounts.browser_sessions import SESSION_IDLE, SESSION_LIFETIME
from webapp.web import request_kind, themes
from webapp.web.extensions import csrf

SECURITY_TXT = "/.well-known/security.txt"
GOOD_FOR = timedelta(days=180)  # the RFC recommends less than a year

bp = Blueprint("site", __name__)
about_bp = Blueprint("about", __name__)  # in the language of respondents


@bp.get("/")
def home() -> Response:
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
        f"Expires: {database.utc_now() + GOOD_FOR:%Y-%m-%dT00:00:00Z}",
        "Preferred-Languages: en",
        f"Canonical: {config.public_url}{SECURITY_TXT}",
        "",
    ]
    return public_text("\n".join(lines), max_age=config_readers.DAY)


@about_bp.get("/about")
def show_about() -> str:
    """Show what Askback is, and who operates this server."""
    return current_app.jinja_env.get_template("about/show.html").render(settings=settings())


@about_bp.get("/privacy")
def show_privacy() -> str:
    """Show the privacy note; its periods are the constants and settings that the code uses."""
    template = current_app.jinja_env.get_template("privacy/show.html")
    return template.render(
        settings=settings(),
        cookie_days=COOKIE_DAYS,
        link_minutes=device_transfer.TRANSFER_LINK_SECONDS // 60,
        trash_days=trash.TRASH_KEPT_SECONDS // config_readers.DAY,
        discarded_hours=trash.DISCARDED_KEPT_SECONDS // 3600,
        signed_in_days=SESSION_LIFETIME.days,
        idle_days=SESSION_IDLE.days,
        connection_days=GRANT_KEPT.days,
        token_days=SPENT_KEPT.days,
        delivery_days=KEPT_DAYS,
    )
