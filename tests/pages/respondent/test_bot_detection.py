"""Automated responses are flagged for the creator and never dropped."""

from datetime import timedelta
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select

from tests.databases import both_databases
from tests.factories import make_account, make_answer, make_form
from tests.pages.creator_client import Creator, plain
from tests.pages.respondent_client import Respondent, heading, hidden, texts
from webapp.answers.answering import ANSWER_MIN_SECONDS, Signs, complete_response
from webapp.answers.search import Filters, find_people
from webapp.base.database import db, utc_now
from webapp.pages.respondent.form_data import HONEYPOT, new_session_key
from webapp.records.responses.models import ResponseSession


def flags(app: Flask) -> list[bool]:
    """The flags of all sessions."""
    with app.app_context():
        return list(db.session.scalars(select(ResponseSession.suspect)))


@pytest.fixture
def slow(app: Flask, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The key of a page that was opened an hour ago: only the clock of its signature is moved."""
    moved = int(utc_now().timestamp()) - 3600
    with monkeypatch.context() as patch, app.app_context():
        patch.setattr("itsdangerous.TimestampSigner.get_timestamp", lambda _: moved)
        return {"session": new_session_key()}


@pytest.mark.parametrize("trap", [{}, {HONEYPOT: "http://spam.example"}], ids=["person", "program"])
@pytest.mark.parametrize("path", ["/q/1", "/check"])
def test_a_filled_honeypot_flags_and_drops_nothing(
    app: Flask, respondent: Respondent, slow: dict[str, str], path: str, trap: dict[str, str]
) -> None:
    respondent.post("/q/1", answer="Me", **slow, **(trap if path == "/q/1" else {}))
    respondent.answer(2, "It")
    page = respondent.post("/check", name="Sam", **(trap if path == "/check" else {}))

    assert heading(page).startswith("Thank you.")
    assert (flags(app), texts(app)) == ([bool(trap)], ["Me", "It"])


@pytest.mark.parametrize("old", [False, True], ids=["too fast", "key without a MAC"])
def test_answers_faster_than_people_read_are_flagged(
    app: Flask, respondent: Respondent, form: Any, *, old: bool
) -> None:
    """Keys stored before keys had a MAC do not say when their first page was rendered."""
    if old:
        with app.app_context():
            make_answer(form, "k" * 32, text="Me")
        respondent.post("/q/2", answer="It", session="k" * 32)
    else:
        respondent.answer(1, "Me")

    assert (flags(app), texts(app)) == ([True], ["Me", "It"] if old else ["Me"])


@pytest.mark.parametrize("path", ["/q/1", "/check"])
def test_the_honeypot_is_out_of_sight_and_reach(respondent: Respondent, path: str) -> None:
    respondent.answer_all()
    page = respondent.open(path)

    (wrapper,) = [part for part in page.text.split("<div ") if f'name="{HONEYPOT}"' in part]

    assert wrapper.startswith('class="visually-hidden" aria-hidden="true">')
    assert 'tabindex="-1" autocomplete="off"' in wrapper
    assert HONEYPOT not in hidden(page)


@pytest.mark.parametrize(
    ("answers", "seconds", "automated"),
    [
        (1, ANSWER_MIN_SECONDS - 0.001, True),
        (1, ANSWER_MIN_SECONDS, False),
        (5, 5 * ANSWER_MIN_SECONDS - 0.001, True),
        (5, 5 * ANSWER_MIN_SECONDS, False),
        (0, 0, False),
    ],
)
def test_the_time_needed_grows_with_the_answers(
    answers: int,
    seconds: float,
    automated: bool,  # noqa: FBT001
) -> None:
    now = utc_now()

    assert Signs(now - timedelta(seconds=seconds)).looks_automated(answers, now) is automated


@both_databases
def test_a_flag_is_never_removed(app: Flask) -> None:
    with app.app_context():
        form = make_form(make_account().id)
        patient = Signs(utc_now() - timedelta(hours=1))
        make_answer(form, "k" * 32, 0, signs=Signs(None))
        make_answer(form, "k" * 32, 1, signs=patient)
        complete_response(
            form.share_token, "k" * 32, responder_name="", now=utc_now(), signs=patient
        )

    assert flags(app) == [True]


def test_flagged_responses_are_marked_and_can_be_filtered_out(
    app: Flask, ann: Creator, form: Any
) -> None:
    with app.app_context():
        make_answer(form, "k" * 32, 0, "by a person")
        make_answer(form, "p" * 32, 0, "by a program", signs=Signs(utc_now(), honeypot_filled=True))
        people = find_people(form.id, Filters(), before=None).people
    (flagged,) = [each.session.id for each in people if each.session.suspect]

    for view in ("", "/people"):
        everybody = plain(ann.page(f"/forms/{form.id}{view}").text)
        persons = plain(ann.page(f"/forms/{form.id}{view}?unflagged=1").text)
        assert everybody.count("Looks automated") == 1
        assert "by a program" in everybody
        assert "by a person" in persons
        assert "by a program" not in persons
    page = plain(ann.page(f"/forms/{form.id}/people/{flagged}").text)
    assert "This response may be automated." in page
    assert "by a program" in page
