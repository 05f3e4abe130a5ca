"""From subscribing by REST to what the receiver gets, and each way in which that ends."""

from sqlalchemy import select

from tests.databases import both_databases
from tests.jobs.way import Way
from webapp.answers.trash import delete_form, restore_form
from webapp.base.database import db, utc_now
from webapp.base.vocabulary import RevokedReason
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


def disconnected(way: Way) -> None:
    disconnect(way.form.account_id, way.grant_id(), now=utc_now())


def reused(way: Way, grant_id: str = "") -> None:
    mine = OAuthGrant.id == (grant_id or way.grant_id())
    revoke_grants(mine, RevokedReason.REFRESH_REUSE, now=utc_now())
    db.session.commit()


def test_the_end_of_the_connection_is_sent_once_and_nothing_else(way: Way) -> None:
    way.subscribe()
    way.complete()

    way.run(disconnected, way)
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
