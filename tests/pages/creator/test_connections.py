"""The page of connected agents."""

import re
from datetime import timedelta

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select, update

from tests.factories import make_account
from tests.oauth.flow import API, MCP, Flow, bearer, csrf_token, enter, register
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


def grant(app: Flask) -> OAuthGrant:
    with app.app_context():
        return db.session.scalars(select(OAuthGrant)).one()


def press(browser: FlaskClient, path: str, **form: str) -> int:
    token = csrf_token(browser.get("/account"))
    return browser.post(f"/connections/{path}", data={"csrf_token": token} | form).status_code


def works(app: Flask, token: str) -> bool:
    return app.test_client().get("/api/forms", headers=bearer(token)).status_code == 200


def test_it_shows_what_an_agent_may_do(browser: FlaskClient, token: str) -> None:
    page = browser.get("/connections").text

    assert "Askback command line" in page
    assert "Registered by your administrator." in page
    assert "Sees your forms, writes drafts, publishes what you confirmed." in page
    assert "Not used yet" in page
    assert re.search(r"Ends <time [^>]*>[^<]*\d:\d\d UTC</time>\.", page)  # without a refresh token


@pytest.fixture
def flow(app: Flask, browser: FlaskClient) -> Flow:
    """An app that asks this creator."""
    limiter.reset()
    return Flow(browser, app.test_client(), register(browser, token_endpoint_auth_method="none"))


def test_an_app_is_connected_from_its_first_token_on(flow: Flow) -> None:
    code = flow.code()
    before = flow.browser.get("/connections").text

    flow.redeem(code)

    assert "No agent is connected." in before
    assert "Example agent" not in before
    assert "Example agent" in flow.browser.get("/connections").text


def test_a_client_without_tokens_is_neither_counted_nor_listed(flow: Flow) -> None:
    flow.code()
    page = flow.browser.get("/account/delete")

    ended = flow.browser.post("/connections/disconnect-all", data={"csrf_token": csrf_token(page)})

    assert "The connection of" not in page.text
    assert names_of_disconnected(flow.browser, ended.location) == []


def test_disconnecting_all_ends_a_consent_that_was_not_used_yet(flow: Flow) -> None:
    code = flow.code()
    csrf = csrf_token(flow.browser.get("/account"))

    flow.browser.post("/connections/disconnect-all", data={"csrf_token": csrf})

    assert flow.redeem(code).status_code == 400


def test_an_agent_whose_keys_have_all_expired_is_no_longer_connected(
    app: Flask, flow: Flow
) -> None:
    flow.connect()
    with app.app_context():
        db.session.execute(update(OAuthToken).values(expires_at=utc_now()))
        db.session.commit()

    assert "No agent is connected." in flow.browser.get("/connections").text


def test_disconnecting_stops_the_agent_at_once(
    app: Flask, browser: FlaskClient, token: str
) -> None:
    assert works(app, token)

    status = press(browser, f"{grant(app).id}/disconnect")

    assert status == 303
    assert not works(app, token)
    assert "Askback command line" not in browser.get("/connections").text


def test_disconnecting_says_by_name_what_ended(
    app: Flask, browser: FlaskClient, flow: Flow, token: str
) -> None:
    first = grant(app)
    flow.connect()
    csrf = {"csrf_token": csrf_token(browser.get("/account"))}

    one = browser.post(f"/connections/{first.id}/disconnect", data=csrf)
    again = browser.post(f"/connections/{first.id}/disconnect", data=csrf)
    rest = browser.post("/connections/disconnect-all", data=csrf)

    assert again.location == one.location
    assert names_of_disconnected(browser, one.location) == ["Askback command line"]
    assert names_of_disconnected(browser, rest.location) == ["Example agent"]
    assert names_of_disconnected(browser, "/connections") == []


def test_agents_of_other_creators_are_not_named(
    app: Flask, browser: FlaskClient, token: str
) -> None:
    csrf = {"csrf_token": csrf_token(browser.get("/account"))}
    ended = browser.post(f"/connections/{grant(app).id}/disconnect", data=csrf).location
    with app.app_context():
        stranger = app.test_client()
        enter(stranger, make_account())

    assert names_of_disconnected(browser, ended)
    assert names_of_disconnected(stranger, ended) == []


@pytest.mark.parametrize("moment", ["", "x", "-1", "0", "9" * 13, "9" * 40, "²"])
def test_an_invalid_time_in_the_address_shows_no_note(browser: FlaskClient, moment: str) -> None:
    assert names_of_disconnected(browser, f"/connections?ended={moment}") == []


def names_of_disconnected(browser: FlaskClient, address: str) -> list[str]:
    """The names that the page says were just disconnected."""
    words = re.search(r"Disconnected:(.*?)</b>", browser.get(address).text)
    return re.findall("<bdi>(.*?)</bdi>", words[1]) if words else []


def test_disconnecting_all_stops_every_agent(
    app: Flask, browser: FlaskClient, account: Account, token: str
) -> None:
    with app.app_context():
        other = issue_token(account.id, [Scope.FORMS_READ], API, now=utc_now())

    press(browser, "disconnect-all")

    assert (works(app, token), works(app, other)) == (False, False)


def test_grants_of_one_client_stand_as_one_connection(flow: Flow) -> None:
    flow.connect(scope="forms:read offline_access")
    flow.connect(scope="forms:read forms:write")
    flow.connect(scope="forms:read", resource=MCP)

    page = flow.browser.get("/connections").text

    assert page.count('<li class="agent"') == 1
    assert "1 agent<" in page
    assert "Sees your forms, writes drafts, publishes what you confirmed." in page
    assert "Uses the API and MCP." in page


def test_disconnecting_ends_every_grant_of_the_client(app: Flask, flow: Flow, token: str) -> None:
    tokens = [flow.connect(scope=scope)["access_token"] for scope in ("forms:read", "forms:write")]
    with app.app_context():
        oldest = db.session.scalars(
            select(OAuthGrant).where(OAuthGrant.scope == "forms:read")
        ).one()

    press(flow.browser, f"{oldest.id}/disconnect")

    assert not any(works(app, mine) for mine in tokens)
    assert works(app, token)
    assert flow.browser.get("/connections").text.count('<li class="agent"') == 1


def test_another_creators_grant_of_the_same_client_stays(app: Flask, flow: Flow) -> None:
    flow.connect()
    mine = grant(app).id
    with app.app_context():
        other = make_account()
    enter(flow.browser, other)
    theirs = flow.connect(scope="forms:read")["access_token"]

    assert press(flow.browser, f"{mine}/disconnect") == 404
    assert works(app, theirs)


def test_trust_holds_for_every_grant_that_may_write(app: Flask, flow: Flow) -> None:
    for scope in ("forms:write", "forms:read forms:write", "forms:read"):
        flow.connect(scope=scope)
    page = flow.browser.get("/connections").text
    shown = re.search(r'id="connection-([^"]+)"', page)
    assert shown is not None

    press(flow.browser, f"{shown[1]}/trust", trust="on")

    with app.app_context():
        found = {g.scope: g.attests_publish for g in db.session.scalars(select(OAuthGrant))}
    assert found == {"forms:write": True, "forms:read forms:write": True, "forms:read": False}


def test_an_agent_may_be_trusted_and_no_longer(
    app: Flask, browser: FlaskClient, token: str
) -> None:
    press(browser, f"{grant(app).id}/trust", trust="on")
    trusted = grant(app).attests_publish

    press(browser, f"{grant(app).id}/trust")

    assert (trusted, grant(app).attests_publish) == (True, False)


def test_an_agent_that_only_reads_cannot_be_trusted(
    app: Flask, browser: FlaskClient, account: Account
) -> None:
    with app.app_context():
        issue_token(account.id, [Scope.FORMS_READ], API, now=utc_now())

    press(browser, f"{grant(app).id}/trust", trust="on")

    assert not grant(app).attests_publish
    assert 'name="trust"' not in browser.get("/connections").text


@pytest.mark.parametrize("action", ["disconnect", "trust"])
def test_somebody_elses_agent_is_not_found(
    action: str, app: Flask, client: FlaskClient, token: str
) -> None:
    with app.app_context():
        enter(client, make_account())

    assert press(client, f"{grant(app).id}/{action}", trust="on") == 404
    assert works(app, token)
    assert not grant(app).attests_publish


@pytest.mark.parametrize("action", ["disconnect", "trust"])
@pytest.mark.parametrize("grant_id", ["con_unknown", "%00", "x" * 300])
def test_an_unknown_agent_is_not_found(action: str, grant_id: str, browser: FlaskClient) -> None:
    assert press(browser, f"{grant_id}/{action}") == 404


def test_every_action_needs_the_token_of_the_form(
    app: Flask, browser: FlaskClient, token: str
) -> None:
    statuses = {
        browser.post(f"/connections/{grant(app).id}/disconnect").status_code,
        browser.post(f"/connections/{grant(app).id}/trust").status_code,
        browser.post("/connections/disconnect-all").status_code,
    }

    assert statuses == {400}
    assert works(app, token)


def notices(app: Flask, browser: FlaskClient, reason: RevokedReason, days: int) -> int:
    """How many are shown for a connection that ended so many days ago."""
    with app.app_context():
        ended = utc_now() - timedelta(days=days)
        db.session.execute(update(OAuthGrant).values(revoked_at=ended, revoked_reason=reason))
        db.session.commit()
    return browser.get("/connections").text.count("its key was used twice")


@pytest.mark.parametrize("reason", [RevokedReason.REFRESH_REUSE, RevokedReason.CODE_REUSE])
def test_reuse_of_a_token_is_reported_for_a_month(
    reason: RevokedReason, app: Flask, browser: FlaskClient, token: str
) -> None:
    assert notices(app, browser, reason, days=29) == 1
    assert notices(app, browser, reason, days=31) == 0


@pytest.mark.parametrize("reason", [RevokedReason.DISCONNECTED, RevokedReason.REVOKED_BY_CLIENT])
def test_an_ordinary_disconnection_shows_no_notice(
    reason: RevokedReason, app: Flask, browser: FlaskClient, token: str
) -> None:
    assert notices(app, browser, reason, days=1) == 0
