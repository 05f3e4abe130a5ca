"""Attacks of respondents on each other: foreign keys, transfer secrets and answer keys."""

from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.databases import both_databases
from tests.factories import make_account, make_answer, make_form
from tests.pages.respondent.test_cross_site_posts import every_row, post_paths
from tests.pages.respondent_client import Respondent, arrive, heading, hidden, stored, texts
from webapp.answers.device_transfer import create_transfer_link, is_link_usable
from webapp.base.database import utc_now
from webapp.pages.respondent.form_data import new_session_key

SECRET_WORDS = "written for another form"


@pytest.fixture
def theirs(app: Flask) -> tuple[Any, str, str]:
    """A form of another creator, with the key and the transfer secret of a session there."""
    with app.app_context():
        form, key = make_form(make_account().id), new_session_key()
        make_answer(form, key, text=SECRET_WORDS)
        return form, key, create_transfer_link(form.share_token, key, now=utc_now())


@both_databases
def test_a_key_and_a_secret_of_another_form_open_nothing(
    app: Flask, respondent: Respondent, theirs: tuple[Any, str, str]
) -> None:
    _, key, secret = theirs
    respondent.answer(1, "mine")
    before = every_row(app)
    sent = {"answer_key": "k" * 32, "answer": "Me", "secret": secret, "claim": "c" * 32}

    for path in post_paths(app):
        fields = {"secret", "claim"} if path == "/continue" else {"answer", "answer_key"}
        body = {name: sent[name] for name in fields} | {"session": key}
        if path == "/continue":
            del body["session"]
        page = respondent.client.post(f"/r/{respondent.share_token}{path}", data=body)

        assert page.status_code < 500, path
        assert SECRET_WORDS not in page.text, path
    assert every_row(app) == before


def test_a_secret_is_not_used_up_by_trying_it_at_another_form(
    app: Flask, respondent: Respondent, theirs: tuple[Any, str, str]
) -> None:
    form, _, secret = theirs

    page = respondent.client.post(
        f"/r/{respondent.share_token}/continue", data={"secret": secret, "claim": "c" * 32}
    )

    assert heading(page) == "This link has expired."
    with app.app_context():
        assert is_link_usable(form.share_token, secret, now=utc_now())


@pytest.mark.parametrize("wrong", ["", "short", "s" * 10_000, "s" * 31 + "\0", "é" * 32, "s" * 32])
@pytest.mark.parametrize("field", ["secret", "claim"])
def test_an_invented_secret_or_claim_transfers_nothing(
    app: Flask, client: FlaskClient, theirs: tuple[Any, str, str], field: str, wrong: str
) -> None:
    form, _, secret = theirs
    sent = {"secret": "x" * 32, "claim": "c" * 32} | {field: wrong}

    page = client.post(f"/r/{form.share_token}/continue", data=sent)

    assert page.status_code in {410, 422}
    assert "Set-Cookie" not in page.headers
    with app.app_context():
        assert is_link_usable(form.share_token, secret, now=utc_now())


@both_databases
def test_another_session_cannot_overwrite_an_answer(app: Flask, form: Any) -> None:
    """Not even with the answer key that the other page held."""
    ann, bob = (arrive(app.test_client(), form) for _ in range(2))
    answer_key = hidden(ann.page)["answer_key"]
    ann.answer(1, "Ann's")

    bob.post("/q/1", answer="Bob's", answer_key=answer_key)

    assert (stored(app), sorted(texts(app))) == ((2, 2), ["Ann's", "Bob's"])
    ann.open("/check")
    assert "Ann&#39;s" in ann.page.text
    assert "Bob" not in ann.page.text


@pytest.mark.parametrize("path", ["/q/2", "/q/1/skip", "/check", "/resume", "/withdraw/now"])
def test_a_post_with_the_cookie_alone_changes_nothing(
    app: Flask, respondent: Respondent, path: str
) -> None:
    """Browsers send it by themselves, so it is no proof of intent."""
    respondent.answer(1, "Me")
    before = every_row(app)

    page = respondent.client.post(
        f"/r/{respondent.share_token}{path}", data={"answer": "It", "answer_key": "k" * 32}
    )

    assert page.status_code == 422
    assert every_row(app) == before


def test_the_key_of_a_withdrawn_session_finds_nothing(app: Flask, respondent: Respondent) -> None:
    respondent.answer(1, "Me")
    key = hidden(respondent.page)["session"]
    respondent.post("/withdraw/now")

    page = respondent.client.post(
        f"/r/{respondent.share_token}/check/open", data={"session": key}, follow_redirects=True
    )

    assert "Me</p>" not in page.text
    assert stored(app) == (0, 0)
