"""What people and browser extensions put into fields, in one tab or two: no words are lost."""

import re
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from typing import Any

import pytest
from flask import Flask
from werkzeug.datastructures import MultiDict
from werkzeug.test import TestResponse

from tests.databases import both_databases
from tests.pages.respondent_client import Respondent, arrive, box, heading, hidden, stored, texts
from webapp.answers.answering import RESPONDER_NAME_MAX_CHARS
from webapp.records.responses.models import ANSWER_MAX_CHARS

ADDED = {"gramm_data": "x", "__proto__": "y", "": "z"}
MARKUP = "</textarea><script>alert(1)</script>{{ 7*7 }}"


@pytest.mark.parametrize(
    ("path", "field", "text"),
    [
        ("/q/1", "answer", "\r\n\u00a0"),
        ("/q/1", "answer", "\U0001f600" * (ANSWER_MAX_CHARS + 1)),
        ("/check", "name", "Sam"),  # nothing is answered yet
        ("/check", "name", "n" * (RESPONDER_NAME_MAX_CHARS + 1)),
    ],
)
def test_what_is_refused_stays_in_its_field_and_in_the_same_session(
    app: Flask, respondent: Respondent, path: str, field: str, text: str
) -> None:
    session = hidden(respondent.page)["session"]
    for skipped in ("/q/1/skip", "/q/2/skip") if text == "Sam" else ():
        respondent.post(skipped)

    page = respondent.post(path, **{field: text})

    assert page.status_code == 422
    assert "<title>Error: " in page.text
    assert 'role="alert"' in page.text
    shown = box(page) if field == "answer" else re.findall('name="name" value="([^"]*)"', page.text)
    assert shown == (text.replace("\r", "") if field == "answer" else [text])
    assert texts(app) == []
    assert hidden(page)["session"] == session
    assert heading(respondent.answer(1, "Me")) == "What went wrong?" or field == "name"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("\U0001f600" * ANSWER_MAX_CHARS, "\U0001f600" * ANSWER_MAX_CHARS),
        ("\r\nOne\r\n\r\ntwo\rthree ", "\nOne\n\ntwo\nthree "),
        ("before\0after", "before\ufffdafter"),
        (MARKUP, MARKUP),
    ],
    ids=["longest", "as typed", "unstorable", "markup"],
)
def test_an_answer_is_kept_and_shown_as_it_was_typed(
    app: Flask, respondent: Respondent, text: str, kept: str
) -> None:
    respondent.answer(1, text)

    page = respondent.open("/q/1")
    assert texts(app) == [kept]
    assert box(page) == kept
    assert "<script>alert" not in page.text


def test_a_name_cannot_contain_bidi_controls(respondent: Respondent) -> None:
    respondent.answer_all()
    respondent.post("/check", name="Sam\u202e\u2066\x07\r\nOkafor")

    assert "Name: Sam Okafor" in respondent.post("/sent").text


def post(respondent: Respondent, path: str, **fields: Any) -> TestResponse:
    """Post the page with lists as doubled fields."""
    sent = MultiDict(hidden(respondent.page))
    for name, value in fields.items():
        sent.setlist(name, value if isinstance(value, list) else [value])
    respondent.page = respondent.client.post(
        f"/r/{respondent.share_token}{path}", data=sent, follow_redirects=True
    )
    return respondent.page


def test_a_form_with_added_fields_is_answered(app: Flask, respondent: Respondent) -> None:
    many = {f"added{number}": "x" * 100 for number in range(500)}

    post(respondent, "/q/1", answer="Me", added=(BytesIO(b"x"), "x.bin"), **ADDED, **many)
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
    ("before", "answers", "kept"),
    [
        (None, ["", "Me"], "Me"),
        (None, ["Me\r\nand you", "Me\nand you"], "Me\nand you"),
        (None, ["Me", "and you", "Me"], "Me\n\nand you"),  # no words are lost
        ("Me", ["Not me", "Me"], "Not me"),
    ],
)
def test_a_doubled_answer_is_kept_once_and_without_what_it_replaces(
    app: Flask, respondent: Respondent, before: str | None, answers: list[str], kept: str
) -> None:
    if before:
        post(respondent, "/q/1", answer=before)
        post(respondent, "/q/1/open")

    post(respondent, "/q/1", answer=answers)

    assert texts(app) == [kept]


NEWER = "You changed this answer in another tab or on another device."
CHECK = "Check your answers, then send."


@pytest.fixture
def tab(anybody: Respondent) -> Respondent:
    """At the second question, which has no answer."""
    anybody.answer(1, "Me")
    return anybody


def other_tab(tab: Respondent) -> Respondent:
    """The second question once more."""
    other = Respondent(tab.client, tab.share_token, tab.page)
    other.post("/q/2/open")
    return other


@pytest.fixture
def older(tab: Respondent) -> Respondent:
    """Another tab at the second question, which `tab` has answered since."""
    other = other_tab(tab)
    tab.answer(2, "The newer words")
    return other


def newer_answer(page: TestResponse) -> str:
    found = re.search(r'<blockquote class="newer-answer"[^>]*>(.*?)</blockquote>', page.text)
    return found[1] if found else ""


@both_databases
def test_two_tabs_before_the_first_answer_make_one_person(app: Flask, form: Any) -> None:
    def answer_in_two_tabs(number: int) -> TestResponse:
        client = app.test_client()
        first, second = arrive(client, form), arrive(client, form)
        first.answer(1, f"Me {number}")
        return second.answer(1, f"Also me {number}")

    with ThreadPoolExecutor(4) as people:
        pages = list(people.map(answer_in_two_tabs, range(8)))

    assert stored(app) == (8, 8)
    assert [newer_answer(page) for page in pages] == [f"Me {number}" for number in range(8)]
    assert [box(page) for page in pages] == [f"Also me {number}" for number in range(8)]


def test_an_older_tab_shows_both_texts_and_replaces_nothing_until_asked(
    app: Flask, older: Respondent
) -> None:
    page = older.answer(2, "The older words")

    assert page.status_code == 422
    assert NEWER in page.text
    assert heading(page) == "What went wrong?"
    assert (newer_answer(page), box(page)) == ("The newer words", "The older words")
    assert texts(app) == ["Me", "The newer words"]
    assert "Save mine instead" in page.text
    assert heading(older.answer(2, box(page))) == CHECK
    assert texts(app) == ["Me", "The older words"]


def test_the_newer_answer_can_be_kept(app: Flask, older: Respondent) -> None:
    page = older.answer(2, "The older words")
    (keep,) = re.findall(r'formaction="/r/[^/]*([^"?]*)"[^>]*>Keep the newer answer', page.text)

    page = older.post(keep, answer=box(page))

    assert (heading(page), box(page)) == ("What went wrong?", "The newer words")
    assert texts(app) == ["Me", "The newer words"]


def test_skip_in_an_older_tab_takes_back_nothing(app: Flask, older: Respondent) -> None:
    page = older.swap("/q/2/skip", answer="")

    assert page.status_code == 422
    assert NEWER in page.text
    assert box(page) == "The newer words"
    assert texts(app) == ["Me", "The newer words"]


def test_a_page_that_was_left_for_a_moment_still_knows_which_answer_it_showed(
    app: Flask, tab: Respondent
) -> None:
    older = other_tab(tab)
    older.post("/q/2/elsewhere", answer="The older words")
    tab.answer(2, "The newer words")
    older.post("/q/2/open")
    assert box(older.page) == "The older words"

    page = older.answer(2, "The older words")

    assert newer_answer(page) == "The newer words"
    assert texts(app) == ["Me", "The newer words"]


def test_a_foreign_version_is_no_version(respondent: Respondent) -> None:
    respondent.answer(1, "Me")
    respondent.post("/q/1/open")

    page = respondent.post("/q/1", answer="Mira", replaces="x" * 5000)

    assert page.status_code == 422
    assert len(hidden(page)["replaces"]) == 16
