"""Forms that are closed, full or answered already. No typed word is lost."""

from datetime import UTC, datetime
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.factories import make_form, make_response
from tests.pages.respondent_client import Respondent, arrive, box, heading, texts
from webapp.base.database import utc_now
from webapp.records import forms
from webapp.records.accounts.models import Account


def close(app: Flask, form: Any) -> None:
    with app.app_context():
        forms.close_form(form.account_id, form.id, now=utc_now())


def test_a_closed_form_says_so(app: Flask, client: FlaskClient, form: Any) -> None:
    close(app, form)

    page = client.get(f"/r/{form.share_token}")

    assert page.status_code == 410
    assert heading(page) == "This form is closed."
    assert "Robin Example stopped taking answers on" in page.text


@pytest.mark.parametrize(
    ("language", "day", "full"),
    [("en", "5 Mar 2024", "5 March 2024"), ("fr", "5 mars 2024", "5 mars 2024")],
)
def test_a_day_of_another_year_has_its_year(
    app: Flask, client: FlaskClient, form: Any, language: str, day: str, full: str
) -> None:
    with app.app_context():
        forms.close_form(form.account_id, form.id, now=datetime(2024, 3, 5, 12, tzinfo=UTC))

    page = client.get(f"/r/{form.share_token}?lang={language}")

    time = f'datetime="2024-03-05T12:00:00+00:00" data-day="numeric" title="{full}, 12:00 UTC"'
    assert f"<time {time}>{day}</time>" in page.text


def test_text_typed_before_the_form_closed_is_kept(
    app: Flask, respondent: Respondent, form: Any
) -> None:
    respondent.answer(1, "Me")
    close(app, form)

    page = respondent.answer(2, "It broke & burned")

    assert page.status_code == 410
    assert box(page) == "It broke & burned"
    assert "1 answer you gave before that is kept" in page.text
    assert texts(app) == ["Me"]


@pytest.mark.parametrize("path", ["/q/1", "/q/2", "/check", ""])
def test_coming_back_to_a_closed_form_shows_that_it_closed(
    app: Flask, respondent: Respondent, form: Any, path: str
) -> None:
    respondent.answer(1, "Me")
    close(app, form)

    assert heading(respondent.open(path)) == "This form is closed."


@pytest.mark.parametrize("path", ["/q/1", "/q/1/skip", "/check"])
def test_a_closed_form_stores_nothing(
    app: Flask, respondent: Respondent, form: Any, path: str
) -> None:
    respondent.answer(1, "Me")
    close(app, form)

    assert respondent.post(path).status_code == 410
    assert texts(app) == ["Me"]


def test_a_sent_response_keeps_its_thank_you_page_on_a_closed_form(
    app: Flask, respondent: Respondent, form: Any
) -> None:
    respondent.answer_all()
    respondent.post("/check")
    close(app, form)

    page = respondent.open()

    assert heading(page).startswith("Thank you.")
    assert "Submit another response" not in page.text


def test_an_answer_after_sending_is_not_stored_and_not_lost(
    app: Flask, respondent: Respondent
) -> None:
    """Seen in a peer: a repeated session key overwrote a completed answer."""
    question = respondent.page
    respondent.answer_all()
    respondent.post("/check")
    respondent.page = question

    page = respondent.answer(1, "Somebody else")

    assert heading(page).startswith("Thank you.")
    assert box(page) == "Somebody else"
    assert texts(app) == ["Me", "It"]


@pytest.fixture
def single(app: Flask, account: Account) -> Any:
    with app.app_context():
        return make_form(account.id, responseLimit="one")


def test_a_form_for_one_response_says_that_it_has_it(
    app: Flask, client: FlaskClient, single: Any
) -> None:
    with app.app_context():
        make_response(single)

    page = client.get(f"/r/{single.share_token}")

    assert page.status_code == 410
    assert heading(page) == "This form has already been answered."


def test_text_typed_before_the_one_response_was_sent_is_kept(
    app: Flask, client: FlaskClient, single: Any
) -> None:
    respondent = arrive(client, single)
    respondent.answer(1, "Me")
    with app.app_context():
        make_response(single)

    page = respondent.answer(2, "It broke")

    assert (page.status_code, heading(page)) == (410, "This form has already been answered.")
    assert box(page) == "It broke"


def test_sending_into_a_full_form_is_refused(app: Flask, client: FlaskClient, single: Any) -> None:
    respondent = arrive(client, single)
    respondent.answer_all()
    with app.app_context():
        make_response(single)

    page = respondent.post("/check")

    assert (page.status_code, heading(page)) == (410, "This form has already been answered.")


def test_a_form_for_one_response_offers_no_second_one(
    app: Flask, client: FlaskClient, single: Any
) -> None:
    respondent = arrive(client, single)
    respondent.answer_all()

    page = respondent.post("/check")

    assert heading(page).startswith("Thank you.")
    assert "Submit another response" not in page.text


def test_withdrawing_the_one_response_opens_the_link_again(
    app: Flask, client: FlaskClient, single: Any
) -> None:
    respondent = arrive(client, single)
    respondent.answer_all()
    respondent.post("/check")
    respondent.post("/withdraw/now")

    assert heading(client.get(f"/r/{single.share_token}")) == "Who changed it?"


def test_another_response_to_a_closed_form_is_refused(
    app: Flask, respondent: Respondent, form: Any
) -> None:
    respondent.answer_all()
    respondent.post("/check")
    close(app, form)

    assert respondent.post("/another").status_code == 410
