"""The steps of the authorization code flow, each of which a test can change."""

import re
import secrets
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from html import unescape
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from authlib.oauth2.rfc7636 import create_s256_code_challenge
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import Executable, func, select
from werkzeug.test import TestResponse

from webapp.base.database import db, utc_now
from webapp.records.accounts.browser_sessions import begin_session
from webapp.records.accounts.models import Account

EMAIL = "ann@example.com"
PASSWORD = "four plain words here"
HOST = "127.0.0.1"
ORIGIN = f"http://{HOST}:8000"
API = f"{ORIGIN}/api"
MCP = f"{ORIGIN}/mcp/app"
REDIRECT = "https://app.example/callback"
ALL_SCOPES = "forms:read responses:read forms:write offline_access"


def csrf_token(page: TestResponse) -> str:
    found = re.search(r'name="csrf_token" value="([^"]+)"', page.text)
    assert found is not None, page.text
    return found[1]


def ticked(page: str) -> list[str]:
    """The scopes whose boxes on a consent page are ticked before anybody touches them."""
    return re.findall(r'name="may" value="([^"]+)" checked', page)


def sign_in(browser: FlaskClient, email: str = EMAIL, password: str = PASSWORD) -> TestResponse:
    token = csrf_token(browser.get("/login"))
    form = {"email": email, "password": password, "csrf_token": token}
    return browser.post("/login", data=form)


def enter(browser: FlaskClient, account: Account) -> None:
    """Sign in without the costly password; `sign_in` is for tests of signing in."""
    with browser.application.app_context():
        session_id = begin_session(account, replaced=None, now=utc_now())
    with browser.session_transaction() as session:
        session["_user_id"] = session_id
        session["_fresh"] = True


def leave(browser: FlaskClient) -> None:
    """As if the browser had been closed."""
    with browser.session_transaction() as session:
        session.clear()


def register(browser: FlaskClient, **changed: Any) -> dict[str, Any]:
    """The client information response of a dynamic registration."""
    metadata = {
        "client_name": "Example agent",
        "redirect_uris": [REDIRECT],
        "grant_types": ["authorization_code", "refresh_token"],
    }
    response = browser.post("/oauth/register", json=metadata | changed)
    assert response.status_code == 201, response.text
    body: dict[str, Any] = response.json
    return body


def location(response: TestResponse) -> dict[str, str]:
    """The parameters of a redirect back to the client, each exactly once."""
    assert response.status_code == 303, (response.status_code, response.text)
    pairs = parse_qsl(urlsplit(response.location).query, strict_parsing=True)
    assert len(dict(pairs)) == len(pairs), response.location
    return dict(pairs)


def way_back(page: TestResponse) -> dict[str, str]:
    """The parameters of the link that a page of refusal offers; the page itself leads nowhere."""
    assert (page.status_code, "Location" in page.headers) == (400, False), page.text
    found = re.search(r'<a class="btn[^"]*" href="([^"]+)"', page.text)
    assert found is not None, page.text
    return dict(parse_qsl(urlsplit(unescape(found[1])).query, strict_parsing=True))


def refused(response: TestResponse, error: str, status: int = 400) -> str:
    """The description of this OAuth error (RFC 6749 section 5.2)."""
    body = response.json
    assert body is not None, response.text
    assert (response.status_code, body["error"]) == (status, error), response.text
    assert body.keys() == {"error", "error_description"}
    assert re.fullmatch(r"[ !#-\[\]-~]+", body["error_description"])
    return str(body["error_description"])


def count(app: Flask, table: type) -> int:
    with app.app_context():
        return db.session.scalar(select(func.count()).select_from(table)) or 0


def change(app: Flask, *statements: Executable) -> None:
    """Carry the statements out behind the application's back."""
    with app.app_context():
        for statement in statements:
            db.session.execute(statement)
        db.session.commit()


@dataclass
class Flow:
    """One client in front of one signed-in creator."""

    browser: FlaskClient
    machine: FlaskClient
    client: dict[str, Any]
    verifier: str = field(default_factory=lambda: secrets.token_urlsafe(32))

    def parameters(self, **changed: Any) -> dict[str, Any]:
        """Of an authorization request; a value of None leaves its parameter out."""
        values = {
            "response_type": "code",
            "client_id": self.client["client_id"],
            "redirect_uri": REDIRECT,
            "scope": ALL_SCOPES,
            "state": "st4te",
            "code_challenge": create_s256_code_challenge(self.verifier),
            "code_challenge_method": "S256",
        }
        return {name: value for name, value in (values | changed).items() if value is not None}

    def other(self, **metadata: Any) -> "Flow":
        """The same with another public client."""
        changed = {"token_endpoint_auth_method": "none"} | metadata
        return replace(self, client=register(self.machine, **changed))

    def opens(self, body: dict[str, str]) -> bool:
        """Whether the API takes the token of this response."""
        headers = bearer(body["access_token"])
        return self.machine.get("/api/forms", headers=headers).status_code == 200

    def address(self, **changed: Any) -> str:
        return "/oauth/authorize?" + urlencode(self.parameters(**changed), doseq=True)

    def ask(self, **changed: Any) -> TestResponse:
        """The consent page, or a refusal."""
        return self.browser.get(self.address(**changed))

    def decide(self, address: str | None = None, **form: Any) -> TestResponse:
        """Open the consent page and press a button; Allow with the boxes as they are by default."""
        address = address or self.address()
        page = self.browser.get(address)
        values = {"allow": "yes", "may": ticked(page.text), "csrf_token": csrf_token(page)}
        return self.browser.post(address, data=values | form)

    def code(self, **changed: Any) -> str:
        return location(self.decide(self.address(**changed)))["code"]

    def redemption(self, code: str, /, **changed: Any) -> dict[str, Any]:
        """The form that asks for the tokens of a code."""
        values = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": REDIRECT,
            "code_verifier": self.verifier,
        }
        return self.authenticated(**values | changed)

    def redeem(self, code: str, /, **changed: Any) -> TestResponse:
        return self.machine.post("/oauth/token", data=self.redemption(code, **changed))

    def renewal(self, body: dict[str, Any], **changed: Any) -> dict[str, Any]:
        """The form that refreshes the tokens of a response."""
        values = {"grant_type": "refresh_token", "refresh_token": body["refresh_token"]}
        return self.authenticated(**values | changed)

    def refresh(self, refresh_token: str, **changed: Any) -> TestResponse:
        form = self.renewal({"refresh_token": refresh_token}, **changed)
        return self.machine.post("/oauth/token", data=form)

    def revoke(self, **form: Any) -> TestResponse:
        return self.machine.post("/oauth/revoke", data=self.authenticated(**form))

    def authenticated(self, **form: Any) -> dict[str, Any]:
        values = {
            "client_id": self.client["client_id"],
            "client_secret": self.client.get("client_secret"),
        } | form
        return {name: value for name, value in values.items() if value is not None}

    def connect(self, may: list[str] | None = None, **changed: Any) -> dict[str, Any]:
        """The token response of the whole flow; `may` are the boxes ticked by hand."""
        form = {} if may is None else {"may": may}
        response = self.redeem(location(self.decide(self.address(**changed), **form))["code"])
        assert response.status_code == 200, response.text
        body: dict[str, Any] = response.json
        return body


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def at_once(app: Flask, forms: list[dict[str, str]]) -> list[TestResponse]:
    def post(form: dict[str, str]) -> TestResponse:
        return app.test_client().post("/oauth/token", data=form)

    with ThreadPoolExecutor(len(forms)) as pool:
        return list(pool.map(post, forms))
