"""How subscriptions begin, what is queued for them, and how they end."""

from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from sqlalchemy import delete, select, update

from tests.databases import both_databases
from tests.domain.events.subscribing import (
    SEALER,
    URL,
    Subscriber,
    asked_for,
    deliveries,
    make_grant,
    states,
    subscribe_now,
    subscriptions,
)
from tests.event_factories import make_delivery, make_subscription
from tests.factories import make_account, make_answer, make_form, make_response
from webapp.answers.answering import complete_response, withdraw_response
from webapp.base.database import db, execute, utc_now, write_transaction
from webapp.base.vocabulary import DeliveryKind, DeliveryState, RevokedReason, SubscriptionEnd
from webapp.events.endings import end_expired, note_unqueued, purge_ended, unsubscribe
from webapp.events.outbox import event_id_of
from webapp.events.subscriptions import secret_place
from webapp.oauth.connections import disconnect, disconnect_all
from webapp.oauth.models import OAuthGrant
from webapp.oauth.tokens import revoke_grants
from webapp.records.events import CallbackEndpoint, EventDelivery, EventSubscription
from webapp.records.responses.models import ResponseSession

pytestmark = both_databases
End = Callable[[str, str, Any], object]
FIRST, SECOND, THIRD = ("whsec_" + letter * 32 for letter in "ABC")


def revoke(account_id: str, grant_id: str, now: Any, reason: RevokedReason) -> None:
    with write_transaction():
        revoke_grants(OAuthGrant.id == grant_id, reason, now=now)


ENDS = {
    "disconnected": lambda account, grant, now: disconnect(account, grant, now=now),
    "all disconnected": lambda account, _, now: disconnect_all(account, now=now),
    "code reused": partial(revoke, reason=RevokedReason.CODE_REUSE),
    "refresh token reused": partial(revoke, reason=RevokedReason.REFRESH_REUSE),
    "revoked by client": partial(revoke, reason=RevokedReason.REVOKED_BY_CLIENT),
}


def last_words() -> list[EventDelivery]:
    return [each for each in deliveries() if each.kind is DeliveryKind.TERMINATED]


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_the_end_of_a_connection_ends_what_it_subscribed(
    agent: Subscriber, form: Any, end: End
) -> None:
    now = utc_now()
    other, stranger = make_form(form.account_id), make_form(make_account().id)
    for each in (form, other):
        subscribe_now(asked_for(each, agent.grant_id))
        make_response(each)
    theirs = subscribe_now(asked_for(stranger, make_grant(stranger.account_id))).subscription_id

    for _ in range(2):
        end(form.account_id, agent.grant_id, now)

    assert {each.id for each in subscriptions() if each.ended_at is None} == {theirs}
    with write_transaction():
        execute(delete(EventSubscription).where(EventSubscription.id == theirs))
    assert {each.ended_at for each in subscriptions()} == {now}
    disconnected = end in list(ENDS.values())[:2]
    reason = SubscriptionEnd.DISCONNECTED if disconnected else SubscriptionEnd.REVOKED
    assert {each.end_reason for each in subscriptions()} == {reason}
    assert sorted(states()) == ["cancelled", "cancelled", "pending", "pending"]
    told = last_words()
    assert {each.subscription_id for each in told} == {each.id for each in subscriptions()}
    for each in told:
        assert each.event_id.startswith("msg_terminated_")
        assert (each.next_at, each.position, each.answer_count) == (now, 0, 0)
    # until the subscriber has been told
    assert {each.url for each in subscriptions()} == {URL}
    make_response(form)
    assert len(deliveries()) == 4


def test_the_address_is_erased_when_there_was_time_to_tell(agent: Subscriber, form: Any) -> None:
    agent.subscribe()
    disconnect(form.account_id, agent.grant_id, now=agent.clock.now)

    assert list(end_expired(agent.clock.forward(seconds=59))) == []
    assert subscriptions()[0].url == URL
    assert list(end_expired(agent.clock.forward(seconds=1))) == [2]

    (stored,) = subscriptions()
    assert (stored.url, stored.secret, stored.host) == (None, None, "hooks.example.com:443")
    assert states() == ["cancelled"]
    assert list(end_expired(agent.clock.now)) == []


def test_an_expired_subscription_keeps_its_host_alone(agent: Subscriber, form: Any) -> None:
    asked = agent.ask(ttl_seconds=300)
    subscribe_now(asked, now=agent.clock.now)
    subscribe_now(asked._replace(secret=SECOND), now=agent.clock.now)
    make_response(form)

    assert list(end_expired(agent.clock.forward(seconds=299))) == []
    assert sum(end_expired(agent.clock.forward(seconds=1))) == 2

    (stored,) = subscriptions()
    assert (stored.ended_at, stored.end_reason) == (agent.clock.now, SubscriptionEnd.EXPIRED)
    assert (stored.url, stored.secret, stored.previous_secret) == (None, None, None)
    assert stored.host == "hooks.example.com:443"
    assert states() == ["cancelled"]
    assert deliveries()[0].settled_at == agent.clock.now


def test_a_previous_secret_is_erased_after_a_day(agent: Subscriber, form: Any) -> None:
    asked = agent.ask(ttl_seconds=7 * 86_400)
    for letter in "AB":
        subscribe_now(asked._replace(secret="whsec_" + letter * 32), now=agent.clock.now)

    assert list(purge_ended(agent.clock.forward(hours=23))) == []
    assert list(purge_ended(agent.clock.forward(hours=1))) == [1]

    (stored,) = subscriptions()
    assert (stored.previous_secret, stored.previous_until) == (None, None)
    assert stored.secret


def test_what_nothing_names_any_more_is_purged(agent: Subscriber, form: Any) -> None:
    live = agent.subscribe(ttl_seconds=7 * 86_400)
    logged, gone = (agent.subscribe(url=f"{URL}&n={n}") for n in range(2))
    make_delivery(
        db.session.get_one(EventSubscription, logged.subscription_id),
        state=DeliveryState.DELIVERED,
        settled_at=agent.clock.now,
    )
    for each in (logged, gone):
        unsubscribe(form.account_id, form.id, each.subscription_id, now=agent.clock.now)

    assert list(purge_ended(agent.clock.forward(hours=24))) == []
    assert list(purge_ended(agent.clock.forward(seconds=1))) == [1, 1]

    kept = {each.id for each in subscriptions()}
    assert kept == {live.subscription_id, logged.subscription_id}
    assert {each.endpoint_id for each in subscriptions()} == set(
        db.session.scalars(select(CallbackEndpoint.id))
    )
    with write_transaction():
        execute(update(CallbackEndpoint).values(seen_at=agent.clock.now))
    assert list(purge_ended(agent.clock.now)) == []


def test_a_refresh_tells_of_what_was_completed_while_events_were_off(agent: Subscriber) -> None:
    asked = agent.ask()
    subscribe_now(asked)

    assert list(note_unqueued(utc_now())) == [1]
    assert list(note_unqueued(utc_now())) == []

    assert [subscribe_now(asked).truncated for _ in range(2)] == [True, False]


KEY = "a" * 32


def complete(form: Any) -> list[str] | None:
    return complete_response(form.share_token, KEY, responder_name="", now=utc_now())


def session() -> ResponseSession:
    return db.session.scalars(select(ResponseSession)).one()


def test_completing_queues_a_delivery_for_each_live_subscription(form: Any) -> None:
    now = utc_now()
    live = make_subscription(form)
    suspended = make_subscription(form, suspended_at=now)
    make_subscription(form, ended_at=now)
    make_subscription(form, expires_at=now - timedelta(milliseconds=1))
    make_subscription(make_form(form.account_id))
    make_answer(form, KEY)
    make_answer(form, KEY, position=1)

    queued = complete(form)

    found = deliveries()
    assert {each.id for each in found} == set(queued or ())
    assert {each.subscription_id for each in found} == {live.id, suspended.id}
    done = session()
    for each in found:
        assert each.event_id == event_id_of(done.id) == "evt_" + done.id.removeprefix("ses_")
        assert each.id == f"dlv_{each.event_id[4:]}{each.subscription_id[4:]}"
        assert (each.account_id, each.form_id) == (form.account_id, form.id)
        assert (each.endpoint_id, each.host) in [
            (one.endpoint_id, one.host) for one in (live, suspended)
        ]
        assert (each.kind, each.state) == (DeliveryKind.EVENT, DeliveryState.PENDING)
        assert (each.answer_count, each.position) == (2, done.completed_stamp)
        assert (each.attempts, each.body, each.settled_at) == (0, None, None)
        assert now <= each.next_at == each.created_at <= utc_now()


def test_withdrawing_cancels_what_is_not_settled(form: Any) -> None:
    make_answer(form, KEY)
    complete(form)
    event_id, now = event_id_of(session().id), utc_now()
    for state in (DeliveryState.DELIVERED, DeliveryState.SENDING, DeliveryState.PENDING):
        make_delivery(make_subscription(form), event_id=event_id, state=state)
    make_response(form)  # of somebody else

    withdraw_response(form.share_token, KEY, now=now)

    assert Counter(states()) == {"cancelled": 2, "delivered": 1, "pending": 3}
    assert {each.settled_at for each in deliveries() if each.state == "cancelled"} == {now}


def unsealed(sealed: str | None, key: str) -> str | None:
    return SEALER.unseal(sealed, place=secret_place(key)) if sealed else None


def test_exactly_one_previous_secret_is_kept(agent: Subscriber) -> None:
    for secret in (FIRST, SECOND, THIRD):
        agent.clock.forward(hours=1)
        agent.subscribe(secret=secret)

    (stored,) = subscriptions()
    assert unsealed(stored.secret, stored.id) == THIRD
    assert unsealed(stored.previous_secret, stored.id) == SECOND
