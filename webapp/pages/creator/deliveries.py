"""The delivery log: who subscribes to completed responses, what was sent, and the outcome."""

import re

from flask import Response, abort, render_template, request, url_for

from api.subscriptions import challenge
from jobs.queue import hand_over
from webapp.base.config import settings
from webapp.base.database import utc_now
from webapp.base.sealing import NoKey, sealer
from webapp.base.vocabulary import DeliveryFailure
from webapp.events import log, subscriptions
from webapp.oauth import connections
from webapp.pages.creator import fields
from webapp.pages.creator.request import creator_blueprint, creator_id
from webapp.pages.fragments import go_to
from webapp.web.limiter import limiter

VALUE = re.compile("[!-~]{1,300}")  # form ids and hosts are shorter
SENT_AGAIN_RATE = "30/minute"  # each one causes up to nine requests to another server
ARRIVED, NO_KEY = "arrived", "no_key"  # outcomes of a test besides the failures

bp = creator_blueprint("deliveries", "/deliveries", limits_writes=False)


@bp.before_request
def require_events() -> None:
    """Respond with 404 if the operator has switched events off."""
    if not settings().mcp_events_enabled:
        abort(404)


@bp.get("")
def show_all() -> str:
    """Show a page of deliveries, newest first, and all subscriptions; the address has filters.

    `?tested=` is the subscription that was just tested, `?outcome=` the outcome of the test.
    """
    account_id, filters, before = creator_id(), _filters(), fields.asked_position()
    now = utc_now()
    deliveries, older = log.list_deliveries(account_id, filters, before=before, now=now)
    live, ended = log.list_subscriptions(account_id, now=now)
    choices = log.list_choices(account_id)
    chosen = {filters.form_id: filters.form_id} if filters.form_id else {}
    hosts = {filters.host} if filters.host else set()
    outcome = request.args.get("outcome")
    return render_template(
        "deliveries/list.html",
        deliveries=deliveries,
        filters=filters,
        forms=chosen | {each.form_id: each.title for each in choices},
        hosts=sorted(hosts | {each.host for each in choices}),
        older=_address(filters, older) if older else "",
        newest=_address(filters) if before else "",
        outcome=outcome if outcome in {ARRIVED, NO_KEY, *DeliveryFailure} else "",
        live=live,
        ended=ended,
        silent=log.list_silent_hosts(account_id, now=now),
        agents=connections.agent_names(each.grant_id for each in (*live, *ended)),
        now=now,
    )


@bp.get("/<delivery_id>")
def show_one(delivery_id: str) -> str:
    """Show one delivery with all its attempts; `?again=` means that it was just queued again."""
    delivery, attempts = log.get_delivery(creator_id(), delivery_id, now=utc_now())
    return render_template(
        "deliveries/delivery.html",
        delivery=delivery,
        attempts=attempts,
        agent=connections.agent_names([delivery.grant_id]).get(delivery.grant_id),
        now=utc_now(),
    )


@bp.post("/<delivery_id>/again")
@limiter.limit(SENT_AGAIN_RATE, key_func=creator_id)
def send_again(delivery_id: str) -> Response:
    """Queue a settled delivery again: the same bytes under the same id."""
    hand_over([log.send_again(creator_id(), delivery_id, now=utc_now())])
    return go_to(url_for("deliveries.show_one", delivery_id=delivery_id, again=1))


@bp.post("/subscriptions/<subscription_id>/test")
def send_test(subscription_id: str) -> Response:
    """Send a new challenge to a callback, not an event; the list shows the outcome."""
    account_id = creator_id()
    callback = log.get_callback(account_id, subscription_id, now=utc_now())
    try:
        secret = sealer().unseal(callback.secret, place=subscriptions.secret_place(subscription_id))
    except NoKey:
        outcome: str = NO_KEY
    else:
        failed = challenge(account_id, callback.host, callback.url, secret, subscription_id)
        if failed and failed.taken and callback.confirmed:
            failed = None
        outcome = failed.failure if failed else ARRIVED
    return go_to(url_for("deliveries.show_all", tested=subscription_id, outcome=outcome))


def _filters() -> log.DeliveryFilters:
    """Read the filters from the query string; ignore invalid values."""
    group = request.args.get("state", "")
    known = group if group in log.STATES else None
    typed = (request.args.get(name, "") for name in ("form", "host"))
    return log.DeliveryFilters(known, *(text if VALUE.fullmatch(text) else None for text in typed))


def _address(filters: log.DeliveryFilters, position: log.Position | None = None) -> str:
    """Return the address of the deliveries before a position, or of the newest."""
    return url_for(
        "deliveries.show_all",
        state=filters.group,
        form=filters.form_id,
        host=filters.host,
        before="{}-{}".format(*position) if position else None,
    )
