"""The same question in two tabs or on two devices: no newer answer is replaced unseen."""

import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.databases import both_databases
from tests.pages.respondent_client import Respondent, arrive, box, heading, hidden, stored, texts

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

    with ThreadPoolExecutor(8) as people:
        pages = list(people.map(answer_in_two_tabs, range(40)))

    assert stored(app) == (40, 40)
    assert [newer_answer(page) for page in pages] == [f"Me {number}" for number in range(40)]
    assert [box(page) for page in pages] == [f"Also me {number}" for number in range(40)]


def test_what_is_sent_already_stays_a_response_of_its_own(app: Flask, form: Any) -> None:
    client = app.test_client()
    first, second = arrive(client, form), arrive(client, form)
    first.answer(1, "Me")
    first.answer(2, "Nothing")
    first.post("/check")

    second.answer(1, "Somebody else")

    assert texts(app) == ["Me", "Nothing", "Somebody else"]


def test_an_older_tab_shows_both_texts_and_replaces_nothing_until_it_is_told_to(
    app: Flask, tab: Respondent, older: Respondent
) -> None:
    page = older.answer(2, "The older words")

    assert page.status_code == 422
    assert NEWER in page.text
    assert heading(page) == "What went wrong?"
    assert (newer_answer(page), box(page)) == ("The newer words", "The older words")
    assert texts(app) == ["Me", "The newer words"]
    tab.post("/q/2/open")
    tab.answer(2, "The newest words")
    page = older.answer(2, box(page))
    assert (newer_answer(page), box(page)) == ("The newest words", "The older words")
    assert texts(app) == ["Me", "The newest words"]

    assert "Save mine instead" in page.text
    assert heading(older.answer(2, box(page))) == CHECK
    assert texts(app) == ["Me", "The older words"]


def test_the_newer_answer_can_be_kept(app: Flask, older: Respondent) -> None:
    page = older.answer(2, "The older words")
    (keep,) = re.findall(r'formaction="/r/[^/]*([^"?]*)"[^>]*>Keep the newer answer', page.text)

    page = older.post(keep, answer=box(page))

    assert (heading(page), box(page)) == ("What went wrong?", "The newer words")
    assert texts(app) == ["Me", "The newer words"]


def test_the_same_words_in_both_tabs_are_one_answer(app: Flask, older: Respondent) -> None:
    assert heading(older.answer(2, "The newer words")) == CHECK
    assert texts(app) == ["Me", "The newer words"]


@pytest.mark.parametrize("words", ["", "The older words"])
def test_skip_in_an_older_tab_takes_back_nothing(app: Flask, older: Respondent, words: str) -> None:
    page = older.swap("/q/2/skip", answer=words)

    assert page.status_code == 422
    assert NEWER in page.text
    assert box(page) == (words or "The newer words")
    assert texts(app) == ["Me", "The newer words"]


@pytest.mark.parametrize(
    ("away", "fields"),
    [
        ("/q/2/open", {"language": "de"}),
        ("/q/2/open", {"theme": "dark"}),
        ("/q/2/elsewhere", {}),
    ],
)
def test_a_page_that_was_left_for_a_moment_still_knows_which_answer_it_showed(
    app: Flask, tab: Respondent, away: str, fields: dict[str, str]
) -> None:
    older = other_tab(tab)
    older.post(away, answer="The older words", **fields)
    tab.answer(2, "The newer words")
    if not fields:
        older.post("/q/2/open")
    assert box(older.page) == "The older words"

    page = older.answer(2, "The older words")

    assert newer_answer(page) == "The newer words"
    assert texts(app) == ["Me", "The newer words"]


def test_a_taken_back_answer_is_nothing_to_replace(app: Flask, tab: Respondent) -> None:
    tab.answer(2, "First")
    tab.post("/q/2/open")
    older = other_tab(tab)
    tab.post("/q/2/skip")

    older.answer(2, "Second")

    assert texts(app) == ["Me", "Second"]


@pytest.mark.parametrize("version", ["x" * 5000, "é"])
def test_a_foreign_version_is_no_version(client: FlaskClient, form: Any, version: str) -> None:
    respondent = arrive(client, form)
    respondent.answer(1, "Me")
    respondent.post("/q/1/open")

    page = respondent.post("/q/1", answer="Mira", replaces=version)

    assert page.status_code == 422
    assert len(hidden(page)["replaces"]) == 16
