"""The first page: the inbox for a signed-in creator, the sign-in page for everybody else."""

from flask import Blueprint, url_for
from flask.typing import ResponseReturnValue
from flask_login import current_user

from webapp.pages.fragments import go_to

bp = Blueprint("home", __name__)


@bp.get("/")
def show() -> ResponseReturnValue:
    """Redirect to the drafts, or to the sign-in page."""
    return go_to(url_for("inbox.show") if current_user.is_authenticated else "/login")
