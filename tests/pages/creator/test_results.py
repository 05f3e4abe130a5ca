"""The results of a form as pages: by question, by person, searched; their words are text."""

import json
import re
import secrets
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select

from tests.factories import (
    make_answer,
    make_follow_up,
    make_follow_up_answer,
    make_form,
    make_response,
)
from tests.pages.creator_client import ORIGIN, Creator, plain, without_marks
from webapp.answers import answering
from webapp.base.database import db, utc_now
from webapp.follow_ups.rules import Reason, Technique
from webapp.records.responses.models import ResponseSession


@pytest.fixture
def form(ann: Creator) -> Any:
    return ann.form(title="Rota talks", context="canary")


def links(page: str, words: str) -> list[str]:
    """The addresses of links whose text begins with these words."""
    found = re.findall(r'<a [^>]*?href="([^"]*)"[^>]*>(.*?)</a>', page, re.DOTALL)
    meant = (address for address, text in found if plain(text).strip().startswith(words))
    return [address.replace("&amp;", "&") for address in meant]


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
            ("sent=1&from={today}&to={today}", ["Me"]),
            ("to=2020-01-01", []),
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


KEY, OTHER = "k" * 32, "o" * 32


@pytest.fixture
def asked_form(ann: Creator) -> Any:
    """Two people: one was asked twice and answered once, the other never."""
    with ann.context():
        asked_form = make_form(ann.account.id, title="Rota talks", followUpMode="deep_dive")
        make_answer(asked_form, OTHER, text="Nobody did")
        make_answer(asked_form, KEY, text="It was cold")
        example = {"technique": Technique.EXAMPLE, "reason": Reason.NO_EXAMPLE}
        asked = make_follow_up(asked_form, KEY, question_text="For <i>example</i>?", **example)
        make_follow_up_answer(asked_form, KEY, asked, "The gnorw one")
        by_model = {"reason": Reason.CHOSEN_BY_MODEL, "writer": "<b>qwen3 at 10.0.0.9:8080"}
        make_follow_up(asked_form, KEY, depth=2, **by_model)
        db.session.commit()
        return asked_form


@pytest.mark.parametrize("view", ["", "/people", "/questions/1", "?q=example", "/people?sent="])
def test_each_view_shows_question_answer_and_how_it_came_about(
    ann: Creator, asked_form: Any, view: str
) -> None:
    view = view.replace("example", "GNORW")
    page = without_marks(ann.page(f"/forms/{asked_form.id}{view}").text)
    words = plain(page)

    assert "For &lt;i&gt;example&lt;/i&gt;?" in page
    assert "The gnorw one" in page
    why = "Follow-up · built-in rules · asked for an example, because there was none"
    assert why in words
    model = "Follow-up · &lt;b&gt;qwen3 at 10.0.0.9:8080"
    assert f"Not answered. {model} · asked what came of it, as the model decided" in words


NAME, WORDS = "Nadia canary-name", "canary-words <button hx-post=/logout>"


@pytest.mark.parametrize("path", ["", "/people", "/people/{}", "?q=canary", "/people?q=canary"])
def test_htmx_is_off_around_them(ann: Creator, path: str) -> None:
    with ann.context():
        form, key = make_form(ann.account.id), secrets.token_urlsafe(24)
        make_answer(form, key, text=WORDS)
        answering.complete_response(form.share_token, key, responder_name=NAME, now=utc_now())
        person = db.session.scalar(select(ResponseSession.id))

    page = without_marks(ann.page(f"/forms/{form.id}{path.format(person)}").text)

    rest = re.sub(r"<(\w+)\b[^>]*\bhx-disable\b[^>]*>.*?</\1>", "", page, flags=re.DOTALL)
    shown = re.sub(r"<title>.*?</title>|<[^>]*>|“canary”", "", rest, flags=re.DOTALL)
    assert "canary-name" in page
    assert "canary-words" in page
    assert "canary" not in shown


def test_htmx_runs_no_scripts_of_what_it_is_sent(ann: Creator) -> None:
    page = ann.page("/drafts").text
    config = page.partition('name="htmx-config" content=\'')[2].partition("'")[0]

    assert {name: json.loads(config)[name] for name in ("allowEval", "allowScriptTags")} == {
        "allowEval": False,
        "allowScriptTags": False,
    }
