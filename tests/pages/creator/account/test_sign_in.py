"""Signing in and out in a browser, and the one-time link."""

import threading
from urllib.parse import quote

import pytest
from flask import Flask
from flask.testing import FlaskClient
from itsdangerous import URLSafeTimedSerializer
from werkzeug.test import TestResponse

from tests.oauth.flow import EMAIL, HOST, PASSWORD, csrf_token, sign_in
from tests.pages.creator.account.conftest import post
from webapp.base.database import utc_now
from webapp.records.accounts import credentials, invites
from webapp.records.accounts.models import Account


@pytest.fixture
def invite(app: Flask) -> str:
    with app.app_context():
        return invites.make_invite(now=utc_now())


def signed_in(client: FlaskClient) -> bool:
    return client.get("/connections").status_code == 200


def enter_at(client: FlaskClient, path: str, **sent: str) -> TestResponse:
    """Type address and password at a page with the form."""
    return post(client, path, path, **{"email": EMAIL, "password": PASSWORD} | sent)


def join(client: FlaskClient, invite: str, **changed: str) -> TestResponse:
    return enter_at(client, f"/join/{invite}", **{"name": "Ann"} | changed)


@pytest.mark.parametrize(
    ("email", "password"),
    [
        (EMAIL, "wrong"),
        ("nobody@example.com", PASSWORD),
        ("", ""),
        (EMAIL + " " * 300, PASSWORD),
        (EMAIL, PASSWORD + "x" * credentials.PASSWORD_MAX_CHARS),
    ],
)
def test_a_wrong_password_and_an_unknown_address_get_the_same_page(
    email: str, password: str, creator: Account, client: FlaskClient
) -> None:
    response = sign_in(client, email, password)
    without_token = client.post("/login", data={"email": EMAIL, "password": PASSWORD})

    assert (response.status_code, without_token.status_code) == (422, 400)
    assert "Wrong e-mail or password." in response.text
    assert not signed_in(client)


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

    post(client, path, email=EMAIL, password=PASSWORD)

    assert (worked_before, signed_in(copy)) == (True, False)
    assert (signed_in(client), signed_in(elsewhere)) == (path == "/login", stays)


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

    assert enter_at(client, f"/login?next={quote(going)}", next=going).location == "/drafts"


@pytest.mark.parametrize("page", ["/connections?a=b", "/drafts/a%0D%0Ab%C3%A9"])
def test_sign_in_returns_to_the_requested_page(
    page: str, creator: Account, client: FlaskClient
) -> None:
    shown = {"HX-Request": "true", "HX-Current-URL": r"http://127.0.0.1:8000/forms/f?q=a\b&to="}
    asked = client.get("/drafts/waiting", headers=shown, base_url="http://127.0.0.1:8000")

    assert enter_at(client, asked.headers["HX-Redirect"]).location == "/forms/f?q=a%5Cb&to="
    post(client, "/logout")
    assert enter_at(client, client.get(page).location).location == page


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

    response = client.post("/login", base_url=origin, data=form, headers=referer)

    cookies = response.headers.getlist("Set-Cookie")
    (cookie,) = (each for each in cookies if each.startswith(f"{prefix}{name}="))
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
        assert app.test_client().get(f"/join/{link}").status_code == 410


@pytest.mark.parametrize(
    "changed", [{"password": "short"}, {"email": "nobody"}, {"email": "taken@example.com"}]
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
    page = "/account" if path == "/account/password" else "/login"
    form["csrf_token"] = csrf_token(client.get(page))
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
