"""The same question in two tabs or on two devices: no newer answer is replaced unseen."""

import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.databases import both_databases
from tests.factories import make_form
from tests.pages.respondent_client import Respondent, arrive, box, heading, hidden, stored, texts
from webapp.records.accounts.models import Account

NEWER = "You changed this answer in another tab or on another device."


@pytest.fixture
def form(app: Flask, account: Account) -> Any:
    with app.app_context():
        return make_form(account.id, questions=["Who changed it?", "What went on?"])


@pytest.fixture(params=["with cookies", "cookies refused"])
def tab(app: Flask, form: Any, request: pytest.FixtureRequest) -> Respondent:
    """At the second question, which has no answer."""
    client = app.test_client(use_cookies=request.param == "with cookies")
    respondent = arrive(client, form)
    respondent.answer(1, "Me")
    return respondent


@both_databases
def test_two_tabs_before_the_first_answer_make_one_person(app: Flask, account: Account) -> None:
    with app.app_context():
        form = make_form(account.id, questions=["Who changed it?", "What went on?"])

    def answer_in_two_tabs(number: int) -> TestResponse:
        client = app.test_client()
        first, second = arrive(client, form), arrive(client, form)
        first.answer(1, f"Me {number}")
        return second.answer(1, f"Also me {number}")

    with ThreadPoolExecutor(8) as people:
        pages = list(people.map(answer_in_two_tabs, range(40)))

    assert stored(app) == (40, 40)
    assert sorted(newer_answer(page) for page in pages) == sorted(
        f"Me {number}" for number in range(40)
    )
    assert sorted(map(box, pages)) == sorted(f"Also me {number}" for number in range(40))


def test_what_is_sent_already_stays_a_response_of_its_own(app: Flask, form: Any) -> None:
    client = app.test_client()
    first, second = arrive(client, form), arrive(client, form)
    first.answer(1, "Me")
    first.answer(2, "Nothing")
    first.post("/check")

    second.answer(1, "Somebody else")

    assert texts(app) == ["Me", "Nothing", "Somebody else"]


def other_tab(tab: Respondent) -> Respondent:
    """The second question once more."""
    other = Respondent(tab.client, tab.share_token, tab.page)
    other.post("/q/2/open")
    return other


def newer_answer(page: TestResponse) -> str:
    found = re.search(r'<blockquote class="newer-answer"[^>]*>(.*?)</blockquote>', page.text)
    return found[1] if found else ""


def address_of(page: TestResponse, button: str) -> str:
    """Where a button leads, below the link."""
    (address,) = re.findall(rf'formaction="/r/[^/]*([^"?]*)"[^>]*>{button}', page.text)
    return str(address)


def test_an_older_tab_shows_both_texts_and_replaces_nothing(app: Flask, tab: Respondent) -> None:
    older = other_tab(tab)
    tab.answer(2, "The newer words")

    page = older.answer(2, "The older words")

    assert page.status_code == 422
    assert NEWER in page.text
    assert heading(page) == "What went on?"
    assert (newer_answer(page), box(page)) == ("The newer words", "The older words")
    assert texts(app) == ["Me", "The newer words"]


def test_the_text_of_the_older_tab_can_be_saved_instead(app: Flask, tab: Respondent) -> None:
    older = other_tab(tab)
    tab.answer(2, "The newer words")
    page = older.answer(2, "The older words")
    assert "Save mine instead" in page.text

    page = older.answer(2, box(page))

    assert heading(page) == "Check your answers, then send."
    assert texts(app) == ["Me", "The older words"]


def test_the_newer_answer_can_be_kept(app: Flask, tab: Respondent) -> None:
    older = other_tab(tab)
    tab.answer(2, "The newer words")
    page = older.answer(2, "The older words")

    page = older.post(address_of(page, "Keep the newer answer"), answer=box(page))

    assert (heading(page), box(page)) == ("What went on?", "The newer words")
    assert texts(app) == ["Me", "The newer words"]


def test_a_third_answer_is_noticed_after_the_choice(app: Flask, tab: Respondent) -> None:
    older = other_tab(tab)
    tab.answer(2, "The newer words")
    page = older.answer(2, "The older words")
    tab.post("/q/2/open")
    tab.answer(2, "The newest words")

    page = older.answer(2, box(page))

    assert (newer_answer(page), box(page)) == ("The newest words", "The older words")
    assert texts(app) == ["Me", "The newest words"]


def test_the_same_words_in_both_tabs_are_one_answer(app: Flask, tab: Respondent) -> None:
    older = other_tab(tab)
    tab.answer(2, "The same words")

    assert heading(older.answer(2, "The same words")) == "Check your answers, then send."
    assert texts(app) == ["Me", "The same words"]


def test_a_correction_of_a_shown_answer_replaces_it(app: Flask, tab: Respondent) -> None:
    tab.answer(2, "First")
    tab.post("/q/2/open")

    assert heading(tab.answer(2, "Second")) == "Check your answers, then send."
    assert texts(app) == ["Me", "Second"]


@pytest.mark.parametrize("words", ["", "The older words"])
def test_skip_in_an_older_tab_takes_back_nothing(app: Flask, tab: Respondent, words: str) -> None:
    older = other_tab(tab)
    tab.answer(2, "The newer words")
    where = f"/r/{older.share_token}/q/2/skip"
    sent = hidden(older.page) | {"answer": words}

    page = older.client.post(where, data=sent, headers={"HX-Request": "true"})

    assert page.status_code == 422
    assert NEWER in page.text
    assert box(page) == (words or "The newer words")
    assert texts(app) == ["Me", "The newer words"]


@pytest.mark.parametrize(
    "way",
    [{"language": "de"}, {"theme": "dark"}],
    ids=["another language", "another appearance"],
)
def test_a_page_in_another_look_still_knows_which_answer_it_showed(
    app: Flask, tab: Respondent, way: dict[str, str]
) -> None:
    older = other_tab(tab)
    tab.answer(2, "The newer words")
    older.post("/q/2/open", answer="The older words", **way)
    assert box(older.page) == "The older words"

    page = older.answer(2, "The older words")

    assert newer_answer(page) == "The newer words"
    assert texts(app) == ["Me", "The newer words"]


def test_text_that_waited_behind_the_link_for_another_device_replaces_nothing(
    app: Flask, tab: Respondent
) -> None:
    older = other_tab(tab)
    older.post("/q/2/elsewhere", answer="The older words")
    tab.answer(2, "The newer words")
    back = older.post("/q/2/open")
    assert box(back) == "The older words"

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
