"""Documents for who builds on the API, open to everybody."""

from http import HTTPStatus
from itertools import groupby

from flask import Blueprint, render_template
from markupsafe import Markup, escape

from webapp.config import DAY, settings
from webapp.domain.shared.vocabulary import Scope
from webapp.wire.error_codes import ERROR_CODES

bp = Blueprint("docs", __name__, url_prefix="/docs")


@bp.get("/errors")
def show_errors() -> str:
    """Every error code with its meaning and what to do, by status."""
    by_status = sorted(ERROR_CODES, key=lambda known: known.status)
    groups = [
        (HTTPStatus(status), list(codes))
        for status, codes in groupby(by_status, key=lambda known: known.status)
    ]
    openapi_url = f"{settings().api_url}/openapi"
    return render_template(
        "docs/errors.html", groups=groups, openapi_url=openapi_url, in_code=in_code
    )


def in_code(text: str) -> Markup:
    """The text as markup, what stands between backticks as code."""
    parts = [
        Markup("<code>{}</code>").format(part) if number % 2 else escape(part)
        for number, part in enumerate(text.split("`"))
    ]
    return Markup("").join(parts)


@bp.get("/connect")
def show_connecting() -> str:
    """How an agent is connected by OAuth; the RFC 9728 documents lead here."""
    config = settings()
    return render_template(
        "docs/connect.html",
        origin=config.public_url,
        api_url=config.api_url,
        mcp_url=config.mcp_url,
        scopes=[scope.value for scope in Scope],
        code_seconds=config.oauth_code_seconds,
        lasting_days=config.oauth_grant_seconds // DAY,
    )
