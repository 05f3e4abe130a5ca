"""Helpers shared by creator pages: blueprints, rate limits, the account."""

from collections.abc import Callable
from datetime import datetime
from http import HTTPStatus
from typing import TypedDict, cast

from flask import Blueprint, Response, request
from flask_limiter import RateLimitExceeded
from flask_login import current_user, login_required

from webapp.base.database import utc_now
from webapp.pages import errors
from webapp.records.audit import Actor
from webapp.web import request_audit
from webapp.web.limiter import limiter

PAGE_WRITES_RATE = "120/minute"  # changes that one account makes through pages
PAGE_FORMS_RATE = "20/minute;200/day"  # new drafts of one account; separately, publications


class Acting(TypedDict):
    """The time of a use case, and the actor that the audit log names."""

    now: datetime
    by: Actor


def creator_blueprint(
    name: str,
    url_prefix: str,
    *,
    limits_writes: bool = True,
    before: Callable[[], None] | None = None,
) -> Blueprint:
    """Return a blueprint for pages that require a signed-in creator.

    limits_writes  whether its POSTs share one rate limit; a refusal keeps the typed text
    before         a check of each request that runs before the sign-in check
    """
    bp = Blueprint(name, __name__, url_prefix=url_prefix)
    for check in filter(None, (before, require_creator)):
        bp.before_request(check)
    bp.register_error_handler(RateLimitExceeded, errors.too_many_writes)
    if limits_writes:
        limit_writes(bp)
    return bp


@login_required  # type: ignore[untyped-decorator]
def require_creator() -> None:
    """Require a signed-in creator; for `before_request`."""


def creator_id() -> str:
    """Return the account id of the signed-in creator."""
    return cast(str, current_user.id)


def acting() -> Acting:
    """Return the current time and the signed-in creator as the actor."""
    return Acting(now=utc_now(), by=request_audit.creator())


def _is_done(response: Response) -> bool:
    return response.status_code < HTTPStatus.BAD_REQUEST


limit_writes = limiter.shared_limit(
    lambda: PAGE_WRITES_RATE,
    "page writes",
    key_func=creator_id,
    methods=["POST"],
    exempt_when=lambda: not current_user.is_authenticated,
    deduct_when=_is_done,
)


# these two come on top of the limit of writes
limit_new_drafts = limiter.shared_limit(
    lambda: PAGE_FORMS_RATE,
    "drafts by pages",
    key_func=creator_id,
    override_defaults=False,
    deduct_when=_is_done,
)
limit_publishes = limiter.shared_limit(
    lambda: PAGE_FORMS_RATE,
    "publications by pages",
    key_func=creator_id,
    override_defaults=False,
    exempt_when=lambda: request.form.get("then") == "agent",
    deduct_when=_is_done,
)
