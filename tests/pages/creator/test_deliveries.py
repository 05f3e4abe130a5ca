"""The log of deliveries: list, filters, one delivery, "Send again" and "Send a test"."""

import re
from datetime import timedelta
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from tests.event_factories import make_attempt, make_delivery, make_event, make_subscription
from tests.pages.creator_client import Creator, plain
from webapp.answers import trash
from webapp.base.database import db, utc_now
from webapp.base.sealing import sealer
from webapp.base.vocabulary import DeliveryKind, DeliveryState
from webapp.events.subscriptions import secret_place
from webapp.records.events import EventDelivery, EventSubscription

PAGES = "webapp.pages.creator.deliveries"
SECRET = "whsec_" + "Zk9x" * 8
BODY = '{"eventId":"evt_1"}'


@pytest.fixture
def subscription(app: Flask, form: Any) -> EventSubscription:
    with app.app_context():
        return make_subscription(form)


@pytest.fixture
def handed_over(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ids that were handed over to be delivered."""
    found: list[str] = []
    monkeypatch.setattr(f"{PAGES}.hand_over", found.extend)
    return found


def deliver(ann: Creator, subscription: Any, *attempts: dict[str, Any], **changed: Any) -> str:
    """The id of a delivery with these attempts."""
    with ann.context():
        delivery = make_delivery(subscription, attempts=len(attempts), **changed)
        for number, attempt in enumerate(attempts, start=1):
            make_attempt(delivery, number=number, **attempt)
        return delivery.id


def settled(ann: Creator, subscription: Any, **changed: Any) -> str:
    """One that could be sent again."""
    event_id = ann.within(make_event, subscription.form_id)
    values = {"state": DeliveryState.ABANDONED, "event_id": event_id, "body": BODY} | changed
    return deliver(ann, subscription, {}, settled_at=utc_now(), **values)


def stored(ann: Creator, delivery_id: str) -> EventDelivery:
    return ann.within(db.session.get_one, EventDelivery, delivery_id)


def words(page: TestResponse) -> str:
    assert page.status_code == 200, page.text
    return plain(page.text.partition('<main class="page"')[2].partition("</main>")[0])


def ids(page: TestResponse) -> list[str]:
    """Of the deliveries on a page, in their order."""
    return re.findall(r'href="/deliveries/(dlv_[0-9a-f]+)"', page.text)


def pages(ann: Creator, link: str) -> list[TestResponse]:
    """Those of arrived deliveries, as this link leads from one to the next."""
    found, address = [], "/deliveries?state=delivered"
    while address:
        found.append(ann.page(address))
        further = re.search(rf'href="(/deliveries\?[^"]*before=[^"]+)">{link}', found[-1].text)
        address = further[1].replace("&amp;", "&") if further else ""
    return found


def test_filters_are_in_the_address(ann: Creator, form: Any, subscription: Any) -> None:
    other = ann.within(make_subscription, form, host="other.example:8443")
    states = list(DeliveryState)
    made = {state: deliver(ann, subscription, state=state) for state in states}
    there = deliver(ann, other)
    everything = {*made.values(), there}

    for query, expected in (
        ("", everything),
        ("state=nonsense", everything),
        ("state=waiting", {made[states[0]], made[states[1]], there}),
        ("state=delivered", {made[DeliveryState.DELIVERED]}),
        ("state=failed", {made[DeliveryState.DROPPED], made[DeliveryState.ABANDONED]}),
        ("state=cancelled", {made[DeliveryState.CANCELLED]}),
        ("host=other.example:8443", {there}),
        (f"form={form.id}&state=waiting&host=other.example:8443", {there}),
        ("form=frm_unknown", set()),
    ):
        assert set(ids(ann.page(f"/deliveries?{query}"))) == expected, query


def test_older_deliveries_are_on_the_next_page_with_the_same_filters(
    ann: Creator, subscription: Any
) -> None:
    now = utc_now()
    for number in range(120):  # pairs of the same moment
        when = now - timedelta(minutes=number // 2)
        deliver(ann, subscription, created_at=when, state=DeliveryState.DELIVERED)
    deliver(ann, subscription, created_at=now - timedelta(days=1))

    shown = pages(ann, "Older")

    found = [each for page in shown for each in ids(page)]
    assert len(found) == len(set(found)) == 120
    newest = ['href="/deliveries?state=delivered">Newest' in page.text for page in shown]
    assert newest == [False] + [True] * (len(shown) - 1)


def test_address_and_secret_are_on_no_page(ann: Creator, form: Any) -> None:
    secrets = {"secret": "sealed-canary", "previous_secret": "older-canary"}
    hidden = {"url": "https://hooks.example.com/canary"} | secrets
    one = deliver(ann, ann.within(make_subscription, form, **hidden), {})

    shown = ann.page("/deliveries").text + ann.page(f"/deliveries/{one}").text

    assert "hooks.example.com" in shown
    assert "canary" not in shown


@pytest.mark.settings(mcp_events_enabled=False)
def test_without_events_there_is_neither_page_nor_entry(ann: Creator) -> None:
    for path in ("/deliveries", "/deliveries/dlv_1"):
        assert ann.page(path).status_code == 404
    for path in ("/deliveries/dlv_1/again", "/deliveries/subscriptions/sub_1/test"):
        assert ann.post(path).status_code == 404
    assert "/deliveries" not in ann.page("/forms").text


# --- send again ---


@pytest.mark.parametrize(
    "state", [DeliveryState.DELIVERED, DeliveryState.DROPPED, DeliveryState.ABANDONED]
)
def test_a_settled_event_is_sent_again_with_the_same_bytes(
    ann: Creator, subscription: Any, handed_over: list[str], state: DeliveryState
) -> None:
    one = settled(ann, subscription, state=state)
    event_id = stored(ann, one).event_id
    assert "Send again" in words(ann.page(f"/deliveries/{one}"))

    answer = ann.post(f"/deliveries/{one}/again")

    assert (answer.status_code, answer.location) == (303, f"/deliveries/{one}?again=1")
    assert handed_over == [one]
    row = stored(ann, one)
    assert (row.state, row.body, row.event_id) == (DeliveryState.PENDING, BODY, event_id)
    assert "Send again" not in words(ann.page(answer.location))


@pytest.mark.parametrize(
    ("changed", "subscribed", "status"),
    [
        ({"state": DeliveryState.PENDING}, {}, 409),
        ({"state": DeliveryState.SENDING}, {}, 409),
        ({"state": DeliveryState.CANCELLED}, {}, 409),
        ({}, {"ended_at": utc_now()}, 409),
        ({}, {"expires_at": utc_now() - timedelta(seconds=1)}, 409),
        ({"event_id": "evt_gone"}, {}, 409),  # withdrawn
        ({"kind": DeliveryKind.TERMINATED}, {}, 404),
    ],
)
def test_what_is_under_way_or_ended_is_not_sent_again(
    ann: Creator, form: Any, handed_over: Any, changed: Any, subscribed: Any, status: int
) -> None:
    one = settled(ann, ann.within(make_subscription, form, **subscribed), **changed)
    before = stored(ann, one).state

    assert "Send again" not in words(ann.page(f"/deliveries/{one}"))
    assert ann.post(f"/deliveries/{one}/again").status_code == status
    assert handed_over == []
    assert stored(ann, one).state is before


def test_nothing_of_the_trash_is_sent_again(
    ann: Creator, form: Any, subscription: Any, handed_over: Any
) -> None:
    one = settled(ann, subscription)
    ann.within(trash.delete_form, ann.account.id, form.id, now=utc_now())

    assert ann.post(f"/deliveries/{one}/again").status_code == 404
    assert handed_over == []


def test_sending_again_is_limited(ann: Creator) -> None:
    answers = [ann.post("/deliveries/dlv_unknown/again").status_code for _ in range(31)]

    assert answers == [404] * 30 + [429]


# --- send a test: its limits are those of subscribing ---


def test_a_test_is_a_signed_challenge_and_no_event(
    ann: Creator, form: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    challenged: list[Any] = []
    monkeypatch.setattr(f"{PAGES}.challenge", lambda *given: challenged.append(given))
    with ann.context():
        live = make_subscription(form, host="127.0.0.1:9", url="http://127.0.0.1:9/in")
        live.secret = sealer().seal(SECRET, place=secret_place(live.id))
        db.session.commit()
        ended = make_subscription(form, ended_at=utc_now())

    answer = ann.post(f"/deliveries/subscriptions/{live.id}/test")
    refused = ann.post(f"/deliveries/subscriptions/{ended.id}/test")

    assert challenged == [(ann.account.id, live.host, live.url, SECRET, live.id)]
    assert (answer.status_code, refused.status_code) == (303, 409)
    assert "The test arrived at 127.0.0.1:" in words(ann.page(answer.location))
    with ann.context():
        assert db.session.query(EventDelivery).all() == []
