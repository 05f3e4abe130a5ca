"""The way through a form, one question per page, without scripts."""

import re
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.factories import make_form
from tests.pages.respondent_client import Respondent, arrive, box, heading, hidden, stored, texts
from webapp.base.database import utc_now
from webapp.records.accounts.models import Account
from webapp.records.forms import close_form


@pytest.fixture
def form(app: Flask, account: Account) -> Any:
    with app.app_context():
        return make_form(
            account.id,
            questions=[{"text": "Who changed it?", "context": "First names do."}, "What went on?"],
        )


@pytest.fixture(params=["with cookies", "cookies refused"])
def any_client(app: Flask, request: pytest.FixtureRequest) -> FlaskClient:
    """A browser as it is, and one that refuses every cookie."""
    return app.test_client(use_cookies=request.param == "with cookies")


def test_a_whole_form_is_answered(app: Flask, any_client: FlaskClient, form: Any) -> None:
    respondent = arrive(any_client, form)
    respondent.answer_all()
    page = respondent.post("/check", name=" Sam  Okafor ")

    assert heading(page) == "Thank you. Robin Example has your answers."
    assert texts(app) == ["Me", "It"]
    assert "Sam Okafor" in respondent.post("/sent").text


def test_the_link_asks_the_first_question_at_once(respondent: Respondent) -> None:
    page = respondent.page

    assert heading(page) == "Who changed it?"
    assert "First names do." in page.text
    assert "Rota" in page.text
    assert "Asked by Robin Example" in page.text
    assert "Question 1 of 2" in page.text
    assert "When you continue, Robin Example" in page.text
    assert box(page) == ""


@pytest.mark.parametrize("query", ["", "?embed=1"])
def test_a_trailing_slash_is_accepted(client: FlaskClient, form: Any, query: str) -> None:
    page = client.get(f"/r/{form.share_token}/{query}")

    assert (page.status_code, page.location) == (303, f"/r/{form.share_token}{query}")


def test_search_engines_and_previews_get_title_and_length_only(respondent: Respondent) -> None:
    assert 'name="robots" content="noindex"' in respondent.page.text
    assert '<meta property="og:title" content="Rota">' in respondent.page.text
    assert (
        '<meta property="og:description" content="2 questions, about 3 minutes">'
        in respondent.page.text
    )


@pytest.mark.parametrize("path", ["", "/q/1", "/q/2", "/check", "/done", "/sent"])
def test_a_get_stores_no_event(app: Flask, client: FlaskClient, form: Any, path: str) -> None:
    response = client.get(f"/r/{form.share_token}{path}")

    assert response.status_code in {200, 303}
    assert stored(app) == (0, 0)
    assert "Set-Cookie" not in response.headers


def test_every_visit_has_a_new_session_key(client: FlaskClient, form: Any) -> None:
    first, second = arrive(client, form), arrive(client, form)

    assert hidden(first.page)["session"] != hidden(second.page)["session"]
    assert len(hidden(first.page)["session"].partition(".")[0]) == 32


def test_the_first_answer_is_followed_by_the_next_question_itself(respondent: Respondent) -> None:
    where = f"/r/{respondent.share_token}"
    sent = hidden(respondent.page) | {"answer": "Me"}

    first = respondent.client.post(f"{where}/q/1", data=sent)
    again = respondent.client.post(f"{where}/q/1", data=sent)

    assert (first.status_code, heading(first)) == (200, "What went on?")
    assert (again.status_code, again.location) == (303, f"{where}/q/2")


def test_the_cookie_only_serves_this_form(respondent: Respondent) -> None:
    cookie = respondent.answer(1, "Me").headers["Set-Cookie"]

    assert cookie.startswith("askback_r=")
    assert f"Path=/r/{respondent.share_token}" in cookie
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert "Max-Age=2592000" in cookie


@pytest.mark.settings(public_url="https://askback.example")
def test_over_https_the_cookie_is_secure(client: FlaskClient, form: Any) -> None:
    where = f"https://askback.example/r/{form.share_token}"
    first = client.get(where)

    cookie = client.post(f"{where}/q/1", data=hidden(first) | {"answer": "Me"}).headers[
        "Set-Cookie"
    ]

    assert cookie.startswith("__Secure-askback_r=")
    assert "Secure;" in cookie


def test_the_session_is_never_in_an_address(app: Flask, form: Any) -> None:
    client = app.test_client()
    respondent = arrive(client, form)
    key = hidden(respondent.page)["session"]
    respondent.answer_all()
    respondent.post("/check")
    respondent.post("/sent")

    passed = [answer.request.url for answer in (*respondent.page.history, respondent.page)]

    assert len(passed) == 2
    assert not any(key in url for url in passed)


def test_coming_back_leads_to_the_next_open_question(client: FlaskClient, form: Any) -> None:
    arrive(client, form).answer(1, "Me")

    assert heading(client.get(f"/r/{form.share_token}", follow_redirects=True)) == "What went on?"


def test_coming_back_with_everything_settled_leads_to_the_check_page(
    client: FlaskClient, form: Any
) -> None:
    arrive(client, form).answer_all()

    back = client.get(f"/r/{form.share_token}", follow_redirects=True)

    assert heading(back) == "Check your answers, then send."


def test_coming_back_after_sending_leads_to_the_thank_you_page(
    client: FlaskClient, form: Any
) -> None:
    respondent = arrive(client, form)
    respondent.answer_all()
    respondent.post("/check")

    back = client.get(f"/r/{form.share_token}", follow_redirects=True)

    assert heading(back).startswith("Thank you.")


def test_back_shows_the_answer_before(any_client: FlaskClient, form: Any) -> None:
    respondent = arrive(any_client, form)
    respondent.answer(1, "Me")

    page = respondent.post("/q/1/open", answer="half a sentence")

    assert heading(page) == "Who changed it?"
    assert box(page) == "Me"


def test_a_correction_replaces_the_answer_and_returns_to_the_check_page(
    app: Flask, any_client: FlaskClient, form: Any
) -> None:
    respondent = arrive(any_client, form)
    respondent.answer_all()
    respondent.post("/q/1/open")

    page = respondent.answer(1, "Mira")

    assert heading(page) == "Check your answers, then send."
    assert texts(app) == ["It", "Mira"]


def test_a_skipped_question_is_not_asked_again(any_client: FlaskClient, form: Any) -> None:
    respondent = arrive(any_client, form)
    respondent.post("/q/1/skip", answer="")

    page = respondent.answer(2, "It")

    assert heading(page) == "Check your answers, then send."
    assert "1\u00a0answered, 1\u00a0skipped" in page.text


def test_an_answer_can_be_taken_back(app: Flask, respondent: Respondent) -> None:
    respondent.answer_all()
    page = respondent.post("/q/1/open")
    assert "Clear this answer" in page.text

    respondent.post("/q/1/skip")

    assert texts(app) == ["It"]


def test_skipping_without_scripts_keeps_unsent_text(app: Flask, respondent: Respondent) -> None:
    refused = respondent.post("/q/1/skip", answer="A long story")
    assert refused.status_code == 422
    assert "Your words are still in the box." in refused.text
    assert "A long story</textarea>" in refused.text

    respondent.post("/q/1/skip", answer=" ")

    assert "Question 2 of" in respondent.page.text
    assert texts(app) == []


def back(page: TestResponse) -> tuple[str, str]:
    """Where Back and the question it is pressed on lead: the address and `left`."""
    found = re.search(r'name="left" value="(\d+)" formaction="/r/[^/]*([^"?]*)', page.text)
    assert found
    return found[2], found[1]


BACK = pytest.mark.parametrize("settled", [False, True], ids=["to a question", "to the check page"])


def at_second_question(client: FlaskClient, form: Any, *, settled: bool) -> Respondent:
    """Somebody on question 2 of 2, who has answered the one before or both."""
    respondent = arrive(client, form)
    respondent.answer(1, "Me")
    if settled:
        respondent.answer(2, "It")
        respondent.post("/q/2/open")
    return respondent


@BACK
def test_back_without_scripts_keeps_unsent_text(
    app: Flask, any_client: FlaskClient, form: Any, *, settled: bool
) -> None:
    respondent = at_second_question(any_client, form, settled=settled)
    where, number = back(respondent.page)

    refused = respondent.post(where, answer="A long story", left=number)
    assert (refused.status_code, box(refused)) == (422, "A long story")
    assert "Your words are still in the box. Continue sends them, or go back" in refused.text
    assert heading(refused) == "What went on?"

    led = respondent.post(where, answer="It" if settled else " ", left=number)
    assert heading(led) == ("Check your answers, then send." if settled else "Who changed it?")
    assert texts(app) == (["Me", "It"] if settled else ["Me"])


@BACK
def test_a_second_press_goes_back_without_the_text(
    app: Flask, any_client: FlaskClient, form: Any, *, settled: bool
) -> None:
    respondent = at_second_question(any_client, form, settled=settled)
    where, number = back(respondent.page)
    refused = respondent.post(where, answer="A long story", left=number)
    assert 'name="left"' not in refused.text
    (without,) = re.findall(
        r'formaction="/r/[^/]*([^"?]*)"[^>]*>Go back without them', refused.text
    )

    page = respondent.post(without, answer="A long story")

    assert heading(page) == ("Check your answers, then send." if settled else "Who changed it?")
    assert texts(app) == (["Me", "It"] if settled else ["Me"])


@pytest.mark.parametrize("number", ["9", "0", "-1", "x", "9" * 5000])
def test_an_invalid_left_field_is_refused_or_ignored(respondent: Respondent, number: str) -> None:
    page = respondent.post("/q/1/open", answer="A long story", left=number)

    assert page.status_code == (404 if number == "9" else 200)


def test_back_from_a_form_that_closed_meanwhile_says_so(
    app: Flask, account: Account, respondent: Respondent, form: Any
) -> None:
    respondent.answer(1, "Me")
    with app.app_context():
        close_form(account.id, form.id, now=utc_now())

    page = respondent.post("/q/1/open", answer="A long story", left="2")

    assert page.status_code == 410
    assert "A long story" in page.text


def test_a_skipped_question_can_still_be_answered(app: Flask, respondent: Respondent) -> None:
    respondent.post("/q/1/skip")
    respondent.post("/q/1/open")

    respondent.answer(1, "Me")

    assert texts(app) == ["Me"]


def test_a_double_click_answers_once(app: Flask, respondent: Respondent) -> None:
    sent = hidden(respondent.page) | {"answer": "Me"}
    where = f"/r/{respondent.share_token}/q/1"

    pages = [respondent.client.post(where, data=sent, follow_redirects=True) for _ in range(3)]

    assert {heading(page) for page in pages} == {"What went on?"}
    assert stored(app) == (1, 1)


def test_different_text_under_the_same_answer_key_is_shown(
    app: Flask, respondent: Respondent
) -> None:
    """A retry that meets an answer stored before: nothing is replaced behind anybody's back."""
    before = respondent.page
    respondent.answer(1, "Me")
    respondent.page = before

    page = respondent.answer(1, "Me, on Tuesday")
    assert page.status_code == 422
    assert "An earlier version of this answer is saved." in page.text
    assert box(page) == "Me, on Tuesday"
    assert texts(app) == ["Me"]

    respondent.answer(1, box(page))
    assert texts(app) == ["Me, on Tuesday"]


def test_line_ends_are_kept_as_line_feeds(app: Flask, respondent: Respondent) -> None:
    respondent.answer(1, "\r\nOne\r\n\r\ntwo\rthree ")

    assert texts(app) == ["\nOne\n\ntwo\nthree "]
    assert box(respondent.open("/q/1")) == "\nOne\n\ntwo\nthree "


def test_sending_twice_sends_once(app: Flask, any_client: FlaskClient, form: Any) -> None:
    respondent = arrive(any_client, form)
    check = respondent.answer_all()
    respondent.post("/check", name="Sam")
    respondent.page = check

    page = respondent.post("/check", name="Somebody else")

    assert heading(page).startswith("Thank you.")
    assert "Sam" in respondent.post("/sent").text


def test_the_thank_you_page_offers_another_response(
    app: Flask, any_client: FlaskClient, form: Any
) -> None:
    respondent = arrive(any_client, form)
    respondent.answer_all()
    respondent.post("/check")

    page = respondent.post("/another")
    assert heading(page) == "Who changed it?"
    respondent.answer_all()
    respondent.post("/check")

    assert stored(app) == (2, 4)


def test_deleting_asks_for_confirmation_and_deletes_the_cookie(
    app: Flask, any_client: FlaskClient, form: Any
) -> None:
    respondent = arrive(any_client, form)
    respondent.answer_all()
    respondent.post("/check")

    page = respondent.post("/withdraw")
    assert heading(page) == "Delete all your answers?"
    assert "Yes, delete my answers" in page.text
    assert stored(app) == (1, 2)

    page = respondent.post("/withdraw/now")
    assert heading(page) == "Your answers are deleted."
    assert stored(app) == (0, 0)
    assert heading(respondent.open()) == "Who changed it?"


def test_deleting_twice_is_no_error(respondent: Respondent) -> None:
    respondent.answer_all()
    confirmation = respondent.post("/withdraw")
    respondent.post("/withdraw/now")
    respondent.page = confirmation

    assert heading(respondent.post("/withdraw/now")) == "Your answers are deleted."


def test_answers_can_be_deleted_before_they_are_sent(app: Flask, respondent: Respondent) -> None:
    respondent.answer_all()
    respondent.post("/withdraw")
    respondent.post("/withdraw/now")

    assert stored(app) == (0, 0)


HTMX = {"HX-Request": "true"}


def test_htmx_gets_the_next_page_with_its_title_and_address(respondent: Respondent) -> None:
    where = f"/r/{respondent.share_token}"
    sent = hidden(respondent.page) | {"answer": "Me"}

    part = respondent.client.post(f"{where}/q/1", data=sent, headers=HTMX)

    assert part.status_code == 200
    assert part.text.startswith("<title>Question 2 of 2 · Rota</title>")
    assert part.headers["HX-Push-Url"] == f"{where}/q/2"
    assert "autofocus" in part.text
    assert "<html" not in part.text


def test_htmx_gets_a_refusal_without_a_new_address(respondent: Respondent) -> None:
    where = f"/r/{respondent.share_token}/q/1"

    part = respondent.client.post(where, data=hidden(respondent.page), headers=HTMX)

    assert part.status_code == 422
    assert part.text.startswith("<title>Error: Question 1 of 2 · Rota</title>")
    assert "HX-Push-Url" not in part.headers


def test_htmx_without_cookies_can_resume_by_the_session_alone(app: Flask, form: Any) -> None:
    respondent = arrive(app.test_client(use_cookies=False), form)
    session = hidden(respondent.page)["session"]
    respondent.answer(1, "Me")

    page = respondent.client.post(f"/r/{form.share_token}/resume", data={"session": session})

    assert heading(page) == "What went on?"
