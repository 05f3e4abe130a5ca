"""What Askback is, for people who were sent a form."""

from flask import Blueprint, current_app

from webapp.base.config import settings

bp = Blueprint("about", __name__)


@bp.get("/about")
def show() -> str:
    """The page; needs no database."""
    template = current_app.jinja_env.get_template("about/show.html")
    return template.render(
        operator=settings().operator_name,
        contact=settings().operator_contact,
        host=settings().public_host,
    )
