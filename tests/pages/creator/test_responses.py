"""Reading responses one by one, and deleting them."""

import re
from datetime import timedelta
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select, update

from tests.databases import both_databases
from tests.factories import make_answer, make_form, make_response
from tests.pages.creator.test_results import links
from tests.pages.creator_client import Creator, hidden, plain
from tests.pages.respondent_client import arrive
from webapp.answers import answering
from webapp.answers.trash import purge_deleted_responses
from webapp.base.database import db, utc_now
from webapp.base.text import token_hash
from webapp.records.responses.models import ResponseSession

NAMES = ("Anna", "Bo", "Cem")


@pytest.fixture
def answered(ann: Creator) -> Any:
    with ann.context():
        answered = make_form(ann.account.id, questions=["One?", "Two?", "Three?"])
        for name in NAMES:
            make_response(answered, name=name)
        return answered


def people(ann: Creator, answered: Any) -> dict[str, str]:
    """The address of each response by name."""
    page = ann.page(f"/forms/{answered.id}/people").text
    return {name: links(page, name)[0] for name in NAMES}


def read(ann: Creator, path: str, **headers: Any) -> Any:
    return ann.post(f"{path}/read", stamp=hidden(ann.page(path), "stamp"), **headers)


@both_databases
def test_every_question_of_a_response_is_there_answered_skipped_or_not_reached(
    ann: Creator,
) -> None:
    answered = ann.form(questions=["One?", "Two?", "Three?"])
    empty = ann.page(f"/forms/{answered.id}/unread").location
    with ann.context():
        make_answer(answered, "k" * 32, 2, "last first")
        answering.skip_question(answered.share_token, "k" * 32, position=0, now=utc_now())
        answering.skip_question(answered.share_token, "s" * 32, position=0, now=utc_now())
        make_response(answered, name="New")
    page = ann.page(f"/forms/{answered.id}/people").text
    (path,), (new,) = links(page, "Anonymous"), links(page, "New")

    words = plain(ann.page(path).text)

    assert empty == f"/forms/{answered.id}"
    assert "Question 1 One? Skipped." in words
    assert "Question 2 Two? Not answered." in words
    assert "Question 3 Three? last first" in words
    assert links(ann.page(path).text, "Newer")[0] == new  # not the one without an answer


def test_a_get_reads_nothing(ann: Creator, answered: Any) -> None:
    path = people(ann, answered)["Bo"]
    for shown in ("", "/people", "/unread"):
        ann.page(f"/forms/{answered.id}{shown}")

    assert ann.page(f"/forms/{answered.id}/read").status_code == 405
    assert ">New</span>" in ann.page(path).text


UNDO = re.compile(r'action="(/forms/[^"]+/deletions/[^"]+/undo)"')


@pytest.fixture
def form(ann: Creator) -> Any:
    return ann.form(title="Rota talks")


def respond(ann: Creator, form: Any, name: str = "", *, suspect: bool = False) -> str:
    """The address of a response on the creator's pages."""
    with ann.context():
        key_hash = token_hash(make_response(form, name=name))
        which = ResponseSession.key_hash == key_hash
        db.session.execute(update(ResponseSession).where(which).values(suspect=suspect))
        db.session.commit()
        session_id = db.session.scalars(select(ResponseSession.id).where(which)).one()
    return f"/forms/{form.id}/people/{session_id}"


def purge(ann: Creator) -> None:
    with ann.context():
        list(purge_deleted_responses(utc_now() + timedelta(seconds=30)))


def undo_of(page: str) -> str:
    """The address that undoes the newest deletion."""
    found = UNDO.search(page)
    assert found, page
    return found[1]


def deleted(ann: Creator, address: str) -> str:
    """The page after a deletion."""
    assert f'action="{address}/delete"' in ann.page(address).text
    answer = ann.post(f"{address}/delete")
    assert answer.status_code == 303
    return ann.page(answer.location).text


@both_databases
def test_a_deleted_response_is_gone_from_every_page_at_once(ann: Creator, form: Any) -> None:
    respond(ann, form, "Kim")
    address = respond(ann, form, "<b>Sam")

    page = deleted(ann, address)

    assert "The response of <bdi hx-disable>&lt;b&gt;Sam</bdi> is deleted." in page
    assert "completed 1 in progress 0" in plain(page)
    assert ann.page(address).status_code == 404
    for path in ("", "/people", "/people?q=Sam", "?q=Me", "/export.csv", "/export.json"):
        shown = ann.page(f"/forms/{form.id}{path}").text.partition("Undo")
        assert address.rpartition("/")[2] not in "".join(shown), path
    assert "1 answer, none skipped" in plain(ann.page(f"/forms/{form.id}").text)


def test_undo_that_comes_too_late_says_so(ann: Creator, form: Any) -> None:
    address = respond(ann, form, "Sam")
    page = deleted(ann, address)
    twice = ann.page(ann.post(f"{address}/delete").location).text
    polled = re.search(r'id="deletions" hx-get="([^"]*)"', page)
    assert polled
    same = ann.swap(polled[1]).status_code
    purge(ann)

    answer = ann.post(undo_of(page))

    assert (len(UNDO.findall(twice)), same) == (1, 204)
    assert "Sam" not in ann.swap(polled[1]).text
    assert "There is nothing to undo any more." in ann.page(answer.location).text
    assert ann.page(address).status_code == ann.post(f"{address}/delete").status_code == 404


def test_the_person_who_answered_finds_nothing_and_no_error(
    app: Flask, ann: Creator, form: Any
) -> None:
    respondent = arrive(app.test_client(), form)
    respondent.answer(1, "It broke")
    respondent.open("/check")
    respondent.post("/check", name="Sam")
    with app.app_context():
        session_id = db.session.scalars(select(ResponseSession.id)).one()
    deleted(ann, f"/forms/{form.id}/people/{session_id}")
    assert "It broke" in respondent.open("/sent").text
    purge(ann)

    for path in ("/sent", "/done", "/check", "/q/2"):
        page = respondent.open(path)
        assert (page.status_code, "It broke" in page.text) == (200, False), path
    assert respondent.answer(2, "Anew").status_code == 200
    assert "Anew" in respondent.open("/check").text


def test_all_that_look_automated_are_deleted_after_a_question_and_undone_together(
    ann: Creator, form: Any
) -> None:
    respond(ann, form, "Kim")
    none = ann.page(f"/forms/{form.id}").text
    for _ in range(3):
        respond(ann, form, "Bot", suspect=True)
    ask = f"/forms/{form.id}/automated/delete"
    offered, asked = ann.page(f"/forms/{form.id}/people").text, plain(ann.page(ask).text)

    page = ann.page(ann.post(ask).location).text

    assert ("automated/delete" in none, f'href="{ask}"' in offered) == (False, True)
    assert "Delete 3 responses" in asked
    assert "3 responses that look automated are deleted." in plain(page)
    assert ("Kim" in page, "Bot" in page, f'href="{ask}"' in page) == (True, False, False)
    assert "No response looks automated." in ann.page(ask).text
    assert "Bot" not in plain(ann.page("/account/activity").text)
    back = ann.page(ann.post(undo_of(page)).location).text
    assert back.count("Looks automated") == 3
