"""The results of a form as pages: by question, by person, searched, filtered, and what is new."""

import re
from typing import Any

import pytest
from flask import Flask

from tests.databases import both_databases
from tests.factories import make_answer, make_form, make_response
from tests.pages.creator_client import ORIGIN, Creator, plain, without_marks
from webapp.answers import answering, search
from webapp.base.database import utc_now
from webapp.web import deferred_writes


@pytest.fixture
def form(ann: Creator) -> Any:
    return ann.form(title="Rota talks", context="canary")


def links(page: str, words: str) -> list[str]:
    """The addresses of links whose text begins with these words."""
    found = re.findall(r'<a [^>]*?href="([^"]*)"[^>]*>(.*?)</a>', page, re.DOTALL)
    meant = (address for address, text in found if plain(text).strip().startswith(words))
    return [address.replace("&amp;", "&") for address in meant]


def test_figures_say_who_finished_and_who_did_not(ann: Creator, form: Any) -> None:
    ann.client.application.test_client().get(f"/r/{form.share_token}", base_url=ORIGIN)
    with ann.context():
        deferred_writes.store_views()
        make_response(form)
        make_answer(form, "k" * 32)
        answering.skip_question(form.share_token, "k" * 32, position=1, now=utc_now())

    words = plain(ann.page(f"/forms/{form.id}").text)
    assert "completed 1 in progress 1 open 1 of them completed 100 %" in words
    assert "Question 1 2 answers, none skipped" in words
    assert "Question 2 0 answers, 1 skipped" in words


def test_older_answers_follow_page_by_page(ann: Creator, form: Any) -> None:
    with ann.context():
        for number in range(23):
            make_answer(form, f"key-of-respondent-{number:03}", 0, f"answer {number:02}")

    first = ann.page(f"/forms/{form.id}").text
    (more,) = links(first, "10 more of 13")
    second = ann.swap(more).text
    (older,) = links(second, "Older answers")
    third = ann.swap(older).text

    shown = re.findall(r"answer \d\d", first + second + third)
    assert shown == [f"answer {number:02}" for number in reversed(range(23))]
    assert links(third, "Older answers") == []
    assert [page.count("autofocus") for page in (first, second)] == [0, 1]
    assert ann.page(older).text.startswith("<!doctype html>")  # without scripts


def test_long_answers_are_cut_and_can_be_read_in_full(ann: Creator, form: Any) -> None:
    ann.within(make_answer, form, "k" * 32, 0, "x" * 20_000)

    page = ann.page(f"/forms/{form.id}").text
    whole = ann.page(links(page, "Read all of it")[0]).text

    assert "x" * 2000 + "…" in page
    assert "x" * 2001 not in page
    assert "x" * 20_000 in whole


@pytest.mark.parametrize("number", [0, 3, 99999999999])
def test_a_question_that_is_not_there(ann: Creator, form: Any, number: int) -> None:
    assert ann.page(f"/forms/{form.id}/questions/{number}").status_code == 404


def test_a_person_has_all_answers(ann: Creator, stranger: Creator, form: Any) -> None:
    with ann.context():
        make_answer(form, "k" * 32, 0, "first")
        make_answer(form, "k" * 32, 1, "second")
        answering.complete_response(form.share_token, "k" * 32, responder_name="Sam", now=utc_now())
        make_answer(form, "u" * 32)
        others = [make_form(ann.account.id), make_form(stranger.account.id)]

    page = ann.page(f"/forms/{form.id}/people").text
    (person,) = links(page, "Sam")

    assert re.search(r"Anonymous\s+In progress, last active.*Sam\s+Completed", plain(page))
    assert "second" in ann.page(person).text
    assert stranger.page(person).status_code == 404
    for creator, other in zip((ann, stranger), others, strict=True):
        assert creator.page(person.replace(form.id, other.id)).status_code == 404


@both_databases
def test_older_persons_follow_page_by_page(ann: Creator, form: Any) -> None:
    with ann.context():
        for number in range(45):
            make_response(form, name=f"Person {number:02}")

    shown, path = [], f"/forms/{form.id}/people"
    for _ in range(3):
        page = ann.swap(path).text
        shown += re.findall(r"Person \d\d", page)
        path = next(iter(links(page, "Older answers")), "")

    assert shown == [f"Person {number:02}" for number in reversed(range(45))]
    assert path == ""


@pytest.mark.parametrize("before", ["x", "1", "9" * 13 + "-a", "9" * 40 + "-a", "-", "1-\x00"])
@pytest.mark.parametrize("view", ["", "/people", "/questions/1", "/new"])
def test_a_strange_position_is_no_error(ann: Creator, form: Any, before: str, view: str) -> None:
    response = ann.client.get(
        f"/forms/{form.id}{view}",
        query_string={"before": before, "since": before, "have": before, "q": "a"},
        base_url=ORIGIN,
    )

    assert response.status_code in {200, 204}


class TestSearching:
    @pytest.fixture(autouse=True)
    def answers(self, app: Flask, form: Any) -> None:
        with app.app_context():
            make_response(form, name="Ann")
            make_answer(form, "k" * 32, 0, "The ovens were cold")
            make_answer(form, "k" * 32, 1, "Nobody came")

    @pytest.mark.parametrize(
        ("query", "found"),
        [
            ("q=OVENS", ["The ovens were cold"]),
            ("sent=1", ["Me"]),
            ("from={today}&to={today}", ["Me", "The ovens were cold", "Nobody came"]),
            ("to=2020-01-01", []),
            ("from=2999-12-31", []),
        ],
    )
    def test_answers_are_found_by_words_state_and_day(
        self, ann: Creator, form: Any, query: str, found: list[str]
    ) -> None:
        query = query.format(today=utc_now().date().isoformat())
        page = ann.page(f"/forms/{form.id}?{query}").text
        people = ann.page(f"/forms/{form.id}/people?{query}").text

        for text in ("Me", "The ovens were cold", "Nobody came"):
            assert (f">{text}</p>" in without_marks(page)) == (text in found)
        assert ("Nobody came" in people) == ("The ovens were cold" in found)
        assert links(page, "By person") == [f"/forms/{form.id}/people?{query}"]
        assert f"/forms/{form.id}" in links(page, "Clear")

    def test_what_was_searched_for_is_marked(self, ann: Creator, form: Any) -> None:
        with ann.context():
            make_response(form, name="Bo <Oven>")
            make_answer(form, "h" * 32, 0, "It <b>broke</b> & {{ 7*7 }}")

        page = ann.page(f"/forms/{form.id}?q=OVEN").text
        hostile = ann.page(f"/forms/{form.id}/people?q=%3Cb%3Ebroke").text

        assert "The <mark>oven</mark>s were cold" in page
        assert "Bo &lt;<mark>Oven</mark>&gt;" in page
        assert "It <mark>&lt;b&gt;broke</mark>&lt;/b&gt; &amp; {{ 7*7 }}" in hostile
        assert 'value="&lt;b&gt;broke"' in hostile

    @pytest.mark.parametrize("day", ["tomorrow", "2026-13-01", "20261121", "٢٠٢٦-١١-٢١"])
    def test_what_is_no_day_is_said_and_filters_nothing(
        self, ann: Creator, form: Any, day: str
    ) -> None:
        page = ann.page(f"/forms/{form.id}?q=o&from={day}").text

        assert f"“{day}” isn’t a date." in plain(page)
        assert "The ovens were cold" in without_marks(page)

    @pytest.mark.parametrize("view", ["", "/people"])
    def test_a_search_goes_further_back_by_a_link(
        self, ann: Creator, form: Any, view: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for bound in ("ANSWERS_LOOKED_AT", "PEOPLE_LOOKED_AT"):
            monkeypatch.setattr(search, bound, 1)

        page = ann.page(f"/forms/{form.id}{view}?q=Ann").text
        steps = 0
        while "answer__text" not in page:
            page = ann.page(links(page, "Search further back")[0]).text
            steps += 1

        assert steps > 0
        assert ">Me</p>" in page


def test_a_deleted_form_is_nowhere_but_in_the_trash(
    app: Flask, ann: Creator, stranger: Creator, form: Any
) -> None:
    with ann.context():
        make_response(form)
        make_answer(form, "k" * 32, 0, "The ovens were cold")

    response = ann.post(f"/forms/{form.id}/delete")

    assert response.location == f"/forms/trash?deleted={form.id}"
    for view in ("", "/people", "/settings", "/share", "/new", "/export.csv", "/export.json"):
        assert ann.page(f"/forms/{form.id}{view}").status_code == 404
    assert ann.page(f"/drafts/{form.draft_id}").status_code == 404
    assert "Rota talks" not in ann.page("/forms").text + stranger.page("/forms/trash").text
    assert "Rota talks" in ann.page("/forms/trash").text
    visitor, shared = app.test_client(), f"/r/{form.share_token}"
    sent = {"session": "k" * 32, "answer": "more", "answer_key": "a" * 22}
    assert visitor.get(shared, base_url=ORIGIN).status_code == 404
    for path in ("/q/2", "/q/2/skip", "/check"):
        assert visitor.post(shared + path, base_url=ORIGIN, data=sent).status_code == 404
    assert stranger.post(f"/forms/{form.id}/restore").status_code == 404
    back = ann.post(f"/forms/{form.id}/restore").location
    assert "The ovens were cold" in ann.page(back).text
