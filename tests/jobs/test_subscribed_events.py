"""From subscribing by REST to what the receiver gets, and each way in which that ends."""

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from sqlalchemy import select, update

from tests.databases import both_databases
from tests.jobs.way import Way
from webapp.answers.answering import withdraw_response
from webapp.answers.trash import delete_form, restore_form
from webapp.base.database import db, utc_now
from webapp.base.vocabulary import DeliveryState, RevokedReason
from webapp.oauth.account_deletion import delete_account
from webapp.oauth.connections import disconnect
from webapp.oauth.models import OAuthGrant
from webapp.oauth.tokens import revoke_grants
from webapp.records.events import EventDelivery

pytestmark = both_databases


def test_a_completed_response_wakes_its_subscriber(way: Way) -> None:
    granted = way.subscribe().json
    way.complete()

    (event,) = way.sent()

    assert event["eventId"] == way.completed()[0]
    assert event["name"] == "response.submitted"
    assert event["data"]["formId"] == way.form.id
    assert way.sent() == []
    listed = way.agent.get(f"/forms/{way.form.id}/subscriptions").json
    assert [each["subscriptionId"] for each in listed["subscriptions"]] == [
        granted["subscriptionId"]
    ]


def test_the_cursor_of_an_event_brings_back_what_came_after(way: Way) -> None:
    key = way.subscribe().json["subscriptionId"]
    way.complete()
    (event,) = way.sent()
    ended = way.agent.call("DELETE", f"/forms/{way.form.id}/subscriptions/{key}")
    assert ended.status_code == 204
    way.complete()
    way.complete()
    assert way.sent() == []

    again = way.subscribe(cursor=event["cursor"]).json

    assert again["truncated"] is False
    assert {each["eventId"] for each in way.sent()} == set(way.completed()[1:])
    assert way.subscribe(cursor=again["cursor"]).json["truncated"] is False
    assert way.sent() == []


def test_an_event_that_overtook_an_earlier_one_is_not_sent_twice_either(way: Way) -> None:
    key = way.subscribe().json["subscriptionId"]
    way.complete()
    way.run(postpone, utc_now() + timedelta(hours=1))
    way.complete()
    (overtaking,) = way.sent()
    way.run(postpone, utc_now())
    (late,) = way.sent()

    cursors, sent_again = (overtaking["cursor"], late["cursor"]), []
    for cursor in cursors:
        way.agent.call("DELETE", f"/forms/{way.form.id}/subscriptions/{key}")
        way.subscribe(cursor=cursor)
        sent_again.append({each["eventId"] for each in way.sent()})

    # the first was written while the earlier one could still get lost
    assert sent_again == [set(way.completed()), set()]


def postpone(until: datetime) -> None:
    """What waits is due then."""
    waiting = EventDelivery.state == DeliveryState.PENDING
    db.session.execute(update(EventDelivery).where(waiting).values(next_at=until))
    db.session.commit()


def disconnected(way: Way) -> None:
    disconnect(way.form.account_id, way.grant_id(), now=utc_now())


def reused(way: Way, grant_id: str = "") -> None:
    mine = OAuthGrant.id == (grant_id or way.grant_id())
    revoke_grants(mine, RevokedReason.REFRESH_REUSE, now=utc_now())
    db.session.commit()


@pytest.mark.parametrize("end", [disconnected, reused])
def test_the_end_of_the_connection_is_told_once_and_nothing_else(
    way: Way, end: Callable[[Way], None]
) -> None:
    way.subscribe()
    way.complete()

    way.run(end, way)
    way.complete()

    (told,) = way.sent()
    assert told["type"] == "terminated"
    assert way.sent() == []
    (stored,) = way.stored()
    assert (stored.url, stored.secret) == (None, None)


def test_a_form_in_the_trash_wakes_nobody_until_it_is_restored(way: Way) -> None:
    way.subscribe()
    way.complete()
    account_id, form_id = way.form.account_id, way.form.id
    way.run(delete_form, account_id, form_id, now=utc_now())

    assert way.sent() == []
    assert way.subscribe().status_code == 404
    with way.app.app_context():
        assert db.session.scalars(select(EventDelivery.attempts)).all() == [0]

    way.run(restore_form, account_id, form_id, now=utc_now())
    assert [each["eventId"] for each in way.sent()] == way.completed()


def test_a_withdrawn_response_wakes_nobody(way: Way) -> None:
    way.subscribe()
    key = way.complete()

    way.run(withdraw_response, way.form.share_token, key, now=utc_now())

    assert way.sent() == []


def test_a_deleted_account_wakes_nobody_and_is_not_told(way: Way) -> None:
    way.subscribe()
    way.complete()

    way.run(delete_account, way.form.account_id, now=utc_now())

    assert way.sent() == []
    assert [(each.url, each.secret) for each in way.stored()] == [(None, None)]
