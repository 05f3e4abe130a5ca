"""Which deliveries are claimed, and how many at a time."""

from collections import Counter
from datetime import datetime, timedelta

import orjson
import pytest
from sqlalchemy import select, update

from tests.conftest import Clock
from tests.databases import both_databases
from tests.event_factories import make_delivery, make_subscription
from tests.factories import make_account, make_form
from tests.query_plans import statements_of
from webapp.database import db, from_millis, to_millis, utc_now
from webapp.domain.accounts.models import Account
from webapp.domain.events.deliveries.claims import Claimed, claim, is_due, read_due, release_expired
from webapp.domain.events.models import CallbackEndpoint, EventDelivery, EventSubscription
from webapp.domain.forms.models import Form
from webapp.domain.shared.vocabulary import DeliveryKind, DeliveryState, ErrorProfile

pytestmark = [pytest.mark.usefixtures("app_context"), both_databases]


def taken(limit: int = 100, *, now: datetime, failing_limit: int | None = None) -> list[Claimed]:
    def cursor(form_id: str, position: int) -> str:
        return f"{form_id} {position}"

    return claim(limit, cursor_of=cursor, now=now, failing_limit=failing_limit)


def ids(claimed: list[Claimed]) -> set[str]:
    return {each.id for each in claimed}


def change(model: type[db.Model], **values: object) -> None:  # type: ignore[name-defined]
    db.session.execute(update(model).values(**values))
    db.session.commit()


def test_what_is_due_is_leased_with_one_attempt_more(clock: Clock) -> None:
    delivery = make_delivery(make_subscription(make_form(make_account().id)), next_at=clock.now)
    make_delivery(
        make_subscription(make_form(make_account().id)), next_at=clock.now + timedelta(seconds=1)
    )

    (claimed,) = taken(now=clock.now)

    db.session.expire_all()
    assert (claimed.id, claimed.attempts, claimed.kind) == (delivery.id, 1, DeliveryKind.EVENT)
    assert (delivery.state, delivery.attempts) == (DeliveryState.SENDING, 1)
    assert delivery.lease_until == clock.now + timedelta(seconds=30)


def test_a_lease_keeps_others_away_until_it_ends(clock: Clock) -> None:
    delivery = make_delivery(make_subscription(make_form(make_account().id)), next_at=clock.now)
    assert ids(taken(now=clock.now)) == {delivery.id}

    release_expired(now=clock.forward(seconds=29.9))
    assert taken(now=clock.now) == []
    release_expired(now=clock.forward(seconds=0.1))
    (again,) = taken(now=clock.now)

    assert again.attempts == 2


def test_a_lease_that_ended_is_released_where_nobody_claims(clock: Clock) -> None:
    delivery = make_delivery(make_subscription(make_form(make_account().id)), next_at=clock.now)
    taken(now=clock.now)

    release_expired(now=clock.forward(seconds=29))
    assert not is_due(delivery.id, now=clock.now)
    release_expired(now=clock.forward(seconds=1))

    assert is_due(delivery.id, now=clock.now)
    assert [due.id for due in read_due(now=clock.now)] == [delivery.id]


def test_a_delivery_whose_attempts_never_end_is_given_up(clock: Clock) -> None:
    delivery = make_delivery(make_subscription(make_form(make_account().id)), next_at=clock.now)

    for number in range(1, 10):
        assert [each.attempts for each in taken(now=clock.now)] == [number]
        release_expired(now=clock.forward(seconds=30))
    assert taken(now=clock.now) == []

    db.session.expire_all()
    assert (delivery.state, delivery.settled_at) == (DeliveryState.ABANDONED, clock.now)
    assert delivery.lease_until is None


def test_the_body_is_frozen_at_the_first_attempt(clock: Clock) -> None:
    subscription = make_subscription(make_form(make_account().id))
    stuck = make_delivery(subscription, next_at=clock.now + timedelta(hours=1))
    position = stuck.position + 5
    delivery = make_delivery(subscription, next_at=clock.now, position=position)

    (first,) = taken(now=clock.now)
    change(EventDelivery, state=DeliveryState.PENDING, answer_count=9)
    again = next(each for each in taken(now=clock.now) if each.id == delivery.id)

    completed = from_millis(position).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    assert again.body == first.body
    assert orjson.loads(first.body) == {
        "eventId": delivery.event_id,
        "name": "response.submitted",
        "timestamp": completed,
        "data": {
            "formId": delivery.form_id,
            "responseId": "ses_" + delivery.event_id.removeprefix("evt_"),
            "submittedAt": completed,
            "answerCount": 2,
        },
        "cursor": f"{delivery.form_id} {stuck.position - 1}",
    }


def test_a_cursor_passes_what_is_settled_alone(clock: Clock) -> None:
    subscription = make_subscription(make_form(make_account().id))
    start = to_millis(clock.now)
    states = (DeliveryState.DELIVERED, DeliveryState.ABANDONED, DeliveryState.SENDING)
    for place, state in enumerate(states):
        make_delivery(
            subscription,
            state=state,
            position=start + place,
            lease_until=clock.now + timedelta(seconds=5),
        )
    make_delivery(subscription, position=start + 9, next_at=clock.now)

    (claimed,) = taken(now=clock.now)

    assert orjson.loads(claimed.body)["cursor"].endswith(f" {start + 1}")


@pytest.mark.parametrize(
    ("model", "values"),
    [
        (EventSubscription, {"suspended_at": utc_now()}),
        (EventSubscription, {"expires_at": utc_now()}),
        (EventSubscription, {"ended_at": utc_now()}),
        (EventSubscription, {"url": None, "secret": None}),
        (CallbackEndpoint, {"paused_until": utc_now() + timedelta(hours=1)}),
        (Form, {"deleted_at": utc_now()}),
        (Account, {"disabled_at": utc_now()}),
    ],
)
def test_nothing_is_sent_and_no_attempt_used_while(
    clock: Clock,
    model: type[db.Model],  # type: ignore[name-defined]
    values: dict[str, object],
) -> None:
    delivery = make_delivery(make_subscription(make_form(make_account().id)), next_at=clock.now)
    change(model, **values)

    assert taken(now=clock.forward(seconds=1)) == []
    assert read_due(now=clock.now) == []
    assert not is_due(delivery.id, now=clock.now)

    db.session.expire_all()
    assert (delivery.state, delivery.attempts) == (DeliveryState.PENDING, 0)


def test_an_ended_subscription_gets_its_envelope_alone(clock: Clock) -> None:
    for profile, code in ((ErrorProfile.PLAIN, -32012), (ErrorProfile.EXTENSION, -32024)):
        ended = make_subscription(
            make_form(make_account().id), ended_at=clock.now, error_profile=profile
        )
        make_delivery(ended, next_at=clock.now)
        envelope = make_delivery(ended, kind=DeliveryKind.TERMINATED, position=0, next_at=clock.now)

        (claimed,) = taken(now=clock.now)

        assert claimed.id == envelope.id
        assert orjson.loads(claimed.body) == {
            "type": "terminated",
            "error": {
                "code": code,
                "message": "Forbidden",
                "data": {"reason": "Access revoked"},
            },
        }


def test_two_at_a_time_go_to_an_endpoint_and_eight_to_a_host(clock: Clock) -> None:
    form = make_form(make_account().id)
    for _ in range(6):
        subscription = make_subscription(form)
        for _ in range(3):
            make_delivery(subscription, next_at=clock.now)

    claimed = taken(now=clock.now)
    more = taken(now=clock.now)

    per_endpoint = Counter(each.endpoint_id for each in claimed)
    assert len(claimed) == 8
    assert more == []
    assert max(per_endpoint.values()) == 2
    assert len(per_endpoint) == 6  # each gets one before any gets its second


def test_an_endpoint_shared_by_subscriptions_has_its_limit_once(clock: Clock) -> None:
    form = make_form(make_account().id)
    first = make_subscription(form)
    for subscription in (first, make_subscription(form), make_subscription(form)):
        make_delivery(subscription, endpoint_id=first.endpoint_id, next_at=clock.now)
    change(EventSubscription, endpoint_id=first.endpoint_id)

    assert len(taken(now=clock.now)) == 2


def test_a_receiver_with_many_stands_in_nobodys_way(clock: Clock) -> None:
    form = make_form(make_account().id)
    slow, live = make_subscription(form), make_subscription(form)
    long_ago = clock.now - timedelta(hours=1)
    for _ in range(30):
        make_delivery(slow, next_at=long_ago)
    quick = make_delivery(live, next_at=clock.now)

    assert quick.id in ids(taken(2, now=clock.now))


def test_a_probe_goes_alone(clock: Clock) -> None:
    subscription = make_subscription(make_form(make_account().id))
    for _ in range(3):
        make_delivery(subscription, next_at=clock.now)
    change(CallbackEndpoint, failures=5, paused_until=clock.now)

    assert len(taken(now=clock.now)) == 1
    assert taken(now=clock.now) == []


def test_endpoints_that_failed_get_the_places_they_may_have(clock: Clock) -> None:
    form = make_form(make_account().id)
    for failures in (1, 1, 1, 0):
        subscription = make_subscription(form)
        make_delivery(subscription, next_at=clock.now)
        db.session.get_one(CallbackEndpoint, subscription.endpoint_id).failures = failures
        db.session.commit()

    claimed = taken(now=clock.now, failing_limit=2)

    assert sorted(each.failing for each in claimed) == [False, True, True]


def test_a_claim_takes_no_more_than_it_can_attempt(clock: Clock) -> None:
    form = make_form(make_account().id)
    for _ in range(3):
        make_delivery(make_subscription(form), next_at=clock.now)

    assert len(taken(2, now=clock.now)) == 2
    assert len(db.session.scalars(select(EventDelivery).filter_by(state="pending")).all()) == 1


def test_a_claim_holds_others_up_for_few_statements(clock: Clock) -> None:
    make_delivery(make_subscription(make_form(make_account().id)), next_at=clock.now)
    statements = statements_of(lambda: taken(now=clock.now))

    locks = [sql for sql, _ in statements if "pg_advisory_xact_lock" in sql]
    assert len(statements) - len(locks) == 3  # what is due, its details, its lease
