"""Malformed, forged and too many POSTs store nothing."""

from collections.abc import Callable, Iterator
from io import BytesIO
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from itsdangerous import TimestampSigner

from tests.factories import make_answer, make_form
from tests.pages.respondent_client import Respondent, arrive, box, heading, hidden, stored, texts
from webapp.base.limits import ANSWER_BODY_MAX_BYTES
from webapp.records.accounts.models import Account
from webapp.web.limiter import limiter

KEY = "k" * 32
SECRET = "only-for-tests-only-for-tests-only-for-tests"
ROUTES = [
    "/q/1",
    "/q/1/skip",
    "/q/1/open",
    "/q/1/elsewhere",
    "/check/elsewhere",
    "/check",
    "/check/open",
    "/sent",
    "/done/open",
    "/resume",
    "/withdraw",
    "/withdraw/now",
]


@pytest.mark.parametrize("number", [0, 3, 10**30])
@pytest.mark.parametrize("action", ["", "/skip", "/open"])
@pytest.mark.parametrize("answer", ["Me", ""])
def test_an_unknown_question_stores_nothing(
    app: Flask, respondent: Respondent, number: int, action: str, answer: str
) -> None:
    """Seen in a peer: an unknown question in a post was stored."""
    page = respondent.post(f"/q/{number}{action}", answer=answer)

    assert 400 <= page.status_code < 500
    assert stored(app) == (0, 0)


@pytest.mark.parametrize("number", ["0", "3", str(10**30), "-1", "1.5", "x"])
def test_an_unknown_question_is_not_found(client: FlaskClient, form: Any, number: str) -> None:
    assert client.get(f"/r/{form.share_token}/q/{number}").status_code == 404


@pytest.mark.parametrize(
    "fields",
    [
        {"session": ""},
        {"session": "short"},
        {"session": "k" * 101},
        {"session": "k" * 10_000},
        {"session": "k" * 31 + "\0"},
        {"session": "é" * 32},
        {"answer_key": ""},
        {"answer_key": "k" * 65},
        {"question_id": "q_1"},
        {"status": "completed"},
        {"answer": ["one", "two"]},
    ],
    ids=str,
)
def test_fields_that_the_page_did_not_hold_store_nothing(
    app: Flask, client: FlaskClient, form: Any, fields: dict[str, Any]
) -> None:
    sent = {"session": KEY, "answer_key": KEY, "answer": "Me"} | fields

    response = client.post(f"/r/{form.share_token}/q/1", data=sent)

    assert 400 <= response.status_code < 500
    assert "<h1" in response.text
    assert stored(app) == (0, 0)


@pytest.mark.parametrize("path", ROUTES)
@pytest.mark.parametrize("body", [b"", b"{}", b"%", b"session=" + b"\xff" * 32, b"=&&=;"])
def test_a_body_without_a_session_is_refused(
    app: Flask, client: FlaskClient, form: Any, path: str, body: bytes
) -> None:
    response = client.post(
        f"/r/{form.share_token}{path}",
        data=body,
        content_type="application/x-www-form-urlencoded",
    )

    assert response.status_code == 422
    assert stored(app) == (0, 0)


@pytest.mark.parametrize("path", ROUTES)
@pytest.mark.parametrize("answer", ["Me", ""])
def test_an_unknown_link_is_a_page_of_its_own(client: FlaskClient, path: str, answer: str) -> None:
    sent = {"session": KEY, "answer_key": KEY, "answer": answer}

    response = client.post(f"/r/{'n' * 22}{path}", data=sent)

    assert response.status_code == 404
    assert "There is nothing at this address." in response.text


@pytest.mark.parametrize("token", ["n" * 22, "%00", "%ED%A0%80", "a" * 5000])
@pytest.mark.parametrize("path", ["", "/q/1", "/check", "/done", "/sent"])
def test_a_get_of_an_unknown_link_is_not_found(client: FlaskClient, token: str, path: str) -> None:
    response = client.get(f"/r/{token}{path}")

    assert response.status_code == 404
    assert "<h1" in response.text


def signed(secret: str, salt: str = "respondent") -> str:
    """A key as it would be made with another secret, or for another purpose."""
    return TimestampSigner(secret, salt=salt).sign("k" * 32).decode()


FORGERIES: dict[str, Callable[[str], str]] = {
    "none of ours": lambda key: "k" * 32,
    "no MAC": lambda key: key.split(".")[0],
    "an empty MAC": lambda key: key.rpartition(".")[0] + ".",
    "a short MAC": lambda key: key[:-1],
    "a longer MAC": lambda key: key + "A",
    "another MAC": lambda key: key[:-27] + "A" * 27,
    "the MAC of another key": lambda key: f"{'x' * 32}{key[32:]}",
    "a key changed": lambda key: f"{'y' if key[0] == 'x' else 'x'}{key[1:]}",
    "another moment": lambda key: ".".join([key[:32], "AAAAAA", key.rpartition(".")[2]]),
    "no moment": lambda key: ".".join([key[:32], key.rpartition(".")[2]]),
    "another secret": lambda key: signed("another secret, of another server"),
    "another purpose": lambda key: signed(SECRET, salt="cookie-session"),
}


@pytest.mark.parametrize("forge", FORGERIES.values(), ids=FORGERIES)
def test_a_forged_session_key_is_refused(
    app: Flask, respondent: Respondent, forge: Callable[[str], str]
) -> None:
    forged = forge(hidden(respondent.page)["session"])

    page = respondent.post("/q/1", session=forged, answer="A long story")

    assert page.status_code == 422
    assert stored(app) == (0, 0)
    assert forged not in page.text
    assert box(page) == "A long story"
    assert not respondent.client.get_cookie(
        "askback_r", "127.0.0.1", f"/r/{respondent.share_token}"
    )

    respondent.answer(1, box(page))

    assert texts(app) == ["A long story"]


@pytest.mark.parametrize("path", ROUTES)
def test_a_forged_session_key_changes_nothing(
    app: Flask, respondent: Respondent, path: str
) -> None:
    where = f"/r/{respondent.share_token}{path}"
    sent = {"session": KEY, "answer_key": KEY, "answer": "Me"}

    answer = respondent.client.post(where, data=sent)

    assert answer.status_code == 422
    assert stored(app) == (0, 0)
    assert "Set-Cookie" not in answer.headers


def test_a_cookie_with_a_forged_key_is_ignored(app: Flask, client: FlaskClient, form: Any) -> None:
    client.set_cookie("askback_r", KEY, domain="127.0.0.1", path=f"/r/{form.share_token}")

    page = client.get(f"/r/{form.share_token}")

    assert page.status_code == 200
    assert hidden(page)["session"] != KEY


def test_a_stored_session_without_a_mac_continues(
    app: Flask, respondent: Respondent, form: Any
) -> None:
    with app.app_context():
        make_answer(form, KEY)
    respondent.client.set_cookie(
        "askback_r", KEY, domain="127.0.0.1", path=f"/r/{form.share_token}"
    )

    page = respondent.open()
    assert heading(page) == "What went wrong?"
    assert hidden(page)["session"] == KEY
    respondent.answer(2, "It")
    respondent.post("/check", name="Sam")

    assert heading(respondent.page).startswith("Thank you.")
    assert texts(app) == ["Me", "It"]


def test_such_a_session_is_one_of_its_own_form_only(
    app: Flask, account: Account, respondent: Respondent
) -> None:
    with app.app_context():
        make_answer(make_form(account.id), KEY)

    assert respondent.post("/q/1", session=KEY, answer="Mine").status_code == 422
    assert texts(app) == ["Me"]


def test_a_key_of_another_form_is_unknown(
    app: Flask, account: Account, respondent: Respondent
) -> None:
    respondent.answer(1, "Me")
    with app.app_context():
        other = make_form(account.id)
    sent = hidden(respondent.page)

    response = respondent.client.post(
        f"/r/{other.share_token}/q/1", data=sent | {"answer": "stolen"}
    )

    assert response.status_code == 404
    assert texts(app) == ["Me"]


def test_a_draft_is_not_public(app: Flask, client: FlaskClient, form: Any) -> None:
    """Seen in a peer: an unpublished draft was served."""
    for there in (form.draft_id, form.id):
        assert client.get(f"/r/{there}").status_code == 404


def test_a_body_longer_than_any_answer_is_refused(app: Flask, respondent: Respondent) -> None:
    page = respondent.answer(1, "x" * ANSWER_BODY_MAX_BYTES)

    assert page.status_code == 413
    assert "That is too much at once." in page.text
    assert stored(app) == (0, 0)


def test_a_posted_file_is_refused(app: Flask, respondent: Respondent) -> None:
    sent = hidden(respondent.page) | {"answer": (BytesIO(b"RIFF"), "a.wav")}

    response = respondent.client.post(
        f"/r/{respondent.share_token}/q/1", data=sent, content_type="multipart/form-data"
    )

    assert response.status_code == 422
    assert stored(app) == (0, 0)


@pytest.fixture
def few(app: Flask) -> Iterator[None]:
    limiter.reset()
    yield
    limiter.reset()


SLOW = pytest.mark.settings(limit_answer_session="2/minute", limit_answer_address="5/minute")


@SLOW
@pytest.mark.usefixtures("few")
def test_too_many_posts_of_one_session_wait_with_their_text(
    app: Flask, respondent: Respondent
) -> None:
    sent = hidden(respondent.page)
    respondent.answer_all()
    where = f"/r/{respondent.share_token}/q/2"

    page = respondent.client.post(where, data=sent | {"answer": "It, again"})

    assert page.status_code == 429
    assert 1 <= int(page.headers["Retry-After"]) <= 60
    assert "The limit is 2 in a minute." in page.text
    assert box(page) == "It, again"
    assert hidden(page) == sent
    assert f'action="{where}"' in page.text


@SLOW
@pytest.mark.usefixtures("few")
def test_one_session_does_not_use_up_the_quota_of_another(
    app: Flask, client: FlaskClient, form: Any
) -> None:
    arrive(client, form).answer_all()

    assert arrive(app.test_client(), form).answer_all().status_code == 200


@SLOW
@pytest.mark.usefixtures("few")
def test_new_sessions_of_one_address_are_limited(app: Flask, form: Any) -> None:
    statuses = [arrive(app.test_client(), form).answer(1, "Me").status_code for _ in range(6)]

    assert statuses == [200, 200, 200, 200, 200, 429]


@SLOW
@pytest.mark.usefixtures("few")
def test_bodies_without_a_session_are_counted_by_address(client: FlaskClient, form: Any) -> None:
    statuses = [client.post(f"/r/{form.share_token}/q/1").status_code for _ in range(3)]

    assert statuses == [422, 422, 429]


@SLOW
@pytest.mark.usefixtures("few")
def test_bodies_that_are_too_large_are_refused_however_many(client: FlaskClient, form: Any) -> None:
    path, sent = f"/r/{form.share_token}/q/1", {"answer": "x" * ANSWER_BODY_MAX_BYTES}

    assert [client.post(path, data=sent).status_code for _ in range(3)] == [413, 413, 413]


@SLOW
@pytest.mark.usefixtures("few")
def test_gets_are_not_limited(client: FlaskClient, form: Any) -> None:
    statuses = {client.get(f"/r/{form.share_token}").status_code for _ in range(20)}

    assert statuses == {200}
