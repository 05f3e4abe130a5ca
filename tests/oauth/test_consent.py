"""The consent page: what it shows, the grants it makes, and its protection."""

import pytest
from flask import Flask
from sqlalchemy import func, select

from tests.oauth.flow import EMAIL, HOST, MCP, PASSWORD, Flow, csrf_token, leave, register
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


def test_it_names_client_account_and_redirect_host(flow: Flow) -> None:
    response = flow.ask()

    assert "Let Example agent work with your forms?" in response.text
    assert "Unverified app at app.example." in response.text
    assert f"You are signed in as Ann Lindqvist, {EMAIL}." in response.text
    assert "You will go back to app.example." in response.text
    assert "runs on your computer" not in response.text
    policy = response.headers["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in policy
    assert "script-src 'self'" in policy
    assert "form-action" not in policy  # it would hold for the redirect, too
    assert response.headers["X-Frame-Options"] == "DENY"
    assert "no-store" in response.headers["Cache-Control"]
    assert response.headers["Referrer-Policy"] == "same-origin"


def test_a_client_of_the_operator_is_marked_as_such(app: Flask, flow: Flow) -> None:
    with app.app_context():
        client_id, _ = create_client("Ours", [flow.client["redirect_uris"][0]], now=utc_now())
    flow.client = {"client_id": client_id}

    assert "Registered by your administrator." in flow.ask().text


@pytest.mark.parametrize(
    ("metadata", "texts"),
    [
        ({"redirect_uris": ["http://127.0.0.1:4444/cb"]}, ["This app runs on your computer."]),
        ({"redirect_uris": ["https://localhost:4444/cb"]}, ["This app runs on your computer."]),
        ({"redirect_uris": ["http://[::1]:4/cb"]}, ["Unverified app on your computer."]),
        *(
            (
                {"redirect_uris": [f"{scheme}://claude.ai/oauth/callback"]},
                [f"You will go back to a program on this device ({scheme}:).", "Unverified app."],
            )
            for scheme in ("cursor", "google", "askback", "com.example.app")
        ),
        (
            {"client_name": "Askback Verified"},
            ["Let app.example work with", "This is the address it goes back to"],
        ),
        (
            {
                "client_name": "Askback",
                "redirect_uris": ["https://claude.ai/cb", "https://evil.example/cb"],
            },
            ["Let an app without a name work with", "You will go back to evil.example."],
        ),
        (
            {"client_name": "Askback", "redirect_uris": ["claude.ai:/cb"]},
            ["It gave no name that can be shown.", "a program on this device (claude.ai:)."],
        ),
        ({"client_name": "<b>Evil</b> %(name)s"}, ["&lt;b&gt;Evil&lt;/b&gt; %(name)s"]),
    ],
)
def test_a_client_is_shown_as_what_it_is(
    metadata: dict[str, object], texts: list[str], flow: Flow
) -> None:
    flow.client = register(flow.browser, **metadata)

    page = flow.ask(redirect_uri=flow.client["redirect_uris"][-1]).text

    assert [text for text in texts if text not in page] == []
    assert "<b>Evil" not in page


def test_a_post_without_csrf_token_grants_nothing(app: Flask, flow: Flow) -> None:
    flow.ask()

    response = flow.browser.post(flow.address(), data={"allow": "yes", "may": "forms:read"})

    assert (response.status_code, codes(app)) == (400, 0)


@pytest.mark.parametrize(
    ("scope", "may", "granted"),
    [
        (None, ["forms:read", "offline_access"], "forms:read offline_access"),
        ("forms:read", ["forms:read", "forms:write"], "forms:read"),
    ],
)
def test_only_scopes_that_were_asked_for_and_ticked_are_granted(
    scope: str | None, may: list[str], granted: str, app: Flask, flow: Flow
) -> None:
    assert flow.connect(scope=scope, may=may)["scope"] == granted
    assert grants(app)[0].scope == granted


@pytest.mark.parametrize("may", [[], ["offline_access"], ["forms:admin"]])
def test_with_nothing_ticked_the_page_asks_again(may: list[str], app: Flask, flow: Flow) -> None:
    assert (flow.decide(may=may).status_code, codes(app)) == (422, 0)


def test_refusing_stores_nothing(app: Flask, flow: Flow) -> None:
    flow.decide(allow="no")

    assert (grants(app), codes(app)) == ([], 0)


@pytest.mark.parametrize(
    ("scope", "form", "offered", "trusted"),
    [
        ("forms:write", {}, True, False),
        ("forms:write", {"trust": "on"}, True, True),
        ("forms:read", {"trust": "on"}, False, False),
    ],
)
def test_an_agent_may_publish_by_itself_where_that_was_offered_and_ticked(
    scope: str,
    form: dict[str, str],
    offered: bool,  # noqa: FBT001
    trusted: bool,  # noqa: FBT001
    app: Flask,
    flow: Flow,
) -> None:
    address = flow.address(scope=scope)

    flow.decide(address, **form)

    assert ('name="trust"' in flow.browser.get(address).text) == offered
    assert [grant.attests_publish for grant in grants(app)] == [trusted]


def test_each_consent_is_asked_for_and_a_separate_grant(app: Flask, flow: Flow) -> None:
    first = flow.connect()
    assert flow.ask().status_code == 200
    flow.connect(resource=MCP)

    assert len(grants(app)) == 2
    assert flow.opens(first)


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
