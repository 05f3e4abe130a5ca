"""Which deliveries are claimed, and how many at a time."""

from collections import Counter
from datetime import timedelta

import orjson
import pytest
from sqlalchemy import update

from tests.conftest import Clock
from tests.databases import both_databases
from tests.domain.events.claiming import CURSOR_KEY, release_lost, taken
from tests.event_factories import make_delivery, make_subscription
from tests.factories import make_account, make_form
from webapp.base.database import db, from_millis, utc_now
from webapp.base.vocabulary import DeliveryKind, DeliveryState, ErrorProfile
from webapp.events.delivering import Leases, renew
from webapp.events.outbox import write_cursor
from webapp.records.accounts.models import Account
from webapp.records.events import CallbackEndpoint, EventDelivery, EventSubscription
from webapp.records.forms import Form

pytestmark = [pytest.mark.usefixtures("app_context"), both_databases]


def change(model: type[db.Model], **values: object) -> None:  # type: ignore[name-defined]
    db.session.execute(update(model).values(**values))
    db.session.commit()


def test_a_lease_ends_with_its_process(clock: Clock) -> None:
    delivery = make_delivery(make_subscription(make_form(make_account().id)), next_at=clock.now)
    (claimed,) = taken(now=clock.now)
    leases = Leases()

    for _ in range(60):  # a minute in which it says that it still runs
        leases.look(now=clock.now)
        renew([claimed], now=clock.now)
    for _ in range(5):
        leases.look(now=clock.now)
    assert taken(now=clock.forward(seconds=2)) == []

    leases.look(now=clock.now)
    clock.forward(seconds=2)
    (again,) = taken(now=clock.now)
    renew([claimed], now=clock.now)  # comes back late, and renews nothing of others

    db.session.expire_all()
    assert (again.attempts, delivery.attempts, delivery.renewals) == (2, 2, 0)


def test_a_delivery_whose_attempts_never_end_is_given_up(clock: Clock) -> None:
    delivery = make_delivery(make_subscription(make_form(make_account().id)), next_at=clock.now)

    for number in range(1, 10):
        assert [each.attempts for each in taken(now=clock.now)] == [number]
        release_lost(now=clock.now)
        db.session.expire_all()
        clock.now = max(clock.now, delivery.next_at)
    assert taken(now=clock.now) == []

    assert (delivery.state, delivery.settled_at) == (DeliveryState.ABANDONED, clock.now)


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
        "cursor": write_cursor(CURSOR_KEY, delivery.form_id, stuck.position - 1),
    }


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


def test_two_at_a_time_go_to_an_endpoint(clock: Clock) -> None:
    form = make_form(make_account().id)
    for _ in range(2):
        subscription = make_subscription(form)
        for _ in range(3):
            make_delivery(subscription, next_at=clock.now)

    claimed = taken(now=clock.now)

    assert Counter(Counter(each.endpoint_id for each in claimed).values()) == {2: 2}
    assert taken(now=clock.now) == []


def test_an_account_leaves_as_much_of_a_host_as_it_takes(clock: Clock) -> None:
    def accounts(count: int, endpoints: int) -> list[str]:
        forms = [make_form(make_account().id) for _ in range(count)]
        for form in forms:
            for _ in range(endpoints):
                make_delivery(make_subscription(form), next_at=clock.now)
        return [form.account_id for form in forms]

    (stranger,) = accounts(1, endpoints=9)
    assert Counter(each.account_id for each in taken(now=clock.now)) == {stranger: 4}
    others = accounts(10, endpoints=2)
    claimed = Counter(each.account_id for each in taken(now=clock.now))

    assert set(claimed) == set(others)  # each has one, however many there are
    assert claimed.total() == 10


def test_a_probe_goes_alone(clock: Clock) -> None:
    subscription = make_subscription(make_form(make_account().id))
    for _ in range(3):
        make_delivery(subscription, next_at=clock.now)
    change(CallbackEndpoint, failures=5, paused_until=clock.now)

    assert len(taken(now=clock.now)) == 1
    assert taken(now=clock.now) == []
