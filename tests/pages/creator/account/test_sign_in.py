"""Signing in and out in a browser, and the one-time link."""

import threading
from urllib.parse import quote

import pytest
from flask import Flask
from flask.testing import FlaskClient
from itsdangerous import URLSafeTimedSerializer
from sqlalchemy import event
from werkzeug.test import TestResponse

from tests.oauth.flow import EMAIL, HOST, PASSWORD, csrf_token, sign_in
from webapp.base.database import db, utc_now
from webapp.base.limits import PASSWORD_MAX_CHARS
from webapp.records.accounts import credentials, invites
from webapp.records.accounts.models import Account


@pytest.fixture
def creator(app: Flask, cheap_hashing: None) -> Account:
    with app.app_context():
        return invites.create_account(EMAIL, "Ann", PASSWORD, now=utc_now())


@pytest.fixture
def invite(app: Flask) -> str:
    with app.app_context():
        return invites.make_invite(now=utc_now())


def signed_in(client: FlaskClient) -> bool:
    return client.get("/connections").status_code == 200


def join(client: FlaskClient, invite: str, **changed: str) -> TestResponse:
    token = csrf_token(client.get(f"/join/{invite}"))
    form = {"email": EMAIL, "name": "Ann", "password": PASSWORD, "csrf_token": token}
    return client.post(f"/join/{invite}", data=form | changed)


def cookie_named(name: str, response: TestResponse) -> str:
    cookies = response.headers.getlist("Set-Cookie")
    (found,) = (cookie for cookie in cookies if cookie.startswith(f"{name}="))
    return found


LONGEST = "Zoë, " * 204 + "end."


@pytest.mark.parametrize(
    "password", ["xkq12345\nzvw plmo", "hund 20231\r\n katze maus", LONGEST], ids=len
)
def test_a_password_may_be_long_and_hold_a_line_end(
    app: Flask, client: FlaskClient, invite: str, password: str
) -> None:
    assert len(LONGEST) == PASSWORD_MAX_CHARS
    assert join(client, invite, password=password).status_code == 303
    assert sign_in(app.test_client(), password=password).status_code == 303


def test_signing_in_leads_to_the_drafts(creator: Account, client: FlaskClient) -> None:
    response = sign_in(client)

    assert (response.status_code, response.location) == (303, "/drafts")
    assert signed_in(client)


@pytest.mark.parametrize(
    ("email", "password"),
    [
        (EMAIL, "wrong"),
        ("nobody@example.com", PASSWORD),
        ("", ""),
        (EMAIL + " " * 300, PASSWORD),
        (EMAIL, PASSWORD + "x" * PASSWORD_MAX_CHARS),
    ],
)
def test_a_wrong_password_and_an_unknown_address_get_the_same_page(
    email: str, password: str, creator: Account, client: FlaskClient
) -> None:
    response = sign_in(client, email, password)

    assert response.status_code == 422
    assert "Wrong e-mail or password." in response.text
    assert not signed_in(client)


def test_the_form_needs_its_token(creator: Account, client: FlaskClient) -> None:
    response = client.post("/login", data={"email": EMAIL, "password": PASSWORD})

    assert response.status_code == 400
    assert not signed_in(client)


def test_a_huge_sign_in_form_does_not_disable_the_limit(
    creator: Account, client: FlaskClient
) -> None:
    response = sign_in(client, "x" * 100_000, "y" * 100_000)

    assert response.status_code == 422
    assert len(response.text) < 10_000
    for _ in range(5):
        sign_in(client, password="wrong")
    assert sign_in(client).status_code == 429


def test_signing_in_leaves_nothing_of_the_session_before(
    creator: Account, client: FlaskClient
) -> None:
    with client.session_transaction() as session:
        session["planted"] = "by somebody else"

    sign_in(client)

    with client.session_transaction() as session:
        assert "planted" not in session


@pytest.fixture
def copy(app: Flask, creator: Account, client: FlaskClient) -> FlaskClient:
    """Another browser with the cookie of `client`, which is signed in."""
    sign_in(client)
    held = client.get_cookie("askback_session", HOST)
    assert held is not None
    thief = app.test_client()
    thief.set_cookie("askback_session", held.value, domain=HOST)
    return thief


@pytest.mark.parametrize(
    ("path", "stays"), [("/logout", True), ("/logout/everywhere", False), ("/login", True)]
)
def test_signing_out_and_in_again_end_every_copy_of_the_cookie(
    path: str, app: Flask, client: FlaskClient, copy: FlaskClient, *, stays: bool
) -> None:
    elsewhere = app.test_client()
    sign_in(elsewhere)
    worked_before = signed_in(copy)
    form = {"email": EMAIL, "password": PASSWORD}

    client.post(path, data=form | {"csrf_token": csrf_token(client.get("/account"))})

    assert (worked_before, signed_in(copy)) == (True, False)
    assert (signed_in(client), signed_in(elsewhere)) == (path == "/login", stays)


def test_a_session_cookie_of_an_earlier_version_is_ignored(
    creator: Account, client: FlaskClient
) -> None:
    with client.session_transaction() as session:
        session["_user_id"] = f"{creator.id}|0"

    assert client.get("/connections").location.startswith("/login?next=")


def test_looking_at_pages_neither_writes_nor_sets_the_cookie_again(
    app: Flask, creator: Account, client: FlaskClient
) -> None:
    sign_in(client)
    client.get("/connections")
    asked: list[str] = []
    with app.app_context():
        engine = db.engine
    event.listen(
        engine, "before_cursor_execute", note := lambda *given: asked.append(given[2].split()[0])
    )

    page = client.get("/connections")

    event.remove(engine, "before_cursor_execute", note)
    assert set(asked) == {"SELECT"}
    assert "Set-Cookie" not in page.headers


@pytest.mark.parametrize(
    "going",
    ["https://evil.example/", "//evil.example/", "/connections", "", "\u0000", "signed elsewhere"],
)
def test_a_return_address_that_was_not_signed_for_it_is_ignored(
    going: str, app: Flask, creator: Account, client: FlaskClient
) -> None:
    if going == "signed elsewhere":
        signer = URLSafeTimedSerializer(app.config["SECRET_KEY"], salt="other")
        going = str(signer.dumps("//evil.example"))
    token = csrf_token(client.get(f"/login?next={quote(going)}"))
    form = {"email": EMAIL, "password": PASSWORD, "csrf_token": token, "next": going}

    response = client.post(f"/login?next={quote(going)}", data=form)

    assert response.location == "/drafts"


@pytest.mark.parametrize("page", ["/connections?a=b", "/drafts/a%0D%0Ab%C3%A9"])
def test_sign_in_returns_to_the_requested_page(
    page: str, creator: Account, client: FlaskClient
) -> None:
    asked = client.get(page)
    token = csrf_token(client.get(asked.location))
    form = {"email": EMAIL, "password": PASSWORD, "csrf_token": token}

    assert client.post(asked.location, data=form).location == page


def test_a_backslash_in_a_query_leads_back_to_its_page(
    creator: Account, client: FlaskClient
) -> None:
    shown = {"HX-Request": "true", "HX-Current-URL": r"http://127.0.0.1:8000/forms/f?q=a\b&to="}
    asked = client.get("/drafts/waiting", headers=shown, base_url="http://127.0.0.1:8000")
    login = asked.headers["HX-Redirect"]
    token = csrf_token(client.get(login))
    form = {"email": EMAIL, "password": PASSWORD, "csrf_token": token}

    assert client.post(login, data=form).location == "/forms/f?q=a%5Cb&to="


@pytest.mark.parametrize("name", ["session", "device"])
@pytest.mark.parametrize(
    ("origin", "prefix"),
    [
        ("http://127.0.0.1:8000", "askback_"),
        pytest.param(
            "https://ask.example.org",
            "__Host-askback_",
            marks=pytest.mark.settings(public_url="https://ask.example.org"),
        ),
    ],
)
def test_a_cookie_stays_on_this_site_and_out_of_scripts(
    name: str, origin: str, prefix: str, creator: Account, client: FlaskClient
) -> None:
    token = csrf_token(client.get("/login", base_url=origin))
    form = {"email": EMAIL, "password": PASSWORD, "csrf_token": token}
    referer = {"Referer": f"{origin}/login"}

    cookie = cookie_named(
        prefix + name, client.post("/login", base_url=origin, data=form, headers=referer)
    )

    for part in ("HttpOnly", "SameSite=Lax", "Path=/"):
        assert part in cookie
    assert "Domain" not in cookie
    assert ("Secure" in cookie) == origin.startswith("https")


def test_a_link_makes_an_account_and_signs_in_once(
    app: Flask, client: FlaskClient, invite: str
) -> None:
    response = join(client, invite)

    assert (response.status_code, response.location) == (303, "/drafts")
    assert signed_in(client)
    for link in (invite, "unknown"):
        page = app.test_client().get(f"/join/{link}")
        assert page.status_code == 410
        assert "This link does not work any more." in page.text


@pytest.mark.parametrize(
    "changed",
    [
        {"password": "short"},
        {"password": "passwordpassword"},
        {"email": "nobody"},
        {"email": "ann@example.com\x00"},
        {"email": "taken@example.com"},
    ],
)
def test_a_refusal_keeps_what_was_typed_and_the_link(
    changed: dict[str, str], app: Flask, client: FlaskClient, invite: str
) -> None:
    with app.app_context():
        invites.create_account("taken@example.com", "Bo", PASSWORD, now=utc_now())

    page = join(client, invite, name="Ann Lindqvist", **changed)

    assert page.status_code == 422
    assert 'value="Ann Lindqvist"' in page.text
    assert PASSWORD not in page.text
    assert join(client, invite).status_code == 303


NEW_PASSWORD = "eleven grey heron boats"


@pytest.mark.parametrize("path", ["/login", "/join", "/account/password"])
def test_where_too_many_passwords_are_hashed_somebody_waits_and_it_counts_as_no_failure(
    app: Flask, creator: Account, client: FlaskClient, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    form = {"email": EMAIL, "password": NEW_PASSWORD, "name": "Ann", "current": PASSWORD}
    if path == "/account/password":
        sign_in(client)
        form["csrf_token"] = csrf_token(client.get("/account"))
    else:
        form["csrf_token"] = csrf_token(client.get("/login"))
    if path == "/join":
        with app.app_context():
            path += "/" + invites.make_invite(now=utc_now())

    with monkeypatch.context() as patched:
        patched.setattr(credentials, "_places", threading.Semaphore(0))
        pages = [client.post(path, data=form) for _ in range(7)]

    assert {page.status_code for page in pages} == {503}
    assert pages[0].headers["Retry-After"] == "5"
    assert f'value="{EMAIL}"' in pages[0].text or path == "/account/password"
    assert sign_in(app.test_client()).status_code == 303
