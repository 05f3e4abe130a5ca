"""What arrives while a page of results is open, and how many responses are unread."""

import re
from typing import Any

import pytest
from flask import Flask

from tests.bulk import store_answers
from tests.factories import make_answer, make_form, make_response
from tests.pages.creator.test_results import links
from tests.pages.creator_client import Creator, plain
from webapp.pages.creator.reading import news


@pytest.fixture
def form(app: Flask, ann: Creator) -> Any:
    with app.app_context():
        form = make_form(ann.account.id, title="Rota talks", context="canary")
        make_response(form, name="Early")
        return form


def asked(page: str) -> str:
    """The address that the page asks for what is new."""
    found = re.search(r'id="new-answers" hx-get="([^"]*)"', page)
    assert found, page
    total = re.search(r'name="total" value="(\d+)"', page)
    return found[1].replace("&amp;", "&") + (f"&total={total[1]}" if total else "")


def open_page(ann: Creator, form: Any, view: str = "") -> str:
    return asked(ann.page(f"/forms/{form.id}{view}").text)


def test_nothing_new_is_no_content(ann: Creator, form: Any) -> None:
    assert ann.swap(open_page(ann, form)).status_code == 204


def test_new_answers_come_for_their_lists_marked(app: Flask, ann: Creator, form: Any) -> None:
    path = open_page(ann, form)
    with app.app_context():
        make_answer(form, "k" * 32, 0, "to <b>one</b>")
        make_answer(form, "k" * 32, 1, "to two")

    told = ann.swap(path).text
    first, second = told.split('hx-swap-oob="afterbegin:#answers-')[1:]

    assert "2 new answers" in plain(told)
    assert "to &lt;b&gt;one&lt;/b&gt;" in first
    assert "to two" in second
    assert told.count(">New</span>") == 2
    assert links(told, "2 new answers")[0].removeprefix("#") in second
    assert "<title>(2) Answers · Rota talks · Askback</title>" in told
    assert "completed 1 in progress 1" in plain(told)
    assert "Question 1 2 answers, none skipped" in plain(told)
    assert "canary" not in told
    assert ann.swap(asked(told)).status_code == 204


def test_whoever_answers_comes_with_all_answers(app: Flask, ann: Creator, form: Any) -> None:
    with app.app_context():
        make_answer(form, "k" * 32, 0, "before")
    path = open_page(ann, form, "/people")
    with app.app_context():
        make_answer(form, "k" * 32, 1, "after")

    told = ann.swap(path).text
    people = told.partition('hx-swap-oob="afterbegin:#people"')[2]

    assert people.count("data-key=") == 1
    assert "before" in people
    assert "after" in people
    assert "Early" not in people


def test_more_than_a_page_takes_wait_behind_a_link(
    app: Flask, ann: Creator, form: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(news, "NEWS_SHOWN", 2)
    path = open_page(ann, form)
    told = []
    for count in (3, 1):
        with app.app_context():
            for number in range(count):
                make_answer(form, f"key-of-{count}-{number}".ljust(32), 0, "a secret")
        told.append(ann.swap(path).text)
        path = asked(told[-1])

    assert links(told[0], "3 new answers – Show") == [f"/forms/{form.id}"]
    assert links(told[1], "4 new answers – Show") == [f"/forms/{form.id}"]
    assert "a secret" not in "".join(told)


def test_more_than_ninety_nine_are_not_counted(app: Flask, ann: Creator, form: Any) -> None:
    path = open_page(ann, form)
    with app.app_context():
        make_answer(form, "k" * 32)

    assert "More than 99 new answers" in plain(ann.swap(f"{path}&total=99&missed=1").text)


@pytest.mark.parametrize("told", ["newest=%22%3E%3Cb%3E", "total=-1", "total=9999", "view=x"])
def test_what_the_address_says_is_no_markup(app: Flask, ann: Creator, form: Any, told: str) -> None:
    path = open_page(ann, form)
    with app.app_context():
        make_response(form)

    response = ann.swap(f"{path.partition('&')[0]}&{told}")

    assert response.status_code == 200
    assert "<b>" not in response.text.partition("</title>")[2].partition("<dl")[0]


def test_unread_responses_are_told_in_lists_and_titles(app: Flask, ann: Creator, form: Any) -> None:
    with app.app_context():
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


def test_no_title_counts_further_than_ninety_nine(app: Flask, ann: Creator, form: Any) -> None:
    with app.app_context():
        store_answers(form.id, 1000)

    assert "<title>(99+) Forms" in ann.page("/forms").text
    assert "<title>(99+) Answers" in ann.page(f"/forms/{form.id}").text


def test_an_open_inbox_hears_of_unread_responses(app: Flask, ann: Creator, form: Any) -> None:
    shown = ann.page("/drafts").text.partition('hx-get="/drafts?v=')[2].partition('"')[0]
    with app.app_context():
        make_response(form)

    assert "2 new" in plain(ann.swap(f"/drafts?v={shown}").text)


def test_a_get_reads_nothing_and_strangers_mark_nothing(
    ann: Creator, stranger: Creator, form: Any
) -> None:
    for path in (f"/forms/{form.id}", f"/forms/{form.id}/people", f"/forms/{form.id}/letters"):
        ann.page(path)

    assert stranger.post(f"/forms/{form.id}/read", stamp="9").status_code == 404
    assert ann.page(f"/forms/{form.id}/read").status_code == 405
    assert "1 new" in plain(ann.page("/forms").text)
