"""The log of deliveries: who is told of completed responses, what was sent, what came back."""

import re
from datetime import datetime
from typing import NamedTuple

from flask import Blueprint, abort, render_template, request, url_for

from webapp.database import utc_now
from webapp.domain.events import subscription_log as subscriptions
from webapp.domain.events.delivery_log import (
    PAGE_DELIVERIES,
    AttemptRow,
    DeliveryDetails,
    DeliveryFilters,
    Position,
    StateGroup,
    get_delivery,
    list_deliveries,
    position_of,
)
from webapp.domain.events.subscription_log import FilterChoice
from webapp.pages.creator.request import (
    agent_names,
    creator_id,
    events_enabled,
    require_creator,
)

POSITION = re.compile("([0-9]{1,13})-(dlv_[0-9a-f]{1,76})")
VALUE_MAX_CHARS = 300  # longer than a form id and a host

bp = Blueprint("deliveries", __name__, url_prefix="/deliveries")
bp.before_request(require_creator)


@bp.before_request
def require_events() -> None:
    """404 where the operator has switched events off."""
    if not events_enabled():
        abort(404)


class Choices(NamedTuple):
    """What can be filtered by: titles by form id, and hosts."""

    forms: dict[str, str]
    hosts: list[str]


@bp.get("")
def show_all() -> str:
    """A page of deliveries, newest first, and all subscriptions; filters are in the address."""
    filters, before = _filters(), _position_in(request.args.get("before", ""))
    found = list_deliveries(creator_id(), filters, before=before)
    shown = found[:PAGE_DELIVERIES]
    return render_template(
        "deliveries/list.html",
        deliveries=shown,
        filters=filters,
        choices=_choices(subscriptions.list_choices(creator_id())),
        older=_address(filters, position_of(shown[-1])) if len(found) > len(shown) else "",
        first=before is None,
        **_subscribed(utc_now()),
    )


@bp.get("/<delivery_id>")
def show_one(delivery_id: str) -> str:
    """One delivery with all its attempts."""
    found = get_delivery(creator_id(), delivery_id)
    return render_template(
        "deliveries/delivery.html",
        details=found,
        headers=_headers,
        agent=agent_names([found.grant_id]).get(found.grant_id),
        now=utc_now(),
    )


def _subscribed(now: datetime) -> dict[str, object]:
    live = subscriptions.list_live_subscriptions(creator_id())
    ended = subscriptions.list_ended_subscriptions(creator_id())
    return {
        "live": live,
        "ended": ended,
        "silent": subscriptions.list_silent_hosts(creator_id(), now=now),
        "agents": agent_names(each.grant_id for each in live + ended),
        "now": now,
    }


def _headers(details: DeliveryDetails, attempt: AttemptRow) -> dict[str, str]:
    """The headers of this attempt, as they were sent."""
    return {
        "Content-Type": "application/json",
        "webhook-id": details.event_id,
        "webhook-timestamp": str(int(attempt.started_at.timestamp())),
        "webhook-signature": attempt.signature,
        "X-MCP-Subscription-Id": details.subscription_id,
    }


def _choices(found: list[FilterChoice]) -> Choices:
    hosts = sorted({each.host for each in found})
    return Choices({each.form_id: each.title for each in found}, hosts)


def _filters() -> DeliveryFilters:
    """Those of the query string; an unknown state filters nothing."""
    group = request.args.get("state", "")
    known = StateGroup(group) if group in set(StateGroup) else None
    return DeliveryFilters(known, _value("form"), _value("host"))


def _value(name: str) -> str | None:
    return request.args.get(name, "")[:VALUE_MAX_CHARS] or None


def _address(filters: DeliveryFilters, position: Position) -> str:
    return url_for(
        "deliveries.show_all",
        state=filters.group,
        form=filters.form_id,
        host=filters.host,
        before="{}-{}".format(*position),
    )


def _position_in(text: str) -> Position | None:
    found = POSITION.fullmatch(text)
    return (int(found[1]), found[2]) if found else None
