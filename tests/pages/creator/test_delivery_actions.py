""" "Send again" and "Send a test" on the page of deliveries."""

import json
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from typing import Any

import pytest
from flask import Flask
from standardwebhooks import Webhook
from werkzeug.test import TestResponse

from api.challenges import CHALLENGES_OF_ACCOUNT
from tests.event_factories import make_attempt, make_delivery, make_event, make_subscription
from tests.pages.creator_client import Creator, plain
from tests.raw_receiver import raw_receiver, read_request
from webapp.answers import trash
from webapp.base.database import db, utc_now
from webapp.base.sealing import sealer
from webapp.base.vocabulary import DeliveryKind, DeliveryState
from webapp.events.subscriptions import secret_place
from webapp.records.events import EventDelivery, EventSubscription

SECRET = "whsec_" + "Zk9x" * 8
BODY = '{"eventId":"evt_1"}'
Reply = Callable[[str], tuple[int, bytes]]  # to a challenge


@pytest.fixture
def subscription(app: Flask, form: Any) -> EventSubscription:
    with app.app_context():
        return make_subscription(form)


@pytest.fixture
def handed_over(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ids that were handed over to whoever delivers."""
    found: list[str] = []
    monkeypatch.setattr("webapp.pages.creator.deliveries.hand_over", found.extend)
    return found


def deliver(ann: Creator, subscription: Any, state: DeliveryState, **changed: Any) -> str:
    with ann.context():
        values = {"event_id": make_event(subscription.form_id), "settled_at": utc_now()} | changed
        delivery = make_delivery(subscription, state=state, body=BODY, attempts=1, **values)
        make_attempt(delivery)
        return delivery.id


def stored(ann: Creator, delivery_id: str) -> EventDelivery:
    with ann.context():
        return db.session.get_one(EventDelivery, delivery_id)


def words(page: TestResponse) -> str:
    return plain(page.text.partition('<main class="page"')[2].partition("</main>")[0])


def say(challenge: str) -> tuple[int, bytes]:
    return 200, json.dumps({"challenge": challenge}).encode()


@contextmanager
def receiving(ann: Creator, form: Any, reply: Reply) -> Iterator[tuple[str, list[bytes]]]:
    """A subscription to a receiver on loopback that answers so, and the requests that it got."""
    seen: list[bytes] = []

    def answer(connection: socket.socket) -> None:
        seen.append(read_request(connection))
        status, body = reply(json.loads(seen[-1].partition(b"\r\n\r\n")[2])["challenge"])
        head = f"HTTP/1.1 {status} X\r\nContent-Length: {len(body)}\r\n\r\n"
        connection.sendall(head.encode() + body)

    with raw_receiver(answer, reads=False) as receiver, allowed(ann, receiver.origin):
        host = receiver.origin.removeprefix("http://")
        yield subscribe(ann, form, url=f"{receiver.origin}/in", host=host), seen


@contextmanager
def allowed(ann: Creator, origin: str) -> Iterator[None]:
    """The operator's allowlist holds this origin."""
    config = ann.client.application.config
    settings, allowlist = config["SETTINGS"], frozenset({origin})
    config["SETTINGS"] = settings.model_copy(update={"mcp_events_callback_allowlist": allowlist})
    yield
    config["SETTINGS"] = settings


def subscribe(ann: Creator, form: Any, **changed: Any) -> str:
    """The id of a subscription whose secret is SECRET."""
    with ann.context():
        subscription = make_subscription(form, **changed)
        place = secret_place(subscription.id)
        subscription.secret = sealer().seal(SECRET, place=place)
        db.session.commit()
        return subscription.id


def send_test(creator: Creator, subscription_id: str) -> TestResponse:
    return creator.post(f"/deliveries/subscriptions/{subscription_id}/test")


# --- send again ---


SETTLED = [DeliveryState.DELIVERED, DeliveryState.DROPPED, DeliveryState.ABANDONED]


@pytest.mark.parametrize("state", SETTLED)
def test_a_settled_event_is_sent_again_with_the_same_bytes(
    ann: Creator, subscription: Any, handed_over: list[str], state: DeliveryState
) -> None:
    one = deliver(ann, subscription, state)
    event_id = stored(ann, one).event_id
    assert "Send again" in words(ann.page(f"/deliveries/{one}"))

    answer = ann.post(f"/deliveries/{one}/again")

    assert (answer.status_code, answer.location) == (303, f"/deliveries/{one}?again=1")
    assert handed_over == [one]
    row = stored(ann, one)
    assert (row.state, row.body, row.event_id) == (DeliveryState.PENDING, BODY, event_id)
    assert "Send again" not in words(ann.page(answer.location))


REFUSED: list[tuple[dict[str, Any], dict[str, Any], int]] = [
    ({"state": DeliveryState.PENDING}, {}, 409),
    ({"state": DeliveryState.SENDING}, {}, 409),
    ({"state": DeliveryState.CANCELLED}, {}, 409),
    ({}, {"ended_at": utc_now()}, 409),
    ({}, {"expires_at": utc_now() - timedelta(seconds=1)}, 409),
    ({"event_id": "evt_gone"}, {}, 409),  # withdrawn
    ({"kind": DeliveryKind.TERMINATED}, {}, 404),
]


@pytest.mark.parametrize(("changed", "subscribed", "status"), REFUSED)
def test_what_is_under_way_or_ended_is_not_sent_again(
    ann: Creator,
    form: Any,
    handed_over: Any,
    changed: Any,
    subscribed: Any,
    status: int,
) -> None:
    subscription = ann.within(make_subscription, form, **subscribed)
    one = deliver(ann, subscription, **{"state": DeliveryState.ABANDONED} | changed)
    before = stored(ann, one).state

    assert "Send again" not in words(ann.page(f"/deliveries/{one}"))
    assert ann.post(f"/deliveries/{one}/again").status_code == status
    assert handed_over == []
    assert stored(ann, one).state is before


def test_nothing_of_others_or_of_the_trash_is_sent_again(
    ann: Creator, stranger: Creator, form: Any, subscription: Any, handed_over: Any
) -> None:
    one = deliver(ann, subscription, DeliveryState.ABANDONED)

    assert stranger.post(f"/deliveries/{one}/again").status_code == 404
    assert ann.post("/deliveries/dlv_unknown/again").status_code == 404
    ann.within(trash.delete_form, ann.account.id, form.id, now=utc_now())
    assert ann.post(f"/deliveries/{one}/again").status_code == 404
    assert handed_over == []


def test_sending_again_is_limited(ann: Creator, subscription: Any) -> None:
    answers = [ann.post("/deliveries/dlv_unknown/again").status_code for _ in range(31)]

    assert answers == [404] * 30 + [429]


# --- send a test ---


def test_a_test_is_a_signed_challenge_and_no_event(ann: Creator, form: Any) -> None:
    with receiving(ann, form, say) as (subscription_id, seen):
        answer = send_test(ann, subscription_id)

    head, _, body = seen[0].decode().partition("\r\n\r\n")
    headers = dict(line.split(": ", 1) for line in head.split("\r\n")[1:])
    assert Webhook(SECRET).verify(body.encode(), headers)["type"] == "verification"
    assert headers["X-MCP-Subscription-Id"] == subscription_id
    assert answer.status_code == 303
    assert "The test arrived at 127.0.0.1:" in words(ann.page(answer.location))
    with ann.context():
        assert db.session.query(EventDelivery).all() == []


@pytest.mark.parametrize("reply", [(200, b"{}"), (404, b""), (503, b"")])
def test_a_failed_test_says_why(ann: Creator, form: Any, reply: tuple[int, bytes]) -> None:
    with receiving(ann, form, lambda _: reply) as (subscription_id, _):
        sent = send_test(ann, subscription_id)

    failure = {200: "challenge_failed", 404: "http_4xx", 503: "http_5xx"}[reply[0]]
    assert sent.location.endswith(f"outcome={failure}")
    assert "The test did not get through to 127.0.0.1:" in words(ann.page(sent.location))


def test_an_address_inside_is_not_called_and_failures_count_for_their_host(
    ann: Creator, form: Any
) -> None:
    subscription_id = subscribe(ann, form, url="https://localhost:8443/in")

    answers = [send_test(ann, subscription_id) for _ in range(5)]

    assert answers[0].location.endswith("outcome=connection_refused")
    assert [answer.status_code for answer in answers] == [303] * 4 + [429]


def test_a_secret_that_no_key_opens_is_said(ann: Creator, subscription: Any) -> None:
    assert send_test(ann, subscription.id).location.endswith("outcome=no_key")


def test_a_test_waits_in_a_place_for_challenges(app: Flask, ann: Creator, form: Any) -> None:
    subscription_id = subscribe(ann, form)
    places = app.extensions["challenges"]
    with ExitStack() as taken:
        for _ in range(CHALLENGES_OF_ACCOUNT):
            taken.enter_context(places.slot(ann.account.id))
        answer = send_test(ann, subscription_id)

    assert answer.status_code == 429
    assert answer.headers["Retry-After"] == "2"


def test_no_connection_is_held_while_the_answer_is_awaited(ann: Creator, form: Any) -> None:
    held: list[int] = []

    def reply(challenge: str) -> tuple[int, bytes]:
        with ann.context():
            held.append(db.engine.pool.checkedout())
        return say(challenge)

    with receiving(ann, form, reply) as (subscription_id, _):
        send_test(ann, subscription_id)

    assert held == [0]


def test_tests_and_subscribing_share_one_limit(ann: Creator, form: Any) -> None:
    """30 challenges a minute; here to 30 hosts, because each host has a limit of failures."""
    found = [
        subscribe(ann, form, url=f"https://h{n}.invalid/", host=f"h{n}:443") for n in range(31)
    ]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("api.challenges.send_challenge", lambda *_, **__: None)
        answers = [send_test(ann, each) for each in found]

    assert [answer.status_code for answer in answers] == [303] * 30 + [429]
    assert 1 <= int(answers[-1].headers["Retry-After"]) <= 60


def test_only_who_is_signed_up_is_tested(ann: Creator, stranger: Creator, form: Any) -> None:
    live, gone = subscribe(ann, form), subscribe(ann, form, ended_at=utc_now())

    assert send_test(ann, gone).status_code == 409
    assert send_test(ann, "sub_unknown").status_code == 404
    assert send_test(stranger, live).status_code == 404
    page = ann.page("/deliveries").text
    assert f'/subscriptions/{live}/test"' in page
    assert f'/subscriptions/{gone}/test"' not in page
