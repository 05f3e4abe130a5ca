"""The about page for recipients of a form, and the privacy note; neither uses the database."""

from flask import Blueprint, current_app

from webapp.answers.device_transfer import TRANSFER_LINK_SECONDS
from webapp.answers.trash import DISCARDED_KEPT_SECONDS, TRASH_KEPT_SECONDS
from webapp.base.config import settings
from webapp.base.config_readers import DAY
from webapp.events.delivering import KEPT_DAYS
from webapp.oauth.tokens import GRANT_KEPT, SPENT_KEPT
from webapp.pages.respondent.form_data import COOKIE_DAYS
from webapp.records.accounts.browser_sessions import SESSION_IDLE, SESSION_LIFETIME

bp = Blueprint("about", __name__)


@bp.get("/about")
def show() -> str:
    """Show what Askback is, and who operates this server."""
    return current_app.jinja_env.get_template("about/show.html").render(settings=settings())


@bp.get("/privacy")
def show_privacy() -> str:
    """Show the privacy note; its periods are the constants and settings that the code uses."""
    template = current_app.jinja_env.get_template("privacy/show.html")
    return template.render(
        settings=settings(),
        cookie_days=COOKIE_DAYS,
        link_minutes=TRANSFER_LINK_SECONDS // 60,
        trash_days=TRASH_KEPT_SECONDS // DAY,
        discarded_hours=DISCARDED_KEPT_SECONDS // 3600,
        signed_in_days=SESSION_LIFETIME.days,
        idle_days=SESSION_IDLE.days,
        connection_days=GRANT_KEPT.days,
        token_days=SPENT_KEPT.days,
        delivery_days=KEPT_DAYS,
    )
