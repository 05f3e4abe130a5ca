"""What arrives while a page of results is open, and how many responses are unread."""

import re
from typing import Any

import pytest

from tests.bulk import store_answers
from tests.factories import make_answer, make_form, make_response
from tests.pages.creator.test_results import links
from tests.pages.creator_client import Creator, plain


@pytest.fixture
def form(ann: Creator) -> Any:
    with ann.context():
        form = make_form(ann.account.id, title="Rota talks", context="canary")
        make_response(form, name="Early")
        return form


def asked(page: str) -> str:
    """The address that the page asks for what is new."""
    found = re.search(r'id="new-answers" hx-get="([^"]*)"', page)
    assert found, page
    return found[1].replace("&amp;", "&")


def open_page(ann: Creator, form: Any, view: str = "") -> str:
    return asked(ann.page(f"/forms/{form.id}{view}").text)


@pytest.mark.parametrize("view", ["", "/people"])
def test_new_answers_are_counted_until_the_page_is_opened_again(
    ann: Creator, form: Any, view: str
) -> None:
    path = open_page(ann, form, view)
    assert ann.swap(path).status_code == 204
    for count, words in ((2, "2 new answers – Show"), (3, "3 new answers – Show")):
        with ann.context():
            make_answer(form, "k" * 32 if count == 2 else "n" * 32, 0, "a secret")
            if count == 2:
                make_answer(form, "k" * 32, 1, "a secret")
        update = ann.swap(path).text
        path = asked(update)

        assert links(update, words) == [f"/forms/{form.id}{view}"]
        assert f"<title>({count}) Answers · Rota talks · Askback</title>" in update
        assert f"completed 1 in progress {count - 1}" in plain(update)
        assert "a secret" not in update
        assert ann.swap(path).status_code == 204


def test_more_than_ninety_nine_are_not_counted(ann: Creator, form: Any) -> None:
    path = open_page(ann, form)
    ann.within(store_answers, form.id, 100)

    assert "More than 99 new answers" in plain(ann.swap(path).text)


def test_unread_responses_are_in_lists_and_titles(ann: Creator, form: Any) -> None:
    with ann.context():
        make_response(form)
        make_answer(form, "k" * 32)

    pages = {path: ann.page(path).text for path in ("/drafts", "/forms", f"/forms/{form.id}")}
    stamp = re.findall(r'name="stamp" value="(\d+)"', pages[f"/forms/{form.id}"])[0]
    ann.post(f"/forms/{form.id}/read", stamp=stamp)
    after = {path: ann.page(path).text for path in pages}

    assert all("2 new" in plain(page) for page in pages.values())
    assert not any("2 new" in plain(page) for page in after.values())
    assert "<title>(2) Forms" in pages["/forms"]
    assert "<title>(2) Answers" in pages[f"/forms/{form.id}"]
    assert "<title>Answers" in after[f"/forms/{form.id}"]
    assert pages[f"/forms/{form.id}"].count(">New</span>") == 3
    assert ">New</span>" not in after[f"/forms/{form.id}"]


def test_a_get_reads_nothing_and_strangers_mark_nothing(
    ann: Creator, stranger: Creator, form: Any
) -> None:
    for path in (f"/forms/{form.id}", f"/forms/{form.id}/people", f"/forms/{form.id}/unread"):
        ann.page(path)

    assert stranger.post(f"/forms/{form.id}/read", stamp="9").status_code == 404
    assert ann.page(f"/forms/{form.id}/read").status_code == 405
    assert "1 new" in plain(ann.page("/forms").text)
