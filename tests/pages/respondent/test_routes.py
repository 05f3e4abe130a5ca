"""The way through a form, one question per page, without scripts."""

import re
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select
from werkzeug.test import TestResponse

from tests.databases import both_databases
from tests.factories import make_form
from tests.pages.respondent_client import Respondent, box, heading, hidden, stored, texts
from webapp.base.database import db, utc_now
from webapp.records.accounts.invites import make_invite
from webapp.records.accounts.models import Account
from webapp.records.forms import Form
from webapp.records.responses.models import Answer


@pytest.fixture
def form(app: Flask, account: Account) -> Any:
    with app.app_context():
        return make_form(
            account.id,
            questions=[{"text": "Who changed it?", "context": "First names do."}, "What went on?"],
        )


@pytest.mark.parametrize("path", ["", "/q/2", "/check", "/sent"])
def test_a_get_stores_nothing(app: Flask, client: FlaskClient, form: Any, path: str) -> None:
    response = client.get(f"/r/{form.share_token}{path}")

    begins = f"/r/{form.share_token}" if path in {"/check", "/done", "/sent"} else None
    assert (response.status_code, response.location) == (303 if begins else 200, begins)
    assert stored(app) == (0, 0)
    assert "Set-Cookie" not in response.headers


def test_a_repeated_answer_is_stored_once_and_followed_by_the_next_question(
    app: Flask, respondent: Respondent
) -> None:
    where = f"/r/{respondent.share_token}"
    sent = hidden(respondent.page) | {"answer": "Me"}

    first, *again = [respondent.client.post(f"{where}/q/1", data=sent) for _ in range(3)]

    assert (first.status_code, heading(first)) == (200, "What went on?")
    assert {(page.status_code, page.location) for page in again} == {(303, f"{where}/q/2")}
    assert stored(app) == (1, 1)


@pytest.mark.parametrize(
    ("origin", "prefix"),
    [
        pytest.param("http://127.0.0.1:8000", "askback_r=", id="http"),
        pytest.param(
            "https://askback.example",
            "__Secure-askback_r=",
            id="https",
            marks=pytest.mark.settings(public_url="https://askback.example"),
        ),
    ],
)
def test_the_cookie_serves_this_form_only(
    client: FlaskClient, form: Any, origin: str, prefix: str
) -> None:
    path = f"/r/{form.share_token}"
    first = client.get(path, base_url=origin)

    answered = client.post(f"{path}/q/1", data=hidden(first) | {"answer": "Me"}, base_url=origin)

    cookie = answered.headers["Set-Cookie"]
    assert cookie.startswith(prefix)
    attributes = set(cookie.split("; ")[1:])
    assert {f"Path={path}", "HttpOnly", "SameSite=Lax", "Max-Age=2592000"} <= attributes
    assert ("Secure" in attributes) == (prefix != "askback_r=")


def test_the_session_is_never_in_an_address(respondent: Respondent) -> None:
    key = hidden(respondent.page)["session"]
    respondent.answer_all()
    respondent.post("/check")
    respondent.post("/sent")

    passed = [answer.request.url for answer in (*respondent.page.history, respondent.page)]

    assert len(passed) == 2
    assert not any(key in url for url in passed)


def ids_and_stamps(app: Flask) -> list[tuple[Any, ...]]:
    with app.app_context():
        rows = select(Answer.id, Answer.stamp, Form.last_stamp).join(Form)
        return [tuple(row) for row in db.session.execute(rows.order_by(Answer.stamp))]


@both_databases
@pytest.mark.parametrize(("again", "answers"), [("Me\r\nand you", 1), ("Mira", 2)])
def test_continue_without_a_change_keeps_id_and_stamp(
    app: Flask, respondent: Respondent, again: str, answers: int
) -> None:
    following = heading(respondent.answer(1, "Me\r\nand you"))
    (before,) = ids_and_stamps(app)
    respondent.post("/q/1/open")

    page = respondent.answer(1, again)

    kept = ids_and_stamps(app)
    assert heading(page) == following
    assert len(kept) == answers
    assert kept[0][0] == before[0]
    assert (kept == [before]) == (answers == 1)


def test_skipping_without_scripts_keeps_unsent_text(app: Flask, respondent: Respondent) -> None:
    refused = respondent.post("/q/1/skip", answer="A long story")
    assert (refused.status_code, box(refused)) == (422, "A long story")
    assert "Your words are still in the box." in refused.text

    respondent.post("/q/1/skip", answer=" ")

    assert "Question 2 of" in respondent.page.text
    assert texts(app) == []


def back(page: TestResponse) -> tuple[str, str]:
    """Where Back and the question it is pressed on lead: the address and `left`."""
    found = re.search(r'name="left" value="(\d+)" formaction="/r/[^/]*([^"?]*)', page.text)
    assert found
    return found[2], found[1]


def test_back_without_scripts_keeps_unsent_text_until_it_is_pressed_again(
    app: Flask, anybody: Respondent
) -> None:
    anybody.answer(1, "Me")
    question, kept = anybody.page, texts(app)
    where, number = back(question)

    refused = anybody.post(where, answer="A long story", left=number)
    assert (refused.status_code, box(refused)) == (422, "A long story")
    assert "Your words are still in the box. Continue sends them, or go back" in refused.text
    assert heading(refused) == "What went on?"
    assert 'name="left"' not in refused.text
    (without,) = re.findall(
        r'formaction="/r/[^/]*([^"?]*)"[^>]*>Go back without them', refused.text
    )

    led = [anybody.post(without, answer="A long story")]
    anybody.page = question
    led.append(anybody.post(where, answer=" ", left=number))
    assert {heading(page) for page in led} == {"Who changed it?"}
    assert texts(app) == kept


def test_different_text_under_the_same_answer_key_is_shown(
    app: Flask, respondent: Respondent
) -> None:
    before = respondent.page
    respondent.answer(1, "Me")
    respondent.page = before

    page = respondent.answer(1, "Me, on Tuesday")
    assert (page.status_code, box(page)) == (422, "Me, on Tuesday")
    assert "An earlier version of this answer is saved." in page.text
    assert texts(app) == ["Me"]

    respondent.answer(1, box(page))
    assert texts(app) == ["Me, on Tuesday"]


def test_the_thank_you_page_offers_another_response(app: Flask, anybody: Respondent) -> None:
    anybody.answer_all()
    anybody.post("/check")

    assert heading(anybody.post("/another")) == "Who changed it?"
    anybody.answer_all()
    anybody.post("/check")

    assert stored(app) == (2, 4)


@pytest.mark.parametrize("sent", [True, False])
def test_answers_are_deleted_after_a_confirmation_with_the_cookie(
    app: Flask, anybody: Respondent, *, sent: bool
) -> None:
    anybody.answer_all()
    if sent:
        anybody.post("/check")

    confirmation = anybody.post("/withdraw")
    assert heading(confirmation) == "Delete all your answers?"
    assert stored(app) == (1, 2)

    for _ in range(2):  # a repeat is no error
        anybody.page = confirmation
        assert heading(anybody.post("/withdraw/now")) == "Your answers are deleted."
    assert stored(app) == (0, 0)
    assert heading(anybody.open()) == "Who changed it?"


@pytest.mark.parametrize(
    ("answer", "status", "title", "pushed"),
    [
        ("Me", 200, "Question 2 of 2 · Rota", "/q/2"),
        ("", 422, "Error: Question 1 of 2 · Rota", None),
    ],
)
def test_htmx_gets_a_part_with_its_title_and_address(
    respondent: Respondent, answer: str, status: int, title: str, pushed: str | None
) -> None:
    part = respondent.swap("/q/1", answer=answer)

    assert part.status_code == status
    assert part.text.startswith(f"<title>{title}</title>")
    assert part.headers.get("HX-Push-Url") == (pushed and f"/r/{respondent.share_token}{pushed}")
    assert "autofocus" in part.text
    assert "<html" not in part.text


BEHIND = (".", ")", "__", "-", "%20please", "%0A", "%E2%80%8B", "%00", "%FF", "%20and/or", "\\")


def test_a_link_with_something_behind_it_opens(
    app: Flask, client: FlaskClient, respondent: Respondent
) -> None:
    link, wrong = f"/r/{respondent.share_token}", f"/r/{respondent.share_token[::-1]}"
    with app.app_context():
        invitation = f"/join/{make_invite(now=utc_now())}"
    respondent.answer(1, "Me")
    transfer = hidden(respondent.post("/q/2/elsewhere"))["secret"]
    stranger = app.test_client()

    for behind in BEHIND:
        for pasted in (f"{link}{behind}", f"{link}/{behind}"):
            opened = stranger.get(pasted, follow_redirects=True)
            assert (opened.status_code, opened.request.path) == (200, link)
        opened = stranger.get(f"{link}/continue/{transfer}{behind}", follow_redirects=True)
        assert hidden(opened)["secret"] == transfer
        opened = stranger.get(invitation + behind, follow_redirects=True)
        assert (opened.status_code, opened.request.path) == (200, invitation)
        assert client.get(wrong + behind).status_code == 404
    assert client.get(f"{link}/q/2).?lang=de").location == f"{link}/q/2?lang=de"


@pytest.mark.parametrize("changed", ["x", "/q/x."])
def test_another_link_is_none_of_ours(client: FlaskClient, form: Any, changed: str) -> None:
    assert client.get(f"/r/{form.share_token}{changed}").status_code == 404
