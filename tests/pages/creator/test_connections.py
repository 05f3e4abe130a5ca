"""The page of connected agents."""

import re
from datetime import timedelta

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select, update

from tests.factories import make_account
from tests.oauth.flow import API, Flow, bearer, csrf_token, enter, register
from webapp.base.database import db, utc_now
from webapp.base.vocabulary import RevokedReason, Scope
from webapp.oauth.models import OAuthGrant, OAuthToken
from webapp.oauth.tokens import issue_token
from webapp.records.accounts.models import Account
from webapp.web.limiter import limiter


@pytest.fixture
def browser(client: FlaskClient, account: Account) -> FlaskClient:
    enter(client, account)
    return client


@pytest.fixture
def token(app: Flask, account: Account) -> str:
    """Of an agent that may read and write forms."""
    with app.app_context():
        scopes = [Scope.FORMS_READ, Scope.FORMS_WRITE]
        return issue_token(account.id, scopes, API, now=utc_now())


def stranger_of(app: Flask) -> FlaskClient:
    """The browser of another creator."""
    stranger = app.test_client()
    with app.app_context():
        enter(stranger, make_account())
    return stranger


def grant(app: Flask) -> OAuthGrant:
    with app.app_context():
        return db.session.scalars(select(OAuthGrant)).one()


def press(browser: FlaskClient, path: str, **form: str) -> int:
    token = csrf_token(browser.get("/account"))
    return browser.post(f"/connections/{path}", data={"csrf_token": token} | form).status_code


def works(app: Flask, token: str) -> bool:
    return app.test_client().get("/api/forms", headers=bearer(token)).status_code == 200


@pytest.fixture
def flow(app: Flask, browser: FlaskClient) -> Flow:
    """An app that asks this creator."""
    limiter.reset()
    return Flow(browser, app.test_client(), register(browser, token_endpoint_auth_method="none"))


def test_an_app_is_connected_from_its_first_token_until_its_keys_have_expired(
    app: Flask, flow: Flow
) -> None:
    code = flow.code()
    pages = [flow.browser.get("/connections").text]
    inventory = flow.browser.get("/account/delete").text
    flow.redeem(code)
    pages.append(flow.browser.get("/connections").text)
    with app.app_context():
        db.session.execute(update(OAuthToken).values(expires_at=utc_now()))
        db.session.commit()
    pages.append(flow.browser.get("/connections").text)

    assert ["Example agent" in page for page in pages] == [False, True, False]
    assert "The connection of" not in inventory


def test_disconnecting_all_stops_every_agent_and_unused_consents(
    app: Flask, browser: FlaskClient, account: Account, flow: Flow, token: str
) -> None:
    code = flow.code()
    with app.app_context():
        other = issue_token(account.id, [Scope.FORMS_READ], API, now=utc_now())

    press(browser, "disconnect-all")

    assert (works(app, token), works(app, other)) == (False, False)
    assert flow.redeem(code).status_code == 400


def test_disconnecting_says_by_name_and_to_nobody_else_what_ended(
    app: Flask, browser: FlaskClient, flow: Flow, token: str
) -> None:
    first, stranger = grant(app), stranger_of(app)
    flow.connect()
    csrf = {"csrf_token": csrf_token(browser.get("/account"))}

    one = browser.post(f"/connections/{first.id}/disconnect", data=csrf)
    again = browser.post(f"/connections/{first.id}/disconnect", data=csrf)
    rest = browser.post("/connections/disconnect-all", data=csrf)

    assert again.location == one.location
    assert names_of_disconnected(browser, one.location) == ["Askback command line"]
    assert names_of_disconnected(browser, rest.location) == ["Example agent"]
    assert names_of_disconnected(stranger, one.location) == []
    for moment in ("", "x", "-1", "0", "9" * 13, "9" * 40, "²"):
        assert names_of_disconnected(browser, f"/connections?ended={moment}") == []


def names_of_disconnected(browser: FlaskClient, address: str) -> list[str]:
    """The names that the page says were just disconnected."""
    words = re.search(r"Disconnected:(.*?)</b>", browser.get(address).text)
    return re.findall("<bdi>(.*?)</bdi>", words[1]) if words else []


def test_disconnecting_ends_every_grant_of_the_client(app: Flask, flow: Flow, token: str) -> None:
    tokens = [flow.connect(scope=scope)["access_token"] for scope in ("forms:read", "forms:write")]
    with app.app_context():
        oldest = db.session.scalars(
            select(OAuthGrant).where(OAuthGrant.scope == "forms:read")
        ).one()

    pages = [flow.browser.get("/connections").text]
    press(flow.browser, f"{oldest.id}/disconnect")

    assert not any(works(app, mine) for mine in tokens)
    assert works(app, token)
    pages.append(flow.browser.get("/connections").text)
    assert [page.count('<li class="agent"') for page in pages] == [2, 1]


def test_another_creators_grant_of_the_same_client_stays(app: Flask, flow: Flow) -> None:
    flow.connect()
    mine = grant(app).id
    with app.app_context():
        other = make_account()
    enter(flow.browser, other)
    theirs = flow.connect(scope="forms:read")["access_token"]

    assert press(flow.browser, f"{mine}/disconnect") == 404
    assert works(app, theirs)


def test_trust_holds_for_every_grant_that_may_write_until_it_ends(app: Flask, flow: Flow) -> None:
    scopes = ("forms:write", "forms:read forms:write", "forms:read")
    for scope in scopes:
        flow.connect(scope=scope)
    shown = re.search(r'id="connection-([^"]+)"', flow.browser.get("/connections").text)
    assert shown is not None

    found = []
    for form in ({"trust": "on"}, {}):
        press(flow.browser, f"{shown[1]}/trust", **form)
        with app.app_context():
            trusted = db.session.execute(select(OAuthGrant.scope, OAuthGrant.attests_publish))
            found.append({scope for scope, trusts in trusted if trusts})

    assert found == [{*scopes[:2]}, set()]


def test_an_agent_that_only_reads_cannot_be_trusted(
    app: Flask, browser: FlaskClient, account: Account
) -> None:
    with app.app_context():
        issue_token(account.id, [Scope.FORMS_READ], API, now=utc_now())

    press(browser, f"{grant(app).id}/trust", trust="on")

    assert not grant(app).attests_publish
    assert 'name="trust"' not in browser.get("/connections").text


@pytest.mark.parametrize("action", ["disconnect", "trust"])
def test_somebody_elses_and_unknown_agents_are_not_found(
    action: str, app: Flask, token: str
) -> None:
    client = stranger_of(app)

    for grant_id in (grant(app).id, "con_unknown", "%00", "x" * 300):
        assert press(client, f"{grant_id}/{action}", trust="on") == 404
    assert works(app, token)
    assert not grant(app).attests_publish


@pytest.mark.parametrize(
    ("reason", "days", "count"),
    [
        (RevokedReason.REFRESH_REUSE, 29, 1),
        (RevokedReason.REFRESH_REUSE, 31, 0),
        (RevokedReason.CODE_REUSE, 29, 1),
        (RevokedReason.DISCONNECTED, 1, 0),
        (RevokedReason.REVOKED_BY_CLIENT, 1, 0),
    ],
)
def test_reuse_of_a_token_is_reported_for_a_month(
    reason: RevokedReason, days: int, count: int, app: Flask, browser: FlaskClient, token: str
) -> None:
    with app.app_context():
        ended = utc_now() - timedelta(days=days)
        db.session.execute(update(OAuthGrant).values(revoked_at=ended, revoked_reason=reason))
        db.session.commit()

    assert browser.get("/connections").text.count("its key was used twice") == count
