"""Responses one after the other, what is read of them, and what arrives meanwhile."""

import re
from typing import Any

import pytest

from tests.databases import both_databases
from tests.factories import make_answer, make_form, make_response
from tests.pages.creator.test_results import links
from tests.pages.creator_client import Creator, hidden, plain
from webapp.answers import answering
from webapp.base.database import utc_now

NAMES = ("Anna", "Bo", "Cem")


@pytest.fixture
def form(ann: Creator) -> Any:
    with ann.context():
        form = make_form(ann.account.id, questions=["One?", "Two?", "Three?"])
        for name in NAMES:
            make_response(form, name=name)
        return form


def people(ann: Creator, form: Any) -> dict[str, str]:
    """The address of each response by name."""
    page = ann.page(f"/forms/{form.id}/people").text
    return {name: links(page, name)[0] for name in NAMES}


def read(ann: Creator, path: str, **headers: Any) -> Any:
    return ann.post(f"{path}/read", stamp=hidden(ann.page(path), "stamp"), **headers)


@both_databases
def test_every_question_of_a_response_is_there_answered_skipped_or_not_reached(
    ann: Creator,
) -> None:
    form = ann.form(questions=["One?", "Two?", "Three?"])
    empty = ann.page(f"/forms/{form.id}/unread").location
    with ann.context():
        make_answer(form, "k" * 32, 2, "last first")
        answering.skip_question(form.share_token, "k" * 32, position=0, now=utc_now())
        answering.skip_question(form.share_token, "s" * 32, position=0, now=utc_now())
        make_response(form, name="New")
    page = ann.page(f"/forms/{form.id}/people").text
    (path,), (new,) = links(page, "Anonymous"), links(page, "New")

    words = plain(ann.page(path).text)

    assert empty == f"/forms/{form.id}"
    assert "Question 1 One? Skipped." in words
    assert "Question 2 Two? Not answered." in words
    assert "Question 3 Three? last first" in words
    assert links(ann.page(path).text, "Newer")[0] == new  # not the one without an answer


@both_databases
def test_unread_ones_come_first_then_older_ones(ann: Creator, form: Any) -> None:
    paths = people(ann, form)
    steps = [ann.page(f"/forms/{form.id}/unread").location]
    for _ in range(3):
        page = ann.page(steps[-1]).text
        read(ann, steps[-1], htmx=True)
        steps += links(page, "Next new one")[:1]

    assert steps == [paths[name] for name in ("Cem", "Bo", "Anna")]
    middle = ann.page(paths["Bo"]).text
    assert links(middle, "Newer")[0] == paths["Cem"]
    assert links(middle, "Older")[0] == paths["Anna"]
    assert links(ann.page(paths["Cem"]).text, "Newer") == []
    assert links(ann.page(paths["Anna"]).text, "Older") == []
    assert ">New</span>" not in middle


def test_without_scripts_reading_goes_on_to_the_next_unread_one(ann: Creator, form: Any) -> None:
    paths = people(ann, form)

    followed = [read(ann, paths[name]).location for name in ("Anna", "Cem", "Bo")]

    assert followed == [paths["Cem"], paths["Bo"], paths["Bo"]]
    assert "new" not in plain(ann.page("/forms").text)


def test_a_get_reads_nothing_and_strangers_read_and_mark_nothing(
    ann: Creator, stranger: Creator, form: Any
) -> None:
    path = people(ann, form)["Bo"]
    for shown in ("", "/people", "/unread"):
        ann.page(f"/forms/{form.id}{shown}")

    assert stranger.page(path).status_code == 404
    assert stranger.page(f"/forms/{form.id}/unread").status_code == 404
    assert stranger.post(f"{path}/read", stamp="9999999999999").status_code == 404
    assert stranger.post(f"/forms/{form.id}/read", stamp="9").status_code == 404
    assert ann.page(f"/forms/{form.id}/read").status_code == 405
    assert ">New</span>" in ann.page(path).text


def test_long_responses_are_shortened_in_the_list_of_people(ann: Creator) -> None:
    with ann.context():
        form = make_form(ann.account.id, questions=[f"Question {n}?" for n in range(20)])
        for position in range(20):
            make_answer(form, "k" * 32, position)

    page = ann.page(f"/forms/{form.id}/people").text

    (path,) = links(page, "Read 8 more answers")
    assert page.count("answer__text") == 12
    assert ann.page(path).text.count("answer__text") == 20


@pytest.fixture
def rota(ann: Creator) -> Any:
    """A form with one response, which is unread."""
    form = ann.form(title="Rota talks")
    ann.within(make_response, form, name="Early")
    return form


def asked(page: str) -> str:
    """The address that the page asks for what is new."""
    found = re.search(r'id="new-answers" hx-get="([^"]*)"', page)
    assert found, page
    return found[1].replace("&amp;", "&")


@pytest.mark.parametrize("view", ["", "/people"])
def test_new_answers_are_counted_until_the_page_is_opened_again(
    ann: Creator, rota: Any, view: str
) -> None:
    path = asked(ann.page(f"/forms/{rota.id}{view}").text)
    assert ann.swap(path).status_code == 204
    for count, words in ((2, "2 new answers – Show"), (3, "3 new answers – Show")):
        with ann.context():
            make_answer(rota, "k" * 32 if count == 2 else "n" * 32, 0, "a secret")
            if count == 2:
                make_answer(rota, "k" * 32, 1, "a secret")
        update = ann.swap(path).text
        path = asked(update)

        assert links(update, words) == [f"/forms/{rota.id}{view}"]
        assert f"<title>({count}) Answers · Rota talks · Askback</title>" in update
        assert f"completed 1 in progress {count - 1}" in plain(update)
        assert "a secret" not in update
        assert ann.swap(path).status_code == 204


def test_unread_responses_are_in_lists_and_titles(ann: Creator, rota: Any) -> None:
    with ann.context():
        make_response(rota)
        make_answer(rota, "k" * 32)

    pages = {path: ann.page(path).text for path in ("/drafts", "/forms", f"/forms/{rota.id}")}
    stamp = re.findall(r'name="stamp" value="(\d+)"', pages[f"/forms/{rota.id}"])[0]
    ann.post(f"/forms/{rota.id}/read", stamp=stamp)
    after = {path: ann.page(path).text for path in pages}

    assert all("2 new" in plain(page) for page in pages.values())
    assert not any("2 new" in plain(page) for page in after.values())
    assert "<title>(2) Forms" in pages["/forms"]
    assert "<title>(2) Answers" in pages[f"/forms/{rota.id}"]
    assert "<title>Answers" in after[f"/forms/{rota.id}"]
    assert pages[f"/forms/{rota.id}"].count(">New</span>") == 3
    assert ">New</span>" not in after[f"/forms/{rota.id}"]
