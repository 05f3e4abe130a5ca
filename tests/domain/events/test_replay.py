"""Cursors: what a subscription that begins again is sent, and how far it has come."""

from datetime import datetime, timedelta

import pytest
from sqlalchemy import update

from tests.databases import both_databases
from tests.domain.events.subscribing import KEY, Subscriber, deliveries, states
from tests.factories import make_answer, make_form
from webapp.answers.answering import complete_response
from webapp.base.database import execute, write_transaction
from webapp.base.vocabulary import DeliveryState
from webapp.events import outbox
from webapp.events.endings import end_expired
from webapp.events.outbox import watermark, write_cursor
from webapp.records.events import EventDelivery

pytestmark = both_databases


def pending() -> list[int]:
    return [each.position for each in deliveries() if each.state is DeliveryState.PENDING]


def test_a_lapsed_subscription_is_sent_what_it_missed_oldest_first(agent: Subscriber) -> None:
    first = agent.subscribe(ttl_seconds=300)
    agent.complete()
    agent.settle(DeliveryState.DELIVERED)
    cursor = agent.subscribe(ttl_seconds=300).cursor
    agent.clock.forward(seconds=301)
    agent.complete(3)
    assert pending() == []

    again = agent.subscribe(cursor=cursor)

    assert again.subscription_id == first.subscription_id
    assert pending() == agent.stamps()[1:]
    assert all(each.next_at <= agent.clock.now for each in deliveries())
    assert again.truncated is False
    assert agent.position(again) == agent.stamps()[1] - 1


@pytest.mark.parametrize("swept", [False, True])
def test_deliveries_of_a_lapsed_subscription_wait_again(agent: Subscriber, *, swept: bool) -> None:
    cursor = agent.subscribe(ttl_seconds=300).cursor
    agent.complete(5)
    settled = set(DeliveryState) - {DeliveryState.PENDING, DeliveryState.SENDING}
    with write_transaction():
        execute(
            update(EventDelivery)
            .where(EventDelivery.position == agent.stamps()[4])
            .values(state=DeliveryState.SENDING)
        )
    agent.settle(*sorted(settled))
    agent.clock.forward(seconds=301)
    if swept:
        assert list(end_expired(agent.clock.now))

    agent.subscribe(cursor=cursor)

    assert pending() == agent.stamps()[: 5 if swept else 4]
    again = [each for each in deliveries() if each.position in agent.stamps()[:4]]
    for each in again:
        assert (each.attempts, each.settled_at) == (0, None)
        assert each.body == "{}"


def test_a_cursor_changes_nothing_while_the_subscription_lives(agent: Subscriber) -> None:
    cursor = agent.subscribe().cursor
    agent.complete(2)
    agent.settle(DeliveryState.DELIVERED, DeliveryState.ABANDONED)

    again = agent.subscribe(cursor=cursor, max_age_ms=0)

    assert sorted(states()) == ["abandoned", "delivered"]
    assert again.truncated is False


def test_the_newest_of_too_many_are_sent(
    agent: Subscriber, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert outbox.REPLAY_MAX_EVENTS == 500
    monkeypatch.setattr(outbox, "_LEFT_OUT", outbox._LEFT_OUT.offset(3))
    cursor = agent.subscribe(ttl_seconds=300).cursor
    agent.clock.forward(seconds=301)
    agent.complete(5)

    assert agent.subscribe(cursor=cursor).truncated
    assert pending() == agent.stamps()[2:]


@pytest.mark.parametrize(
    "kind", ["altered", "foreign", "other key", "dots", "version", "words", "ü", "\ud800"]
)
def test_a_cursor_that_is_not_ours_starts_from_now(
    agent: Subscriber, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = make_form(agent.form.account_id)
    agent.complete(2)
    ours = write_cursor(KEY, agent.form.id, 1)
    given = {
        "altered": ("B" if ours[0] == "A" else "A") + ours[1:],
        "foreign": write_cursor(KEY, other.id, 1),
        "other key": write_cursor(b"another key", agent.form.id, 1),
        "dots": ours.replace(".", "..", 1),
        "version": ours,
        "words": "x" * 1000,
    }.get(kind, kind)
    if kind == "version":
        monkeypatch.setattr(outbox, "VERSION", 2)

    granted = agent.subscribe(cursor=given)

    assert granted.truncated is True
    assert agent.position(granted) == agent.stamps()[1]
    assert deliveries() == []


def test_the_watermark_passes_nothing_that_is_stuck(agent: Subscriber) -> None:
    first = agent.subscribe()
    agent.complete(3)
    key, form_id = first.subscription_id, agent.form.id
    stamps = agent.stamps()
    assert watermark(key, form_id) == stamps[0] - 1
    agent.settle(DeliveryState.DELIVERED, DeliveryState.SENDING, DeliveryState.DELIVERED)

    assert watermark(key, form_id) == stamps[1] - 1
    assert agent.position(agent.subscribe()) == stamps[1] - 1
    with write_transaction():
        stuck = update(EventDelivery).where(EventDelivery.position == stamps[1])
        execute(stuck.values(state=DeliveryState.ABANDONED))

    assert agent.position(agent.subscribe()) == stamps[2]
    agent.complete()
    assert watermark(key, form_id) == agent.stamps()[3] - 1


def at(moment: datetime, seconds: float) -> datetime:
    return moment + timedelta(seconds=seconds)


def test_a_completion_by_a_faster_clock_is_not_lost_at_expiry(agent: Subscriber) -> None:
    granted = agent.subscribe(ttl_seconds=300)
    expired = granted.refresh_before
    make_answer(agent.form, "k" * 32)
    complete_response(agent.form.share_token, "k" * 32, responder_name="", now=at(expired, 0.005))
    assert deliveries() == []

    agent.clock.now = at(expired, -0.005)
    agent.subscribe(cursor=granted.cursor)

    assert pending() == agent.stamps()
