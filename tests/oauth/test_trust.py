"""Whether an agent may publish on its creator's word in chat: the newest consent says."""

import re

import pytest
from flask import Flask
from sqlalchemy import select

from tests.databases import both_databases
from tests.factories import make_draft
from tests.oauth.flow import ALL_SCOPES, Flow, bearer, csrf_token, location
from tests.races.threads import together
from webapp.base.database import db
from webapp.oauth.models import OAuthGrant
from webapp.records.accounts.models import Account
from webapp.records.audit import AuditEvent


def consent(flow: Flow, scope: str = ALL_SCOPES, **form: str) -> str:
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
    with app.app_context():
        query = select(AuditEvent.kind)
        kinds = db.session.scalars(query.where(AuditEvent.kind.startswith("trust_")))
        return list(kinds)


NO: dict[str, str] = {}
YES = {"trust": "on"}


@both_databases
@pytest.mark.parametrize(
    ("first", "second", "trusted", "kinds"),
    [
        (YES, NO, False, ["trust_ended"]),
        (NO, YES, True, ["trust_given"]),
        (YES, YES, True, []),
        (NO, NO, False, []),
        (YES, YES | {"may": "forms:read"}, False, ["trust_ended"]),
    ],
)
def test_the_newest_consent_says_whether_the_agent_may_publish(
    first: dict[str, str],
    second: dict[str, str],
    trusted: bool,  # noqa: FBT001
    kinds: list[str],
    app: Flask,
    creator: Account,
    flow: Flow,
) -> None:
    old = consent(flow, **first)
    consent(flow, **second)

    assert publishes(app, creator, old) == trusted
    assert trust_events(app) == kinds
    box = re.search('<input[^>]* name="trust"[^>]*>', flow.browser.get("/connections").text)
    assert box is not None
    assert (" checked" in box[0]) == trusted


def test_other_clients_and_consents_that_did_not_ask_keep_the_trust(
    app: Flask, creator: Account, flow: Flow
) -> None:
    old = consent(flow, trust="on")
    consent(flow, scope="forms:read")
    consent(flow.other(client_name="Another"))

    assert publishes(app, creator, old)
    assert trust_events(app) == []


@both_databases
def test_concurrent_consents_leave_one_trust_for_all_grants(
    app: Flask, creator: Account, flow: Flow
) -> None:
    address = flow.address()
    csrf = csrf_token(flow.ask())
    cookie = flow.browser.get_cookie("askback_session", domain="127.0.0.1")
    assert cookie is not None

    def decide(form: dict[str, str]) -> int:
        browser = app.test_client()
        browser.set_cookie("askback_session", cookie.value, domain="127.0.0.1")
        sent = {"csrf_token": csrf, "allow": "yes", "may": ALL_SCOPES.split()} | form
        return browser.post(address, data=sent).status_code

    decisions = [YES, NO] * 3
    statuses = together(app, [lambda form=form: decide(form) for form in decisions])

    with app.app_context():
        stored = set(db.session.scalars(select(OAuthGrant.attests_publish)))
    assert (statuses, len(stored)) == ([303] * 6, 1)
