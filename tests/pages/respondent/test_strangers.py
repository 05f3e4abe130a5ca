"""Malformed, forged, foreign and too many POSTs store nothing; what looks automated is flagged."""

from collections.abc import Callable, Iterator
from io import BytesIO
from itertools import product
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from itsdangerous import TimestampSigner
from sqlalchemy import select

from tests.databases import both_databases
from tests.factories import make_account, make_answer, make_form
from tests.pages.creator_client import Creator, plain
from tests.pages.respondent.test_cross_site_posts import every_row, post_paths
from tests.pages.respondent_client import Respondent, arrive, box, heading, hidden, stored, texts
from webapp.answers.answering import Signs
from webapp.answers.device_transfer import create_transfer_link
from webapp.base.database import db, utc_now
from webapp.pages.respondent.form_data import HONEYPOT, new_session_key
from webapp.records.responses.models import ResponseSession
from webapp.web.limiter import limiter

KEY = "k" * 32
SECRET = "only-for-tests-only-for-tests-only-for-tests"
ROUTES = [
    *("/q/1", "/q/1/skip", "/q/1/open", "/q/1/elsewhere", "/check", "/check/open"),
    *("/check/elsewhere", "/sent", "/done/open", "/resume", "/withdraw", "/withdraw/now"),
]


def test_a_body_without_a_known_session_is_refused(
    app: Flask, client: FlaskClient, form: Any
) -> None:
    forged = b"session=%b&answer_key=%b&answer=Me" % (KEY.encode(), KEY.encode())
    for path, body in product(ROUTES, (b"", b"session=" + b"\xff" * 32, b"=&&=;", forged)):
        response = client.post(
            f"/r/{form.share_token}{path}",
            data=body,
            content_type="application/x-www-form-urlencoded",
        )

        assert response.status_code == 422, (path, body)
        assert "Set-Cookie" not in response.headers
    assert stored(app) == (0, 0)


@pytest.mark.parametrize("token", ["n" * 22, "%ED%A0%80"])
def test_an_unknown_link_is_not_found(client: FlaskClient, token: str) -> None:
    sent = {"session": KEY, "answer_key": KEY, "answer": "Me"}
    where = f"/r/{token}"

    pages = [client.get(where + path) for path in ("", "/q/1", "/check", "/done", "/sent")]
    pages += [client.post(where + path, data=sent) for path in ROUTES if token.isalpha()]
    assert {page.status_code for page in pages} == {404}
    assert all("<h1" in page.text for page in pages)


def signed(secret: str, salt: str = "respondent") -> str:
    """A key as it would be made with another secret, or for another purpose."""
    return TimestampSigner(secret, salt=salt).sign("k" * 32).decode()


@pytest.mark.parametrize(
    "forged",
    [signed("another secret, of another server"), signed(SECRET, salt="cookie-session")],
    ids=["another secret", "another purpose"],
)
def test_a_forged_session_key_is_refused(app: Flask, respondent: Respondent, forged: str) -> None:
    page = respondent.post("/q/1", session=forged, answer="A long story")

    assert (page.status_code, box(page)) == (422, "A long story")
    assert stored(app) == (0, 0)
    assert forged not in page.text
    assert not respondent.client._cookies

    respondent.answer(1, box(page))

    assert texts(app) == ["A long story"]


def test_a_cookie_counts_only_with_a_known_key(
    app: Flask, respondent: Respondent, form: Any
) -> None:
    where = f"/r/{form.share_token}"
    respondent.client.set_cookie("askback_r", KEY, domain="127.0.0.1", path=where)
    forged = respondent.open()
    with app.app_context():
        make_answer(form, KEY)

    page = respondent.open()

    assert (forged.status_code, hidden(forged)["session"] == KEY) == (200, False)
    assert (heading(page), hidden(page)["session"]) == ("What went wrong?", KEY)
    respondent.answer(2, "It")
    assert heading(respondent.post("/check", name="Sam")).startswith("Thank you.")
    assert texts(app) == ["Me", "It"]


def test_a_file_is_no_answer(app: Flask, respondent: Respondent) -> None:
    assert respondent.post("/q/1", answer=(BytesIO(b"RIFF"), "a.wav")).status_code == 422
    assert stored(app) == (0, 0)


def test_a_draft_is_not_public(client: FlaskClient, form: Any) -> None:
    """Seen in a peer: an unpublished draft was served."""
    for there in (form.draft_id, form.id):
        assert client.get(f"/r/{there}").status_code == 404


@pytest.fixture
def few() -> Iterator[None]:
    limiter.reset()
    yield
    limiter.reset()


def limited(test: Callable[..., None]) -> Any:
    few = pytest.mark.settings(limit_answer_session="2/minute", limit_answer_address="5/minute")
    return few(pytest.mark.usefixtures("few")(test))


@limited
def test_too_many_posts_of_one_session_wait_with_their_text(
    app: Flask, respondent: Respondent, form: Any
) -> None:
    sent = hidden(respondent.page)
    respondent.answer_all()
    where = f"/r/{respondent.share_token}/q/2"

    page = respondent.client.post(where, data=sent | {"answer": "It, again"})

    assert (page.status_code, box(page)) == (429, "It, again")
    assert 1 <= int(page.headers["Retry-After"]) <= 60
    assert "The limit is 2 in a minute." in page.text
    assert hidden(page) == sent
    assert f'action="{where}"' in page.text
    assert arrive(app.test_client(), form).answer_all().status_code == 200  # another session


@limited
def test_new_sessions_of_one_address_are_limited(app: Flask, form: Any) -> None:
    statuses = [arrive(app.test_client(), form).answer(1, "Me").status_code for _ in range(6)]

    assert statuses == [200, 200, 200, 200, 200, 429]
    assert {arrive(app.test_client(), form).page.status_code for _ in range(9)} == {200}


@limited
def test_bodies_without_a_session_are_counted_by_address(client: FlaskClient, form: Any) -> None:
    path = f"/r/{form.share_token}/q/1"

    assert [client.post(path).status_code for _ in range(3)] == [422, 422, 429]


SECRET_WORDS = "written for another form"


@both_databases
def test_a_key_and_a_secret_of_another_form_open_nothing(
    app: Flask, respondent: Respondent
) -> None:
    with app.app_context():
        theirs, key = make_form(make_account().id), new_session_key()
        make_answer(theirs, key, text=SECRET_WORDS)
        secret = create_transfer_link(theirs.share_token, key, now=utc_now())
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


@both_databases
def test_another_session_cannot_overwrite_an_answer(app: Flask, form: Any) -> None:
    ann, bob = (arrive(app.test_client(), form) for _ in range(2))
    answer_key = hidden(ann.page)["answer_key"]
    ann.answer(1, "Ann's")

    bob.post("/q/1", answer="Bob's", answer_key=answer_key)

    assert (stored(app), sorted(texts(app))) == ((2, 2), ["Ann's", "Bob's"])
    ann.open("/check")
    assert "Ann&#39;s" in ann.page.text
    assert "Bob" not in ann.page.text


@pytest.mark.parametrize("path", ["/q/2", "/withdraw/now"])
def test_a_post_with_the_cookie_alone_changes_nothing(
    app: Flask, respondent: Respondent, path: str
) -> None:
    respondent.answer(1, "Me")
    before = every_row(app)

    page = respondent.client.post(
        f"/r/{respondent.share_token}{path}", data={"answer": "It", "answer_key": "k" * 32}
    )

    assert page.status_code == 422
    assert every_row(app) == before


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


def test_answers_faster_than_people_read_are_flagged(app: Flask, respondent: Respondent) -> None:
    respondent.answer(1, "Me")

    assert (flags(app), texts(app)) == ([True], ["Me"])


def test_flagged_responses_are_marked_and_can_be_filtered_out(
    app: Flask, ann: Creator, form: Any
) -> None:
    with app.app_context():
        make_answer(form, "k" * 32, 0, "by a person")
        make_answer(form, "p" * 32, 0, "by a program", signs=Signs(utc_now(), honeypot_filled=True))

    for view in ("", "/people"):
        everybody = plain(ann.page(f"/forms/{form.id}{view}").text)
        persons = plain(ann.page(f"/forms/{form.id}{view}?unflagged=1").text)
        assert everybody.count("Looks automated") == 1
        assert "by a program" in everybody
        assert "by a person" in persons
        assert "by a program" not in persons
