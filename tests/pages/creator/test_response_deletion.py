"""A creator deletes one response, or all that look automated, and undoes it, without scripts."""

import re
from datetime import timedelta
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select, update

from tests.databases import both_databases
from tests.factories import make_response
from tests.pages.creator_client import Creator, plain
from tests.pages.respondent_client import arrive
from webapp.answers.deleted_responses import purge_deleted_responses
from webapp.base.database import db, utc_now
from webapp.base.text import token_hash
from webapp.records.responses.models import ResponseSession

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


def test_undo_brings_it_back_and_opens_it(ann: Creator, form: Any) -> None:
    address = respond(ann, form, "Sam")
    undo = undo_of(deleted(ann, address))

    answer = ann.post(undo)

    assert (answer.status_code, answer.location) == (303, address)
    assert "Sam" in ann.page(address).text
    purge(ann)
    assert "completed 1" in plain(ann.page(f"/forms/{form.id}/people").text)
    assert "is deleted" not in ann.page(f"/forms/{form.id}/people").text


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
