"""Going on with an answer on another device: a link that works once, for one page, for an hour."""

import re
from datetime import timedelta
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import func, select
from werkzeug.test import TestResponse

from tests.factories import make_account, make_answer, make_form
from tests.pages.respondent_client import (
    Respondent,
    arrive,
    heading,
    hidden,
    set_columns,
    stored,
    texts,
)
from webapp.answers import trash
from webapp.answers.device_transfer import (
    TRANSFER_LINK_SECONDS,
    DeviceTransfer,
    claim_session_key,
    create_transfer_link,
    purge_expired_links,
)
from webapp.base.database import db, utc_now

GONE = "This link has expired."
NEXT = "What went wrong?"
MINE = "Whoever had the night shift"


def link(page: TestResponse) -> str:
    """The path of the link that this page offers."""
    found = re.search(r'id="link" readonly value="http://127\.0\.0\.1:8000([^"]*)"', page.text)
    assert found
    return found[1]


def follow(other: Respondent, path: str) -> TestResponse:
    """Open the link on the other device and press its button."""
    other.page = other.client.get(path)
    return other.post("/continue")


def offered(app: Flask) -> int:
    with app.app_context():
        return db.session.scalar(select(func.count()).select_from(DeviceTransfer)) or 0


@pytest.fixture
def begun(respondent: Respondent) -> Respondent:
    """Somebody who has answered the first of two questions."""
    respondent.answer(1, MINE)
    return respondent


@pytest.fixture
def path(begun: Respondent) -> str:
    """The link that they asked for."""
    return link(begun.post("/q/2/elsewhere"))


@pytest.fixture
def other(anybody: Respondent) -> Respondent:
    """The other device."""
    return anybody


def test_a_response_continues_on_another_device(
    app: Flask, begun: Respondent, other: Respondent, path: str
) -> None:
    assert heading(follow(other, path)) == NEXT
    shown = other.page
    if other.client._cookies is not None:
        assert heading(other.open()) == heading(other.open("/continue")) == NEXT
    begun.post("/q/2/open")
    begun.answer(2, "Written here")  # the first device can go on as well
    assert (stored(app), texts(app)) == ((1, 2), [MINE, "Written here"])
    other.page = shown
    other.post("/q/2/open")
    other.answer(2, "It")
    other.post("/check", name="Sam")

    assert (stored(app), texts(app)) == ((1, 3), [MINE, "It"])  # one is superseded
    assert heading(begun.open()).startswith("Thank you.")


def test_a_get_does_not_use_the_transfer_link(other: Respondent, path: str) -> None:
    for _ in range(3):
        preview = other.client.get(path)
        other.client.head(path)

    assert preview.status_code == 200
    assert "Set-Cookie" not in preview.headers
    assert MINE not in preview.text
    assert heading(follow(other, path)) == NEXT


def test_a_link_works_once_and_again_for_the_same_page(
    app: Flask, other: Respondent, path: str, form: Any
) -> None:
    late = arrive(app.test_client(), form)
    late.page = late.client.get(path)
    other.page = arrival = other.client.get(path)
    for _ in range(2):
        other.page = arrival
        assert heading(other.post("/continue")) == NEXT

    for page in (late.post("/continue"), late.client.get(path)):
        assert (page.status_code, heading(page)) == (410, GONE)
        assert MINE not in page.text


def test_a_new_link_ends_the_one_before_and_every_link_expires(
    app: Flask, begun: Respondent, other: Respondent, path: str
) -> None:
    begun.post("/q/2/open")
    second = link(begun.post("/q/2/elsewhere"))

    assert heading(other.client.get(path)) == GONE
    assert heading(follow(other, second)) == NEXT
    assert offered(app) == 1
    set_columns(app, DeviceTransfer, expires_at=utc_now())
    assert heading(other.client.get(second)) == GONE


def test_without_answers_no_transfer_link_is_offered(app: Flask, respondent: Respondent) -> None:
    assert "Finish on another device" not in respondent.page.text
    assert respondent.post("/q/1/elsewhere").status_code == 404
    assert offered(app) == 0


def test_the_database_does_not_reveal_the_session_key_and_forgets_the_link(
    app: Flask, begun: Respondent, other: Respondent, path: str, form: Any
) -> None:
    with app.app_context():
        written = str(db.session.execute(select(*DeviceTransfer.__table__.c)).one())
    assert hidden(begun.page)["session"] not in written
    assert path.rpartition("/")[2] not in written

    begun.post("/withdraw/now")
    assert offered(app) == 0
    assert heading(other.client.get(path)) == GONE

    with app.app_context():
        trash.delete_form(form.account_id, form.id, now=utc_now())
    assert other.client.get(path).status_code == 404


def test_old_links_and_those_of_deleted_forms_are_purged(app: Flask) -> None:
    now = utc_now()
    with app.app_context():
        form = make_form(make_account().id)
        for key, age in (("o" * 32, TRANSFER_LINK_SECONDS), ("y" * 32, TRANSFER_LINK_SECONDS - 1)):
            make_answer(form, key)
            secret = create_transfer_link(form.share_token, key, now=now - timedelta(seconds=age))

        assert sum(purge_expired_links(now)) == 1
        assert claim_session_key(form.share_token, secret, "c" * 22, now=now) == "y" * 32
        assert offered(app) == 1

        trash.delete_form(form.account_id, form.id, now=now - timedelta(days=31))
        assert sum(trash.purge_deleted(now)) > 0
    assert offered(app) == 0
