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
from tests.pages.creator_client import ORIGIN, Creator, plain
from tests.raw_receiver import raw_receiver, read_request
from webapp.answers import trash
from webapp.base.database import db, utc_now
from webapp.base.sealing import sealer
from webapp.base.vocabulary import DeliveryFailure, DeliveryKind, DeliveryState
from webapp.events.subscription_rows import secret_place
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


def deliver(app: Flask, subscription: Any, state: DeliveryState, **changed: Any) -> str:
    with app.app_context():
        values = {"event_id": make_event(subscription.form_id), "settled_at": utc_now()} | changed
        delivery = make_delivery(subscription, state=state, body=BODY, attempts=1, **values)
        make_attempt(delivery)
        return delivery.id


def stored(app: Flask, delivery_id: str) -> EventDelivery:
    with app.app_context():
        return db.session.get_one(EventDelivery, delivery_id)


def words(page: TestResponse) -> str:
    return plain(page.text.partition('<main class="page"')[2].partition("</main>")[0])


def say(challenge: str) -> tuple[int, bytes]:
    return 200, json.dumps({"challenge": challenge}).encode()


@contextmanager
def receiving(app: Flask, form: Any, reply: Reply) -> Iterator[tuple[str, list[bytes]]]:
    """A subscription to a receiver on loopback that answers so, and the requests that it got."""
    seen: list[bytes] = []

    def answer(connection: socket.socket) -> None:
        seen.append(read_request(connection))
        status, body = reply(json.loads(seen[-1].partition(b"\r\n\r\n")[2])["challenge"])
        head = f"HTTP/1.1 {status} X\r\nContent-Length: {len(body)}\r\n\r\n"
        connection.sendall(head.encode() + body)

    with raw_receiver(answer, reads=False) as receiver, allowed(app, receiver.origin):
        host = receiver.origin.removeprefix("http://")
        yield subscribe(app, form, url=f"{receiver.origin}/in", host=host), seen


@contextmanager
def allowed(app: Flask, origin: str) -> Iterator[None]:
    """The operator's allowlist holds this origin."""
    settings = app.config["SETTINGS"]
    allowlist = frozenset({origin})
    app.config["SETTINGS"] = settings.model_copy(
        update={"mcp_events_callback_allowlist": allowlist}
    )
    yield
    app.config["SETTINGS"] = settings


def subscribe(app: Flask, form: Any, **changed: Any) -> str:
    """The id of a subscription whose secret is SECRET."""
    with app.app_context():
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
    app: Flask, ann: Creator, subscription: Any, handed_over: list[str], state: DeliveryState
) -> None:
    one = deliver(app, subscription, state)
    event_id = stored(app, one).event_id
    assert "Send again" in words(ann.page(f"/deliveries/{one}"))

    answer = ann.post(f"/deliveries/{one}/again")

    assert (answer.status_code, answer.location) == (303, f"/deliveries/{one}?again=1")
    assert handed_over == [one]
    row = stored(app, one)
    assert (row.state, row.body, row.event_id) == (DeliveryState.PENDING, BODY, event_id)
    page = words(ann.page(answer.location))
    assert "It goes out again. The response appears below as soon as it arrives. Look again" in page
    assert "Send again" not in page


UNSETTLED = [DeliveryState.PENDING, DeliveryState.SENDING, DeliveryState.CANCELLED]


@pytest.mark.parametrize("state", UNSETTLED)
def test_what_is_under_way_or_called_off_is_not(
    app: Flask, ann: Creator, subscription: Any, handed_over: list[str], state: DeliveryState
) -> None:
    one = deliver(app, subscription, state)
    assert "Send again" not in words(ann.page(f"/deliveries/{one}"))

    answer = ann.post(f"/deliveries/{one}/again")

    assert answer.status_code == 409
    assert "still under way, or it was cancelled" in answer.text
    assert handed_over == []
    assert stored(app, one).state is state


def test_nothing_is_sent_again_to_an_agent_that_signed_off(
    app: Flask, ann: Creator, form: Any, handed_over: list[str]
) -> None:
    ended = {"ended_at": utc_now(), "expires_at": utc_now() + timedelta(days=1)}
    expired = {"expires_at": utc_now() - timedelta(seconds=1)}
    for changed in (ended, expired):
        with app.app_context():
            subscription = make_subscription(form, **changed)
        one = deliver(app, subscription, DeliveryState.ABANDONED)

        assert "Send again" not in words(ann.page(f"/deliveries/{one}"))
        assert ann.post(f"/deliveries/{one}/again").status_code == 409
    assert handed_over == []


def test_a_withdrawn_response_is_not_told_of_again(
    app: Flask, ann: Creator, subscription: Any, handed_over: list[str]
) -> None:
    one = deliver(app, subscription, DeliveryState.DELIVERED, event_id="evt_gone")

    page = words(ann.page(f"/deliveries/{one}"))
    answer = ann.post(f"/deliveries/{one}/again")

    assert "The response was taken back, or deleted, since." in page
    assert "Send again" not in page
    assert answer.status_code == 409
    assert "The response was withdrawn or deleted." in answer.text
    assert handed_over == []


def test_neither_envelopes_nor_forms_in_the_trash_are_sent_again(
    app: Flask, ann: Creator, form: Any, subscription: Any, handed_over: list[str]
) -> None:
    ended = deliver(app, subscription, DeliveryState.ABANDONED, kind=DeliveryKind.TERMINATED)
    one = deliver(app, subscription, DeliveryState.ABANDONED)
    assert ann.post(f"/deliveries/{ended}/again").status_code == 404

    with app.app_context():
        trash.delete_form(ann.account.id, form.id, now=utc_now())
    assert ann.post(f"/deliveries/{one}/again").status_code == 404
    assert handed_over == []


def test_others_send_nothing_again(
    app: Flask, ann: Creator, stranger: Creator, subscription: Any, handed_over: list[str]
) -> None:
    one = deliver(app, subscription, DeliveryState.ABANDONED)

    assert stranger.post(f"/deliveries/{one}/again").status_code == 404
    assert ann.post("/deliveries/dlv_unknown/again").status_code == 404
    assert handed_over == []


def test_both_actions_need_a_token_of_the_page(app: Flask, ann: Creator, subscription: Any) -> None:
    one = deliver(app, subscription, DeliveryState.ABANDONED)

    for path in (f"{one}/again", f"subscriptions/{subscription.id}/test"):
        answer = ann.client.post(f"/deliveries/{path}", base_url=ORIGIN, headers={"Origin": ORIGIN})
        assert answer.status_code == 400
        assert ann.page(f"/deliveries/{path}").status_code == 405
    assert stored(app, one).state is DeliveryState.ABANDONED


def test_sending_again_is_limited(app: Flask, ann: Creator, subscription: Any) -> None:
    answers = [ann.post("/deliveries/dlv_unknown/again").status_code for _ in range(31)]

    assert answers == [404] * 30 + [429]


# --- send a test ---


def test_a_test_is_a_signed_challenge_and_no_event(app: Flask, ann: Creator, form: Any) -> None:
    with receiving(app, form, say) as (subscription_id, seen):
        answer = send_test(ann, subscription_id)

    head, _, body = seen[0].decode().partition("\r\n\r\n")
    headers = dict(line.split(": ", 1) for line in head.split("\r\n")[1:])
    assert Webhook(SECRET).verify(body.encode(), headers)["type"] == "verification"
    assert headers["X-MCP-Subscription-Id"] == subscription_id
    assert answer.status_code == 303
    page = words(ann.page(answer.location))
    assert "The test arrived at 127.0.0.1:" in page
    with app.app_context():
        assert db.session.query(EventDelivery).all() == []


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (lambda _: (200, b"{}"), "The address did not repeat the word"),
        (lambda _: (404, b""), "The address turned the message away."),
        (lambda _: (503, b""), "Something is broken where the message should arrive."),
    ],
)
def test_a_failed_test_says_why(
    app: Flask, ann: Creator, form: Any, reply: Reply, said: str
) -> None:
    with receiving(app, form, reply) as (subscription_id, _):
        page = words(ann.page(send_test(ann, subscription_id).location))

    assert "The test did not get through to 127.0.0.1:" in page
    assert said in page


def test_an_address_inside_is_not_called(app: Flask, ann: Creator, form: Any) -> None:
    subscription_id = subscribe(app, form, url="https://localhost:8443/in")

    page = words(ann.page(send_test(ann, subscription_id).location))

    assert "Nobody could be reached at this address." in page


@pytest.mark.parametrize("outcome", ["arrived", "no_key", *DeliveryFailure])
def test_each_outcome_has_words(app: Flask, ann: Creator, form: Any, outcome: str) -> None:
    tested = subscribe(app, form)

    page = words(ann.page(f"/deliveries?tested={tested}&outcome={outcome}"))

    assert "The test " in page


@pytest.mark.parametrize(
    "query", ["tested={}&outcome=<b>", "tested={}", "tested=x&outcome=arrived"]
)
def test_an_outcome_that_is_none_shows_nothing(
    app: Flask, ann: Creator, form: Any, query: str
) -> None:
    page = ann.page(f"/deliveries?{query.format(subscribe(app, form))}")

    assert "The test " not in words(page)


def test_a_secret_that_no_key_opens_is_told(app: Flask, ann: Creator, subscription: Any) -> None:
    page = words(ann.page(send_test(ann, subscription.id).location))

    assert "The secret of this agent cannot be read any more." in page


def test_a_test_waits_in_a_place_for_challenges(app: Flask, ann: Creator, form: Any) -> None:
    subscription_id = subscribe(app, form)
    places = app.extensions["challenges"]
    with ExitStack() as taken:
        for _ in range(CHALLENGES_OF_ACCOUNT):
            taken.enter_context(places.slot(ann.account.id))
        answer = send_test(ann, subscription_id)

    assert answer.status_code == 429
    assert answer.headers["Retry-After"] == "2"


def test_no_connection_is_held_while_the_answer_is_awaited(
    app: Flask, ann: Creator, form: Any
) -> None:
    held: list[int] = []

    def reply(challenge: str) -> tuple[int, bytes]:
        with app.app_context():
            held.append(db.engine.pool.checkedout())
        return say(challenge)

    with receiving(app, form, reply) as (subscription_id, _):
        send_test(ann, subscription_id)

    assert held == [0]


def test_tests_and_subscribing_share_one_limit(app: Flask, ann: Creator, form: Any) -> None:
    """30 challenges a minute; here to 30 hosts, because each host has a limit of failures."""
    found = [
        subscribe(app, form, url=f"https://h{n}.invalid/", host=f"h{n}:443") for n in range(31)
    ]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("api.challenges.send_challenge", lambda *_, **__: None)
        answers = [send_test(ann, each) for each in found]

    assert [answer.status_code for answer in answers] == [303] * 30 + [429]
    assert "Wait 1 minute, then try again." in answers[-1].text
    assert 1 <= int(answers[-1].headers["Retry-After"]) <= 60


def test_tests_that_fail_count_for_their_host(app: Flask, ann: Creator, form: Any) -> None:
    subscription_id = subscribe(app, form, url="https://localhost:8443/in")

    answers = [send_test(ann, subscription_id).status_code for _ in range(5)]

    assert answers == [303] * 4 + [429]


def test_only_who_is_signed_up_is_tested(
    app: Flask, ann: Creator, stranger: Creator, form: Any
) -> None:
    live, gone = subscribe(app, form), subscribe(app, form, ended_at=utc_now())

    assert send_test(ann, gone).status_code == 409
    assert send_test(ann, "sub_unknown").status_code == 404
    assert send_test(stranger, live).status_code == 404
    page = ann.page("/deliveries").text
    assert f'/subscriptions/{live}/test"' in page
    assert f'/subscriptions/{gone}/test"' not in page


@pytest.mark.settings(mcp_events_enabled=False)
def test_without_events_nothing_is_sent(app: Flask, ann: Creator, subscription: Any) -> None:
    one = deliver(app, subscription, DeliveryState.ABANDONED)

    assert ann.post(f"/deliveries/{one}/again").status_code == 404
    assert send_test(ann, subscription.id).status_code == 404
