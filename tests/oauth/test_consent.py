"""The consent page: its content, the grants it makes, and its protection."""

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import func, select

from tests.oauth.flow import EMAIL, HOST, MCP, PASSWORD, Flow, csrf_token, leave, location, register
from webapp.base.database import db, utc_now
from webapp.oauth.models import OAuthCode, OAuthGrant
from webapp.oauth.registration import create_client
from webapp.records.accounts import invites


def grants(app: Flask) -> list[OAuthGrant]:
    with app.app_context():
        return list(db.session.scalars(select(OAuthGrant)))


def codes(app: Flask) -> int:
    with app.app_context():
        return db.session.scalar(select(func.count()).select_from(OAuthCode)) or 0


def test_it_shows_client_scopes_and_redirect_host(flow: Flow) -> None:
    page = flow.ask().text

    assert "Unverified app at app.example." in page
    assert f"You are signed in as Ann Lindqvist, {EMAIL}." in page
    assert "Write drafts, and publish a draft after you have confirmed it here" in page
    assert "You will go back to app.example." in page
    assert "At most 180 days. Without this, access ends by itself within an hour." in page
    assert "It can use both the API and MCP." in page
    assert "runs on your computer" not in page


def test_a_host_shown_instead_of_a_name_is_labelled_as_host(app: Flask, flow: Flow) -> None:
    flow.client = register(app.test_client(), client_name="Askback Verified")
    page = flow.ask().text

    assert "Let app.example work with your forms?" in page
    assert "This is the address it goes back to" in page
    assert "Unverified app" not in page


def test_a_client_of_the_operator_is_marked_as_such(app: Flask, flow: Flow) -> None:
    with app.app_context():
        client_id, _ = create_client("Ours", [flow.client["redirect_uris"][0]], now=utc_now())
    flow.client = {"client_id": client_id}

    assert "Registered by your administrator." in flow.ask().text


@pytest.mark.parametrize(
    "redirect_uri", ["http://127.0.0.1:4444/cb", "https://localhost:4444/cb", "http://[::1]:4/cb"]
)
def test_a_loopback_client_is_warned_about(flow: Flow, redirect_uri: str) -> None:
    flow.client = register(flow.browser, redirect_uris=[redirect_uri])

    page = flow.ask(redirect_uri=redirect_uri).text

    assert "This app runs on your computer." in page
    assert "Unverified app on your computer." in page


@pytest.mark.parametrize("scheme", ["cursor", "google", "askback", "com.example.app"])
def test_a_private_scheme_is_shown_as_one(scheme: str, flow: Flow) -> None:
    redirect_uri = f"{scheme}://claude.ai/oauth/callback"
    flow.client = register(flow.browser, redirect_uris=[redirect_uri])

    page = flow.ask(redirect_uri=redirect_uri).text

    assert f"You will go back to a program on this device ({scheme}:)." in page
    assert "Unverified app." in page
    assert "Go on only if you started it just now." in page


@pytest.mark.parametrize(
    ("redirect_uris", "shown_host"),
    [
        (["https://claude.ai/cb", "https://evil.example/cb"], "evil.example"),
        (["claude.ai:/cb"], "a program on this device (claude.ai:)"),
    ],
)
def test_a_foreign_host_is_never_shown_as_the_host_of_the_app(
    flow: Flow, redirect_uris: list[str], shown_host: str
) -> None:
    flow.client = register(flow.browser, client_name="Askback", redirect_uris=redirect_uris)
    page = flow.ask(redirect_uri=redirect_uris[-1]).text

    assert "Let an app without a name work with your forms?" in page
    assert "An app without a name will be able to" in page
    assert "It gave no name that can be shown." in page
    assert "the address it goes back to" not in page
    assert f"You will go back to {shown_host}." in page


def test_markup_in_a_name_is_escaped(flow: Flow) -> None:
    flow.client = register(flow.browser, client_name="<b>Evil</b> %(name)s")

    page = flow.ask().text

    assert "<b>Evil" not in page
    assert "&lt;b&gt;Evil&lt;/b&gt; %(name)s" in page


def test_it_can_be_neither_framed_nor_stored(flow: Flow) -> None:
    headers = flow.ask().headers

    assert headers["X-Frame-Options"] == "DENY"
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert "no-store" in headers["Cache-Control"]
    assert headers["Referrer-Policy"] == "same-origin"


def test_the_policy_does_not_restrict_form_actions(flow: Flow) -> None:
    policy = flow.ask().headers["Content-Security-Policy"]

    assert "form-action" not in policy
    assert "script-src 'self'" in policy


def test_a_post_without_csrf_token_grants_nothing(app: Flask, flow: Flow) -> None:
    flow.ask()

    response = flow.browser.post(flow.address(), data={"allow": "yes", "may": "forms:read"})

    assert (response.status_code, codes(app)) == (400, 0)


def test_only_ticked_scopes_are_granted(app: Flask, flow: Flow) -> None:
    body = flow.redeem(location(flow.decide(may=["forms:read", "offline_access"]))["code"]).json

    assert body is not None
    assert body["scope"] == "forms:read offline_access"
    assert grants(app)[0].scope == "forms:read offline_access"


def test_a_scope_that_was_not_requested_is_not_granted(flow: Flow) -> None:
    address = flow.address(scope="forms:read")

    code = location(flow.decide(address, may=["forms:read", "forms:write"]))["code"]

    body = flow.redeem(code).json
    assert body is not None
    assert body["scope"] == "forms:read"


@pytest.mark.parametrize("may", [[], ["offline_access"], ["forms:admin"]])
def test_with_nothing_ticked_the_page_asks_again(may: list[str], app: Flask, flow: Flow) -> None:
    page = flow.decide(may=may)

    assert page.status_code == 422
    assert "Leave at least one ticked" in page.text
    assert codes(app) == 0


def test_refusing_stores_nothing(app: Flask, flow: Flow) -> None:
    flow.decide(allow="no")

    assert (grants(app), codes(app)) == ([], 0)


@pytest.mark.parametrize("answer", ["", "maybe", "YES"])
def test_any_value_but_yes_is_a_refusal(answer: str, flow: Flow) -> None:
    assert location(flow.decide(allow=answer))["error"] == "access_denied"


def test_the_agent_may_not_publish_by_itself_unless_ticked(app: Flask, flow: Flow) -> None:
    flow.decide()

    assert [grant.attests_publish for grant in grants(app)] == [False]


def test_ticking_lets_the_agent_publish(app: Flask, flow: Flow) -> None:
    flow.decide(trust="on")

    assert [grant.attests_publish for grant in grants(app)] == [True]


def test_an_agent_that_only_reads_is_not_offered_to_publish(app: Flask, flow: Flow) -> None:
    address = flow.address(scope="forms:read")
    page = flow.browser.get(address).text

    flow.decide(address, trust="on")

    assert 'name="trust"' not in page
    assert [grant.attests_publish for grant in grants(app)] == [False]


def test_each_consent_is_a_separate_grant(app: Flask, flow: Flow) -> None:
    first = flow.connect()
    flow.connect(resource=MCP)

    assert len(grants(app)) == 2
    response = flow.machine.get(
        "/api/forms", headers={"Authorization": f"Bearer {first['access_token']}"}
    )
    assert response.status_code == 200


def test_consent_is_never_remembered(flow: Flow) -> None:
    flow.connect()

    assert flow.ask().status_code == 200


def test_a_signed_out_visitor_signs_in_and_returns(app: Flask, flow: Flow) -> None:
    with app.app_context():
        invites.create_account("bob@example.com", "Bob", PASSWORD, now=utc_now())
    leave(flow.browser)
    address = flow.address(state="a b&c", redirect_uri=None)

    sign_in_page = flow.browser.get(address)
    token = csrf_token(flow.browser.get(sign_in_page.location))
    form = {"email": "bob@example.com", "password": PASSWORD, "csrf_token": token}
    back = flow.browser.post(sign_in_page.location, data=form)

    assert back.location == address
    assert "signed in as Bob" in flow.browser.get(back.location).text


def test_a_post_without_a_session_signs_in_first(app: Flask, flow: Flow) -> None:
    token = csrf_token(flow.ask())
    with flow.browser.session_transaction() as session:
        del session["_user_id"]

    response = flow.browser.post(flow.address(), data={"allow": "yes", "csrf_token": token})

    assert response.location.startswith("/login?next=")
    assert codes(app) == 0


def test_the_page_lets_somebody_else_sign_in(flow: Flow) -> None:
    copied = flow.browser.get_cookie("askback_session", HOST)
    assert copied is not None

    response = flow.decide(allow="switch")
    flow.machine.set_cookie("askback_session", copied.value, domain=HOST)

    assert flow.machine.get("/connections").status_code == 303
    assert response.location.startswith("/login?next=")
    assert flow.ask().location.startswith("/login?next=")


def test_no_response_is_a_307(flow: Flow, browser: FlaskClient) -> None:
    assert {flow.decide().status_code, flow.decide(allow="no").status_code} == {303}
