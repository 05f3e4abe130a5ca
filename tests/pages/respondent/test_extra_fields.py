"""What browser extensions make of a page: fields of their own, and ours twice."""

from io import BytesIO
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.datastructures import MultiDict
from werkzeug.test import TestResponse

from tests.pages.respondent_client import Respondent, box, hidden, stored, texts
from webapp.pages.respondent.form_data import new_session_key

ADDED = {"gramm_data": "x", "__proto__": "y", "": "z"}


def post(respondent: Respondent, path: str, **fields: Any) -> TestResponse:
    """Post the page with lists as doubled fields."""
    sent = MultiDict(hidden(respondent.page))
    for name, value in fields.items():
        sent.setlist(name, value if isinstance(value, list) else [value])
    respondent.page = respondent.client.post(
        f"/r/{respondent.share_token}{path}", data=sent, follow_redirects=True
    )
    return respondent.page


@pytest.mark.parametrize("headers", [{}, {"HTTP_HX_REQUEST": "true"}])
def test_a_form_with_added_fields_is_answered(
    app: Flask, client: FlaskClient, respondent: Respondent, headers: dict[str, str]
) -> None:
    client.environ_base.update(headers)
    many = {f"added{number}": "x" * 100 for number in range(500)}

    post(respondent, "/q/1", answer="Me", **ADDED, **many)
    post(respondent, "/q/2/skip", **ADDED)
    post(respondent, "/q/2/open", **ADDED)
    question = respondent.page
    assert "/continue/" in post(respondent, "/q/2/elsewhere", answer="It", **ADDED).text
    respondent.page = question
    post(respondent, "/q/2", answer="It", **ADDED)
    sent = post(respondent, "/check", name="Ann", **ADDED)

    assert sent.status_code == 200
    assert texts(app) == ["Me", "It"]


@pytest.mark.parametrize(
    ("answers", "kept"),
    [
        (["Me", "Me"], "Me"),
        (["", "Me"], "Me"),
        (["Me", " \r\n"], "Me"),
        (["Me\r\nand you", "Me\nand you"], "Me\nand you"),
        (["Me", "and you", "Me"], "Me\n\nand you"),  # no words are lost
    ],
)
def test_a_doubled_answer_is_kept_once(
    app: Flask, respondent: Respondent, answers: list[str], kept: str
) -> None:
    post(respondent, "/q/1", answer=answers)

    assert texts(app) == [kept]


@pytest.mark.parametrize(
    ("answers", "kept"),
    [
        (["Not me", "Me"], "Not me"),
        (["Me", "Not me"], "Not me"),
        (["Me", "Not me", "Nobody"], "Not me\n\nNobody"),
        (["Me", "Me"], "Me"),
    ],
)
def test_a_corrected_answer_is_not_kept_with_what_it_replaces(
    app: Flask, respondent: Respondent, answers: list[str], kept: str
) -> None:
    post(respondent, "/q/1", answer="Me")
    post(respondent, "/q/1/open")

    post(respondent, "/q/1", answer=answers)

    assert texts(app) == [kept]


@pytest.mark.parametrize("answers", [["", "Me"], ["Me", ""]])
def test_an_emptied_box_is_empty(app: Flask, respondent: Respondent, answers: list[str]) -> None:
    post(respondent, "/q/1", answer="Me")
    post(respondent, "/q/1/open")

    refused = post(respondent, "/q/1", answer=answers)

    assert (refused.status_code, box(refused)) == (422, "")
    assert texts(app) == ["Me"]


def test_doubled_words_are_bounded_like_others(app: Flask, respondent: Respondent) -> None:
    refused = post(respondent, "/q/1", answer=["a" * 15_000, "b" * 15_000])

    assert refused.status_code == 422
    assert box(refused) == "a" * 15_000 + "\n\n" + "b" * 15_000
    assert stored(app) == (0, 0)


def test_doubled_keys_are_those_of_the_page(app: Flask, respondent: Respondent) -> None:
    doubled = {name: ["", value, value] for name, value in hidden(respondent.page).items()}

    post(respondent, "/q/1", answer="Me", **doubled)
    post(respondent, "/q/2", answer="It")

    assert stored(app) == (1, 2)


def test_a_key_behind_that_of_the_page_counts_for_nothing(
    app: Flask, respondent: Respondent
) -> None:
    with app.app_context():
        other = new_session_key()
    own = hidden(respondent.page)["session"]

    post(respondent, "/q/1", answer="Me", session=[own, other])

    assert hidden(respondent.page)["session"] == own


@pytest.mark.settings(limit_answer_session="1/minute")
def test_doubled_keys_are_limited_by_the_one_that_counts(respondent: Respondent) -> None:
    own = hidden(respondent.page)["session"]

    statuses = [
        post(respondent, "/q/1", answer="Me", session=["", own, str(number) * 30]).status_code
        for number in range(2)
    ]

    assert statuses == [200, 429]


@pytest.mark.settings(limit_answer_session="1/minute")
def test_the_page_that_keeps_words_hands_on_our_fields_alone(respondent: Respondent) -> None:
    post(respondent, "/q/1", answer="Me")
    fields = hidden(respondent.page)
    kept = post(respondent, "/q/2", answer="It", **ADDED)

    assert kept.status_code == 429
    assert box(kept) == "It"
    assert hidden(kept) == fields


def test_a_transfer_link_is_used_with_added_and_doubled_fields(
    app: Flask, client: FlaskClient, respondent: Respondent
) -> None:
    post(respondent, "/q/1", answer="Me")
    offered = post(respondent, "/q/2/elsewhere")
    secret = hidden(offered)["secret"]
    respondent.page = app.test_client().get(f"/r/{respondent.share_token}/continue/{secret}")
    claim = hidden(respondent.page)["claim"]

    arrived = post(respondent, "/continue", claim=[claim, "x" * 30], **ADDED)

    assert arrived.status_code == 200
    assert hidden(arrived)["session"] == hidden(offered)["session"]


def test_a_file_of_an_extension_is_no_answer(app: Flask, respondent: Respondent) -> None:
    post(respondent, "/q/1", answer="Me", added=(BytesIO(b"x"), "x.bin"))

    assert texts(app) == ["Me"]
