"""Helpers shared by creator pages: blueprints, rate limits, the account, names of agents."""

from collections.abc import Callable, Iterable
from datetime import datetime
from http import HTTPStatus
from typing import ParamSpec, TypedDict, TypeVar, cast

from flask import Blueprint, Flask, Response, request
from flask_limiter import RateLimitExceeded
from flask_login import current_user, login_required
from sqlalchemy import select

from webapp.base.config import settings
from webapp.base.database import db, utc_now
from webapp.oauth import connections
from webapp.oauth.models import OAuthClient, OAuthGrant
from webapp.pages import errors
from webapp.records.audit import Actor
from webapp.web import request_audit
from webapp.web.limiter import limiter

PAGE_WRITES_RATE = "120/minute"  # changes that one account makes through pages
PAGE_FORMS_RATE = "20/minute;200/day"  # new drafts of one account; separately, publications

P = ParamSpec("P")
R = TypeVar("R")


def init_app(app: Flask) -> None:
    """Register the template globals `waiting_count` and `events_enabled`."""
    app.add_template_global(waiting_count, "waiting_count")
    app.add_template_global(events_enabled, "events_enabled")


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


def _limit_forms(
    counted: str, unless: Callable[[], bool] = lambda: False
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator that keeps the limit of writes, which a view's own limit replaces."""
    of_forms = limiter.shared_limit(
        lambda: PAGE_FORMS_RATE,
        counted,
        key_func=creator_id,
        exempt_when=unless,
        deduct_when=_is_done,
    )
    return lambda view: limit_writes(of_forms(view))


limit_new_drafts = _limit_forms("drafts by pages")
limit_publishes = _limit_forms(
    "publications by pages", unless=lambda: request.form.get("then") == "agent"
)


def waiting_count() -> int:
    """Return the number of drafts that wait for the creator."""
    return connections.count_waiting(creator_id(), now=utc_now())


def events_enabled() -> bool:
    """Return whether agents may subscribe to completed responses."""
    return settings().mcp_events_enabled


def agent_names(grant_ids: Iterable[str | None]) -> dict[str, str]:
    """Return client names by grant id; ignores None, which means the creator."""
    return {grant_id: client.name for grant_id, client in clients_of(grant_ids).items()}


def clients_of(grant_ids: Iterable[str | None]) -> dict[str, OAuthClient]:
    """Return clients by grant id; ignores None."""
    query = (
        select(OAuthGrant.id, OAuthClient)
        .join(OAuthClient, OAuthClient.id == OAuthGrant.client_pk)
        .where(OAuthGrant.id.in_({grant for grant in grant_ids if grant}))
    )
    return dict(db.session.execute(query).all())
