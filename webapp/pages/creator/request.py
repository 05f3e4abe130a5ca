"""Shared by creator pages: the signed-in account and its limits, names of agents, posted fields."""

import re
from collections.abc import Callable, Iterable
from datetime import datetime
from http import HTTPStatus
from typing import ParamSpec, TypeVar, cast

from flask import Blueprint, Flask, Response, request
from flask_limiter import RateLimitExceeded
from flask_login import current_user, login_required
from sqlalchemy import select

from webapp.base.config import settings
from webapp.base.database import db, from_millis, utc_now
from webapp.oauth import connections
from webapp.oauth.models import OAuthClient, OAuthGrant
from webapp.pages import errors
from webapp.pages.fragments import typed_text
from webapp.web.limiter import limiter

MILLIS_DIGITS = 13
PAGE_WRITES_RATE = "120/minute"  # changes of one account by pages
PAGE_FORMS_RATE = "20/minute;200/day"  # its new drafts by pages, and publications by them

P = ParamSpec("P")
R = TypeVar("R")


def init_app(app: Flask) -> None:
    """Give templates `waiting_count` and `events_enabled`."""
    app.add_template_global(waiting_count, "waiting_count")
    app.add_template_global(events_enabled, "events_enabled")


@login_required  # type: ignore[untyped-decorator]
def require_creator() -> None:
    """For `before_request`: a signed-in creator is required."""


def creator_id() -> str:
    """The account of the signed-in creator."""
    return cast(str, current_user.id)


def _is_done(response: Response) -> bool:
    return response.status_code < HTTPStatus.BAD_REQUEST


_limit_writes = limiter.shared_limit(
    lambda: PAGE_WRITES_RATE,
    "page writes",
    key_func=creator_id,
    methods=["POST"],
    exempt_when=lambda: not current_user.is_authenticated,
    deduct_when=_is_done,
)


def limit_one_write(view: Callable[P, R]) -> Callable[P, R]:
    """As `limit_writes`, of one view of a blueprint."""
    limited: Callable[P, R] = _limit_writes(view)
    return limited


def limit_writes(bp: Blueprint) -> None:
    """Limit all POSTs of `bp` together; a refusal keeps what was written."""
    _limit_writes(bp)
    bp.register_error_handler(RateLimitExceeded, errors.too_many_writes)


def _limit_forms(
    counted: str, unless: Callable[[], bool] = lambda: False
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorates a view of a blueprint with `limit_writes`, whose limit it would go without."""
    of_forms = limiter.shared_limit(
        lambda: PAGE_FORMS_RATE,
        counted,
        key_func=creator_id,
        exempt_when=unless,
        deduct_when=_is_done,
    )
    return lambda view: _limit_writes(of_forms(view))


limit_new_drafts = _limit_forms("drafts by pages")
limit_publishes = _limit_forms(
    "publications by pages", unless=lambda: request.form.get("then") == "agent"
)


def waiting_count() -> int:
    """The number of drafts that ask for the creator's eyes."""
    return connections.count_waiting(creator_id(), now=utc_now())


def events_enabled() -> bool:
    """Whether agents may subscribe to completed responses."""
    return settings().mcp_events_enabled


def agent_names(grant_ids: Iterable[str | None]) -> dict[str, str]:
    """Client names by grant id; ignores None, which means the creator."""
    return {grant_id: client.name for grant_id, client in clients_of(grant_ids).items()}


def clients_of(grant_ids: Iterable[str | None]) -> dict[str, OAuthClient]:
    """Clients by grant id; ignores None."""
    query = (
        select(OAuthGrant.id, OAuthClient)
        .join(OAuthClient, OAuthClient.id == OAuthGrant.client_pk)
        .where(OAuthGrant.id.in_({grant for grant in grant_ids if grant}))
    )
    return dict(db.session.execute(query).all())


def typed(name: str) -> str:
    """A posted field with line feeds as line ends and without space around it; "" if absent."""
    return typed_text(name).strip()


def posted_revision(name: str = "revision") -> int:
    """The revision that the page showed; 0, which no draft has, when it is missing or no number."""
    return revision_in(request.form.get(name, ""))


def asked_revision(name: str) -> int:
    """A revision in the address; 0, which no draft has, when it is missing or no number."""
    return revision_in(request.args.get(name, ""))


def revision_in(text: str) -> int:
    """A revision as typed or sent, 0 for anything else."""
    return int(text) if re.fullmatch("[0-9]{1,9}", text) else 0


def moment_in(text: str) -> datetime | None:
    """A moment in milliseconds as in our addresses and forms, None for anything else."""
    return from_millis(millis_in(text)) if _is_millis(text) else None


def millis_in(text: str) -> int:
    """Milliseconds as in our addresses and forms, 0 for anything else."""
    return int(text) if _is_millis(text) else 0


def _is_millis(text: str) -> bool:
    return 0 < len(text) <= MILLIS_DIGITS and text.isascii() and text.isdigit()
