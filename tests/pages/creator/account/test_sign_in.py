"""Signing in and out in a browser, and the one-time link."""

from urllib.parse import quote

import pytest
from flask import Flask
from flask.testing import FlaskClient
from itsdangerous import URLSafeTimedSerializer
from sqlalchemy import event, func, select
from werkzeug.test import TestResponse

from tests.oauth.flow import EMAIL, HOST, PASSWORD, csrf_token, sign_in
from webapp.base.database import db, utc_now
from webapp.base.limits import PASSWORD_MAX_CHARS
from webapp.records.accounts import invites
from webapp.records.accounts.models import Account
from webapp.web.limiter import limiter


@pytest.fixture(autouse=True)
def _fresh_limits(app: Flask) -> None:
    limiter.reset()


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


@pytest.mark.parametrize("password", ["xkq12345\nzvw plmo", "hund 20231\r\n katze maus"])
def test_a_password_may_hold_a_line_end(
    app: Flask, client: FlaskClient, invite: str, password: str
) -> None:
    assert join(client, invite, password=password).status_code == 303
    assert sign_in(app.test_client(), password=password).status_code == 303


def test_signing_in_leads_to_the_drafts(creator: Account, client: FlaskClient) -> None:
    response = sign_in(client)

    assert (response.status_code, response.location) == (303, "/drafts")
    assert signed_in(client)


@pytest.mark.parametrize(
    ("email", "password"), [(EMAIL, "wrong"), ("nobody@example.com", PASSWORD), ("", "")]
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


@pytest.mark.parametrize(
    ("email", "password"),
    [(EMAIL + " " * 300, PASSWORD), (EMAIL, PASSWORD + "x" * PASSWORD_MAX_CHARS)],
    ids=["address", "password"],
)
def test_too_long_credentials_are_refused_like_wrong_ones(
    email: str, password: str, creator: Account, client: FlaskClient
) -> None:
    response = sign_in(client, email, password)

    assert response.status_code == 422
    assert "Wrong e-mail or password." in response.text


def test_the_longest_password_signs_in(app: Flask, client: FlaskClient) -> None:
    password = "Zoë, " * 204 + "end."
    with app.app_context():
        invites.create_account(EMAIL, "Ann", password, now=utc_now())

    assert len(password) == PASSWORD_MAX_CHARS
    assert sign_in(client, password=password).status_code == 303


def test_signing_in_leaves_nothing_of_the_session_before(
    creator: Account, client: FlaskClient
) -> None:
    with client.session_transaction() as session:
        session["planted"] = "by somebody else"

    sign_in(client)

    with client.session_transaction() as session:
        assert "planted" not in session


def test_signing_out_ends_the_session(creator: Account, client: FlaskClient) -> None:
    sign_in(client)
    token = csrf_token(client.get("/account"))

    response = client.post("/logout", data={"csrf_token": token})

    assert response.location == "/login"
    assert not signed_in(client)


@pytest.fixture
def copy(app: Flask, creator: Account, client: FlaskClient) -> FlaskClient:
    """Another browser with the cookie of `client`, which is signed in."""
    sign_in(client)
    held = client.get_cookie("askback_session", HOST)
    assert held is not None
    thief = app.test_client()
    thief.set_cookie("askback_session", held.value, domain=HOST)
    return thief


@pytest.mark.parametrize("path", ["/logout", "/logout/everywhere"])
def test_signing_out_ends_every_copy_of_the_cookie(
    path: str, client: FlaskClient, copy: FlaskClient
) -> None:
    worked_before = signed_in(copy)

    client.post(path, data={"csrf_token": csrf_token(client.get("/account"))})

    assert (worked_before, signed_in(copy)) == (True, False)


def test_signing_in_again_ends_every_copy_of_the_cookie_before(
    client: FlaskClient, copy: FlaskClient
) -> None:
    token = csrf_token(client.get("/account"))

    client.post("/login", data={"email": EMAIL, "password": PASSWORD, "csrf_token": token})

    assert (signed_in(client), signed_in(copy)) == (True, False)


def test_signing_out_leaves_other_browsers_alone(
    app: Flask, creator: Account, client: FlaskClient
) -> None:
    elsewhere = app.test_client()
    sign_in(client)
    sign_in(elsewhere)

    client.post("/logout", data={"csrf_token": csrf_token(client.get("/account"))})

    assert signed_in(elsewhere)


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


def test_signing_out_everywhere_ends_every_session(app: Flask, creator: Account) -> None:
    here, elsewhere = app.test_client(), app.test_client()
    sign_in(here)
    sign_in(elsewhere)
    token = csrf_token(here.get("/account"))

    here.post("/logout/everywhere", data={"csrf_token": token})

    assert (signed_in(here), signed_in(elsewhere)) == (False, False)


def test_a_new_password_ends_other_sessions(
    app: Flask, creator: Account, client: FlaskClient
) -> None:
    elsewhere = app.test_client()
    sign_in(elsewhere)
    with app.app_context():
        invite = invites.make_invite(email=EMAIL, now=utc_now())

    response = join(client, invite, password="another four words")

    assert response.status_code == 303
    assert (signed_in(client), signed_in(elsewhere)) == (True, False)


@pytest.mark.parametrize(
    "going",
    [
        "https://evil.example/",
        "//evil.example/",
        "/\\evil.example",
        "/connections",
        "javascript:alert(1)",
        "",
        "\u0000",
    ],
)
def test_an_unsigned_return_address_is_ignored(
    going: str, creator: Account, client: FlaskClient
) -> None:
    token = csrf_token(client.get(f"/login?next={quote(going)}"))
    form = {"email": EMAIL, "password": PASSWORD, "csrf_token": token, "next": going}

    response = client.post(f"/login?next={quote(going)}", data=form)

    assert response.location == "/drafts"


def test_a_return_address_signed_for_another_purpose_is_ignored(
    app: Flask, creator: Account, client: FlaskClient
) -> None:
    signed = URLSafeTimedSerializer(app.config["SECRET_KEY"], salt="other").dumps("//evil.example")
    token = csrf_token(client.get("/login"))
    form = {"email": EMAIL, "password": PASSWORD, "csrf_token": token}

    assert client.post(f"/login?next={signed}", data=form).location == "/drafts"


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


@pytest.mark.parametrize("name", ["askback_session", "askback_device"])
def test_a_cookie_stays_on_this_site_and_out_of_scripts(
    name: str, creator: Account, client: FlaskClient
) -> None:
    cookie = cookie_named(name, sign_in(client))

    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert "Path=/" in cookie
    assert "Domain" not in cookie


@pytest.mark.settings(public_url="https://ask.example.org")
@pytest.mark.parametrize("name", ["__Host-askback_session", "__Host-askback_device"])
def test_over_https_a_cookie_is_bound_to_the_host(
    name: str, creator: Account, client: FlaskClient
) -> None:
    base_url = "https://ask.example.org"
    token = csrf_token(client.get("/login", base_url=base_url))
    response = client.post(
        "/login",
        base_url=base_url,
        data={"email": EMAIL, "password": PASSWORD, "csrf_token": token},
        headers={"Referer": f"{base_url}/login"},
    )

    cookie = cookie_named(name, response)
    assert "Secure" in cookie
    assert "Path=/" in cookie
    assert "Domain" not in cookie


def test_a_link_makes_an_account_and_signs_in(client: FlaskClient, invite: str) -> None:
    response = join(client, invite)

    assert (response.status_code, response.location) == (303, "/drafts")
    assert signed_in(client)


def test_a_used_link_says_so(app: Flask, client: FlaskClient, invite: str) -> None:
    join(client, invite)

    page = app.test_client().get(f"/join/{invite}")

    assert page.status_code == 410
    assert "This link does not work any more." in page.text


def test_an_unknown_link_says_so(client: FlaskClient) -> None:
    assert client.get("/join/unknown").status_code == 410


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"password": "short"}, "A password has 12 to 1,024 characters."),
        ({"password": "passwordpassword"}, "too easy to guess"),
        ({"email": "nobody"}, "That is not an e-mail address."),
        ({"email": "ann@example.com\x00"}, "That is not an e-mail address."),
    ],
)
def test_a_refusal_keeps_what_was_typed_and_the_link(
    changed: dict[str, str], message: str, client: FlaskClient, invite: str
) -> None:
    page = join(client, invite, name="Ann Lindqvist", **changed)

    assert page.status_code == 422
    assert message in page.text
    assert 'value="Ann Lindqvist"' in page.text
    assert PASSWORD not in page.text
    assert join(client, invite).status_code == 303


def test_a_taken_address_is_told(
    app: Flask, creator: Account, client: FlaskClient, invite: str
) -> None:
    page = join(client, invite)

    assert page.status_code == 422
    assert "has an account already" in page.text
    with app.app_context():
        assert db.session.scalar(select(func.count()).select_from(Account)) == 1
