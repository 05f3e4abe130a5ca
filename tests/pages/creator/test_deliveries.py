"""The log of deliveries: list, filters, one delivery, subscriptions."""

import re
from datetime import timedelta
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from tests.databases import both_databases
from tests.event_factories import make_attempt, make_delivery, make_subscription
from tests.pages.creator_client import Creator, plain
from webapp.base.database import db, utc_now
from webapp.base.vocabulary import DeliveryFailure, DeliveryState
from webapp.events import log
from webapp.records.events import CallbackEndpoint, EventSubscription
from webapp.records.forms import Form

LATER = timedelta(minutes=5)


@pytest.fixture
def subscription(app: Flask, form: Any) -> EventSubscription:
    with app.app_context():
        return make_subscription(form)


def deliver(ann: Creator, subscription: Any, *attempts: dict[str, Any], **changed: Any) -> str:
    """The id of a delivery with these attempts."""
    with ann.context():
        delivery = make_delivery(subscription, attempts=len(attempts), **changed)
        for number, attempt in enumerate(attempts, start=1):
            make_attempt(delivery, number=number, **attempt)
        return delivery.id


def change(ann: Creator, table: Any, key: str, **values: Any) -> None:
    with ann.context():
        row = db.session.get(table, key)
        for name, value in values.items():
            setattr(row, name, value)
        db.session.commit()


def words(page: TestResponse) -> str:
    assert page.status_code == 200, page.text
    return plain(page.text.partition('<main class="page"')[2].partition("</main>")[0])


def ids(page: TestResponse) -> list[str]:
    """Of the deliveries on a page, in their order."""
    return re.findall(r'href="/deliveries/(dlv_[0-9a-f]+)"', page.text)


def test_a_waiting_delivery_says_what_it_waits_for(
    ann: Creator, form: Any, subscription: Any
) -> None:
    deliver(ann, subscription)
    change(ann, EventSubscription, subscription.id, suspended_at=utc_now())
    assert "Waiting until its agent signs up again" in words(ann.page("/deliveries"))

    change(ann, EventSubscription, subscription.id, expires_at=utc_now() - LATER)
    assert "Not sent any more" in words(ann.page("/deliveries"))

    change(ann, Form, form.id, deleted_at=utc_now())
    assert "Waiting, its form is in the trash" in words(ann.page("/deliveries"))


def test_a_paused_endpoint_is_told_at_the_top(ann: Creator, subscription: Any) -> None:
    paused = {"failures": 5, "paused_until": utc_now() + LATER}
    change(ann, CallbackEndpoint, subscription.endpoint_id, **paused)
    deliver(ann, subscription)

    assert "Nothing has arrived at hooks.example.com so far. 1 delivery is waiting." in words(
        ann.page("/deliveries")
    )
    change(ann, EventSubscription, subscription.id, last_delivery_at=utc_now())
    assert "Nothing has arrived at hooks.example.com since " in words(ann.page("/deliveries"))
    change(ann, EventSubscription, subscription.id, ended_at=utc_now())
    assert "Nothing has arrived" not in words(ann.page("/deliveries"))


def test_filters_are_in_the_address(ann: Creator, form: Any, subscription: Any) -> None:
    other = ann.within(make_subscription, form, host="other.example:8443")
    states = list(DeliveryState)
    made = {state: deliver(ann, subscription, state=state) for state in states}
    there = deliver(ann, other)

    def shown(query: str) -> set[str]:
        return set(ids(ann.page(f"/deliveries?{query}")))

    assert shown("") == {*made.values(), there}
    assert shown("state=waiting") == {made[states[0]], made[states[1]], there}
    assert shown("state=delivered") == {made[DeliveryState.DELIVERED]}
    assert shown("state=failed") == {made[DeliveryState.DROPPED], made[DeliveryState.ABANDONED]}
    assert shown("state=cancelled") == {made[DeliveryState.CANCELLED]}
    assert shown("state=nonsense") == shown("")
    assert shown("host=other.example:8443") == {there}
    assert shown(f"form={form.id}&state=waiting&host=other.example:8443") == {there}
    assert shown("form=frm_unknown") == set()
    assert "No delivery is like that." in words(ann.page("/deliveries?form=frm_unknown"))


def test_older_deliveries_are_on_the_next_page_with_the_same_filters(
    ann: Creator, subscription: Any
) -> None:
    now = utc_now()
    for number in range(120):  # pairs of the same moment
        when = now - timedelta(minutes=number // 2)
        deliver(ann, subscription, created_at=when, state=DeliveryState.DELIVERED)
    deliver(ann, subscription, created_at=now - timedelta(days=1))

    found, address = [], "/deliveries?state=delivered"
    while address:
        page = ann.page(address)
        found += ids(page)
        link = re.search(r'href="(/deliveries\?[^"]*before=[^"]+)">Older', page.text)
        address = link[1].replace("&amp;", "&") if link else ""

    assert len(found) == len(set(found)) == 120
    assert 'href="/deliveries?state=delivered">Newest' in page.text
    assert ">Newest" not in ann.page("/deliveries?state=delivered").text


def test_where_much_does_not_match_the_page_leads_further_back(
    ann: Creator, subscription: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log, "LOOKED_AT", 3)
    now = utc_now()
    for minutes in range(7):
        deliver(ann, subscription, created_at=now - timedelta(minutes=minutes))
    when = now - timedelta(minutes=6, seconds=30)
    deliver(ann, subscription, created_at=when, state=DeliveryState.DELIVERED)

    seen, address = [], "/deliveries?state=delivered"
    while address:
        seen.append(ann.page(address))
        link = re.search(r'href="(/deliveries\?[^"]*before=[^"]+)">Look further', seen[-1].text)
        address = link[1].replace("&amp;", "&") if link else ""

    first, second, third = seen
    assert "None of the newest 3 deliveries is like that." in first.text
    assert "None of the 3 before them is like that either." in second.text
    assert [len(ids(page)) for page in seen] == [0, 0, 1]
    assert "is like that" not in third.text


@both_databases
@pytest.mark.parametrize(
    "query",
    [
        *(f"before={at}" for at in ("x", "99999999999999-dlv_1", "-", "%00")),
        *("form=%00", "host=%00", "form=" + "x" * 301, "state=%00", "tested=%00&outcome=arrived"),
    ],
)
def test_what_cannot_be_in_the_address_is_ignored(
    ann: Creator, subscription: Any, query: str
) -> None:
    deliver(ann, subscription)

    assert len(ids(ann.page(f"/deliveries?{query}"))) == 1


def test_one_delivery_shows_every_try_with_its_headers_and_the_answer(
    ann: Creator, subscription: Any
) -> None:
    first = {"status": None, "failure": DeliveryFailure.TIMEOUT, "reply": None}
    second = {"status": 200, "signature": "v1,bmV3 v1,b2xk", "reply": "thanks\nfor that"}
    body = '{"eventId":"evt_1","data":{}}'
    one = deliver(
        ann, subscription, first, second, body=body, event_id="evt_1", state=DeliveryState.DELIVERED
    )

    page = ann.page(f"/deliveries/{one}")
    said = words(page)

    assert said.index("Try 2 It arrived.") < said.index("Try 1 The answer took too long.")
    assert "webhook-id: evt_1 " in said
    assert "webhook-signature: v1,bmV3 v1,b2xk" in said
    assert f"X-MCP-Subscription-Id: {subscription.id}" in said
    assert re.search(r"webhook-timestamp: \d{10} ", said)
    assert "<bdi>thanks\nfor that</bdi>" in page.text
    assert "{&#34;eventId&#34;:&#34;evt_1&#34;,&#34;data&#34;:{}}" in page.text


def test_address_and_secret_are_on_no_page(ann: Creator, form: Any) -> None:
    with ann.context():
        secrets = {"secret": "sealed-canary", "previous_secret": "older-canary"}
        subscription = make_subscription(form, url="https://hooks.example.com/canary", **secrets)
    one = deliver(ann, subscription, {})

    pages = ann.page("/deliveries").text + ann.page(f"/deliveries/{one}").text

    assert "hooks.example.com" in pages
    assert "canary" not in pages


def test_other_accounts_see_nothing_of_it(
    ann: Creator, stranger: Creator, form: Any, subscription: Any
) -> None:
    one = deliver(ann, subscription)

    for path in (one, "dlv_unknown", "x", "%00", "dlv_%F0%9F%92%A5"):
        assert stranger.page(f"/deliveries/{path}").status_code == 404
    for query in ("", f"?form={form.id}", "?host=hooks.example.com:443", "?state=waiting"):
        page = stranger.page(f"/deliveries{query}").text
        assert one not in page
        assert subscription.id not in page
        assert (">hooks.example.com<" in page) == ("host=" in query)  # what they typed themselves


@pytest.mark.settings(mcp_events_enabled=False)
def test_without_events_there_is_neither_page_nor_entry(ann: Creator) -> None:
    for path in ("/deliveries", "/deliveries/dlv_1"):
        assert ann.page(path).status_code == 404
    for path in ("/deliveries/dlv_1/again", "/deliveries/subscriptions/sub_1/test"):
        assert ann.post(path).status_code == 404
    assert "/deliveries" not in ann.page("/forms").text
