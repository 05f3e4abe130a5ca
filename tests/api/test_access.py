"""Access: every operation without a token, with every set of scopes, and for other accounts."""

from itertools import combinations
from typing import Any, NamedTuple

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select
from werkzeug.test import TestResponse

from api.openapi.operations import EXTENSIONS, OPERATIONS
from tests.api.conftest import ALL_SCOPES, Agent, Connect, refusal
from tests.factories import make_account, make_draft, make_form
from tests.webhook_receiver import SECRET
from webapp.base.config import Settings
from webapp.base.database import db, utc_now
from webapp.base.vocabulary import RevokedReason, Scope
from webapp.oauth.models import OAuthGrant
from webapp.oauth.tokens import issue_token, revoke_grant
from webapp.records.accounts.models import Account


class Call(NamedTuple):
    """An operation of the contract; `{}` stands for the id of a draft or a form."""

    method: str
    path: str
    scope: Scope
    sent: dict[str, Any] | None = None

    def send(self, agent: Agent, found_id: str) -> TestResponse:
        body = {"json": self.sent or {}} if self.method != "GET" else {}
        return agent.call(self.method, self.path.format(found_id), **body)

    def owned(self, app: Flask, account_id: str) -> str:
        """The id of an object of the account that this operation takes."""
        with app.app_context():
            made: Any = (make_draft if "/drafts" in self.path else make_form)(account_id)
            return str(made.id)


CALLS = {
    "createServiceDraft": Call("POST", "/drafts", Scope.FORMS_WRITE),
    "getServiceDraft": Call("GET", "/drafts/{}", Scope.FORMS_WRITE),
    "getServiceDraftReview": Call("GET", "/drafts/{}/review", Scope.FORMS_WRITE),
    "updateServiceDraft": Call("PATCH", "/drafts/{}", Scope.FORMS_WRITE),
    "getServiceDraftFollowUps": Call("GET", "/drafts/{}/follow-ups", Scope.FORMS_WRITE),
    "replaceServiceDraftFollowUps": Call(
        "PUT", "/drafts/{}/follow-ups", Scope.FORMS_WRITE, {"followUps": {"1": "Why?"}}
    ),
    "publishServiceDraft": Call("POST", "/drafts/{}/publish", Scope.FORMS_WRITE),
    "listService": Call("GET", "/forms", Scope.FORMS_READ),
    "getService": Call("GET", "/forms/{}", Scope.FORMS_READ),
    "getServiceResponses": Call("GET", "/forms/{}/responses", Scope.RESPONSES_READ),
    "createSubscription": Call(
        "POST",
        "/forms/{}/subscriptions",
        Scope.RESPONSES_READ,
        {"url": "https://localhost/", "secret": SECRET},  # which leads inside: nobody is asked
    ),
    "listSubscriptions": Call("GET", "/forms/{}/subscriptions", Scope.RESPONSES_READ),
    "deleteSubscription": Call("DELETE", "/forms/{}/subscriptions/sub_1", Scope.RESPONSES_READ),
    "getAttachment": Call("GET", "/forms/{}/attachments/att_1", Scope.RESPONSES_READ),
    "createAgentToken": Call("POST", "/forms/{}/agent-tokens", Scope.RESPONSES_READ),
}
WITH_ID = {name: call for name, call in CALLS.items() if "{}" in call.path}
SCOPE_SETS = [chosen for size in range(5) for chosen in combinations(Scope, size)]
METADATA = 'resource_metadata="http://127.0.0.1:8000/.well-known/oauth-protected-resource/api"'

every_call = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
every_call_with_id = pytest.mark.parametrize("call", WITH_ID.values(), ids=WITH_ID.keys())


def test_every_operation_is_covered() -> None:
    assert CALLS.keys() == {
        operation.id for operation in (*OPERATIONS, *EXTENSIONS) if operation.scope
    }


@every_call
def test_without_a_token_the_response_is_a_challenge(call: Call, client: FlaskClient) -> None:
    response = client.open(f"/api{call.path}", method=call.method)

    assert refusal(response) == (401, "authentication_required")
    expected = f'Bearer {METADATA}, scope="forms:read forms:write responses:read"'
    assert response.headers["WWW-Authenticate"] == expected
    assert response.headers["Cache-Control"] == "private, no-store"


@every_call
@pytest.mark.parametrize("scopes", SCOPE_SETS, ids=" ".join)
def test_every_operation_needs_its_own_scope(
    call: Call, scopes: tuple[Scope, ...], connect: Connect, account: Account
) -> None:
    agent = connect(account.id, scopes)
    found_id = call.owned(agent.app, account.id)

    response = call.send(agent, found_id)

    if call.scope in scopes:
        assert response.status_code != 401
        return
    challenge = response.headers["WWW-Authenticate"]
    asked = sorted({*scopes, call.scope} - {Scope.OFFLINE_ACCESS})  # with those granted
    assert refusal(response) == (401, "authentication_required")
    assert 'error="insufficient_scope"' in challenge
    assert f'scope="{" ".join(asked)}"' in challenge


@every_call_with_id
def test_objects_of_other_accounts_are_not_found(call: Call, agent: Agent) -> None:
    with agent.app.app_context():
        stranger = make_account()
    foreign = call.owned(agent.app, stranger.id)

    theirs = call.send(agent, foreign)
    nobodys = call.send(agent, foreign[:4] + "0" * 24)

    assert theirs.status_code == nobodys.status_code == 404
    assert theirs.json == nobodys.json


@every_call_with_id
@pytest.mark.parametrize(
    "hostile",
    ["%00", "a%00b", "%FF", "%C0%80", "%ED%A0%80", "..", "%2e%2e", "'", "%25", "\N{SNOWMAN}"]
    + ["x" * 9999],
)
def test_a_malformed_id_is_not_found(call: Call, hostile: str, agent: Agent) -> None:
    code = "draft_not_found" if "/drafts" in call.path else "form_not_found"

    assert refusal(call.send(agent, hostile)) == (404, code)


@every_call_with_id
@pytest.mark.parametrize("split", ["a%2Fb", "/", "%2F"])
def test_an_id_with_a_slash_matches_no_route(call: Call, split: str, agent: Agent) -> None:
    assert refusal(call.send(agent, split)) == (404, "not_found")


@every_call
@pytest.mark.parametrize("name", ["access_token", "token"])
def test_a_token_in_the_address_is_refused(
    call: Call, name: str, agent: Agent, client: FlaskClient
) -> None:
    response = client.open(f"/api{call.path}", method=call.method, query_string={name: agent.token})

    assert refusal(response) == (401, "authentication_required")
    assert 'error="invalid_request"' in response.headers["WWW-Authenticate"]


@pytest.mark.parametrize(
    "header",
    ["Basic YTpi", "Bearer", "Bearer ", "Bearer x", "{}", "Token {}", "Basic {}", "\xff"]
    + ["Bearer askat_" + "x" * 43],
)
def test_a_foreign_or_malformed_token_is_refused(header: str, agent: Agent) -> None:
    response = agent.get("/forms", headers={"Authorization": header.format(agent.token)})

    assert refusal(response) == (401, "authentication_required")
    assert 'error="invalid_token"' in response.headers["WWW-Authenticate"]


def test_a_token_for_mcp_does_not_open_the_api(
    app: Flask, settings: Settings, account: Account
) -> None:
    with app.app_context():
        token = issue_token(account.id, ALL_SCOPES, settings.mcp_url, now=utc_now())

    response = Agent(app, token).get("/forms")

    assert refusal(response) == (401, "authentication_required")


def test_a_disconnected_agent_is_refused_at_once(agent: Agent) -> None:
    before = agent.get("/forms").status_code
    with agent.app.app_context():
        grant_id = db.session.scalars(select(OAuthGrant.id)).one()
        revoke_grant(grant_id, RevokedReason.DISCONNECTED, now=utc_now())
        db.session.commit()

    assert (before, agent.get("/forms").status_code) == (200, 401)


def test_the_api_neither_sets_nor_reads_cookies(agent: Agent) -> None:
    response = agent.get("/forms")

    assert "Set-Cookie" not in response.headers
    assert "Cookie" not in response.headers.get("Vary", "")
