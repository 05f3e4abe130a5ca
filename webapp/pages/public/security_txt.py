"""`/.well-known/security.txt` (RFC 9116): the security contact of this installation."""

from datetime import timedelta
from http import HTTPStatus

from flask import Blueprint, Response, abort

from webapp.base.config import settings
from webapp.base.config_readers import DAY
from webapp.base.database import utc_now

PATH = "/.well-known/security.txt"
GOOD_FOR = timedelta(days=180)  # the RFC recommends less than a year

bp = Blueprint("security_txt", __name__)


@bp.get(PATH)
def show() -> Response:
    """The document; 404 without a security contact in the settings."""
    config = settings()
    if config.security_contact is None:
        abort(HTTPStatus.NOT_FOUND)
    lines = [
        f"Contact: {config.security_contact}",
        f"Expires: {utc_now() + GOOD_FOR:%Y-%m-%dT00:00:00Z}",
        "Preferred-Languages: en",
        f"Canonical: {config.public_url}{PATH}",
        "",
    ]
    response = Response("\n".join(lines), mimetype="text/plain")
    response.cache_control.public = True
    response.cache_control.max_age = DAY
    return response
