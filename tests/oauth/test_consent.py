"""The consent page: what it shows, the grants it makes, its protection, and whether an agent may
publish on its creator's word in chat.
"""

import re

import pytest
from flask import Flask
from sqlalchemy import select

from tests.databases import both_databases
from tests.factories import make_draft
from tests.oauth.flow import (
    ALL_SCOPES,
    EMAIL,
    HOST,
    PASSWORD,
    REDIRECT,
    Flow,
    bearer,
    count,
    csrf_token,
    leave,
    location,
    register,
    ticked,
)
from tests.races.threads import together
from webapp.base.database import db, utc_now
from webapp.oauth.models import OAuthCode, OAuthGrant
from webapp.oauth.registration import create_client
from webapp.records.accounts import invites
from webapp.records.accounts.models import Account
from webapp.records.audit import AuditEvent

EVIL = "https://evil.example/cb"


def grants(app: Flask) -> list[OAuthGrant]:
    with app.app_context():
        return list(db.session.scalars(select(OAuthGrant)))


def test_it_names_client_account_and_redirect_host(app: Flask, flow: Flow) -> None:
    response = flow.ask()

    for said in (
        "Let Example agent work with your forms?",
        "Unverified app at app.example.",
        f"You are signed in as Ann Lindqvist, {EMAIL}.",
    ):
        assert said in response.text
    policy = response.headers["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in policy
    assert "form-action" not in policy  # it would hold for the redirect, too
    assert response.headers["X-Frame-Options"] == "DENY"
    with app.app_context():
        client_id, _ = create_client("Ours", [REDIRECT], now=utc_now())
    flow.client = {"client_id": client_id}
    assert "Registered by your administrator." in flow.ask().text


@pytest.mark.parametrize(
    ("metadata", "texts"),
    [
        ({"redirect_uris": ["http://127.0.0.1:4444/cb"]}, ["This app runs on your computer."]),
        (
            {"redirect_uris": ["google://claude.ai/oauth/callback"]},
            ["You will go back to a program on this device (google:).", "Unverified app."],
        ),
        (
            {"client_name": "Askback Verified"},
            ["Let app.example work with", "This is the address it goes back to"],
        ),
        (
            {"client_name": "Askback", "redirect_uris": ["https://claude.ai/cb", EVIL]},
            ["Let an app without a name work with", "You will go back to evil.example."],
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


@pytest.mark.parametrize("may", [[], ["offline_access"], ["forms:admin"]])
def test_with_nothing_ticked_the_page_asks_again(may: list[str], app: Flask, flow: Flow) -> None:
    page = flow.decide(may=may)

    assert (page.status_code, count(app, OAuthCode)) == (422, 0)
    assert ticked(page.text) == [box for box in may if box in ALL_SCOPES]


def test_a_post_without_csrf_token_grants_nothing(app: Flask, flow: Flow) -> None:
    response = flow.browser.post(flow.address(), data={"allow": "yes", "may": "forms:read"})

    assert (response.status_code, count(app, OAuthCode)) == (400, 0)


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


def token_of_consent(flow: Flow, scope: str = ALL_SCOPES, **form: str) -> str:
    """The token of one consent; `trust="on"` lets the agent publish."""
    code = location(flow.decide(flow.address(scope=scope), **form))["code"]
    token: str = flow.redeem(code).json["access_token"]
    return token


def publishes(app: Flask, creator: Account, token: str) -> bool:
    """Whether a draft that nobody confirmed can be published with the token."""
    with app.app_context():
        path = f"/api/drafts/{make_draft(creator.id).id}/publish"
    status = app.test_client().post(path, headers=bearer(token)).status_code
    assert status in {200, 409}
    return status == 200


def trust_events(app: Flask) -> list[str]:
    of_trust = AuditEvent.kind.startswith("trust_")
    with app.app_context():
        return list(db.session.scalars(select(AuditEvent.kind).where(of_trust)))


NO: dict[str, str] = {}
YES = {"trust": "on"}


@pytest.mark.parametrize(
    ("first", "second", "trusted", "kinds"),
    [
        (YES, NO, False, ["trust_ended"]),
        (NO, YES, True, ["trust_given"]),
        (YES, YES, True, []),
        (YES, YES | {"may": "forms:read"}, False, ["trust_ended"]),
    ],
)
def test_the_newest_consent_says_whether_the_agent_may_publish(
    first: dict[str, str],
    second: dict[str, str],
    kinds: list[str],
    app: Flask,
    creator: Account,
    flow: Flow,
    *,
    trusted: bool,
) -> None:
    old = token_of_consent(flow, **first)
    token_of_consent(flow, **second)

    assert publishes(app, creator, old) == trusted
    assert trust_events(app) == kinds
    box = re.search('<input[^>]* name="trust"[^>]*>', flow.browser.get("/connections").text)
    assert box is not None
    assert (" checked" in box[0]) == trusted


def test_other_clients_and_consents_that_did_not_ask_keep_the_trust(
    app: Flask, creator: Account, flow: Flow
) -> None:
    old = token_of_consent(flow, trust="on")
    token_of_consent(flow, scope="forms:read")
    token_of_consent(flow.other(client_name="Another"))

    assert publishes(app, creator, old)
    assert trust_events(app) == []


@both_databases
def test_concurrent_consents_leave_one_trust_for_all_grants(app: Flask, flow: Flow) -> None:
    csrf = csrf_token(flow.ask())
    cookie = flow.browser.get_cookie("askback_session", domain=HOST)
    assert cookie is not None

    def decide(form: dict[str, str]) -> int:
        browser = app.test_client()
        browser.set_cookie("askback_session", cookie.value, domain=HOST)
        sent = {"csrf_token": csrf, "allow": "yes", "may": ALL_SCOPES.split()} | form
        return browser.post(flow.address(), data=sent).status_code

    statuses = together(app, [lambda form=form: decide(form) for form in [YES, NO] * 3])

    assert statuses == [303] * 6
    assert len({grant.attests_publish for grant in grants(app)}) == 1
