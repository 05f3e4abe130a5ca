"""Access: every operation without a token, with every set of scopes, and for other accounts."""

from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select
from werkzeug.test import TestResponse

from api.openapi.operations import Operation
from tests.api.conftest import ALL_SCOPES, Agent, Connect, refusal
from tests.api.provoking import OF_CONNECTIONS, send
from tests.databases import both_databases
from tests.factories import make_draft, make_form
from webapp.base.config import Settings
from webapp.base.database import db, utc_now
from webapp.base.vocabulary import RevokedReason, Scope
from webapp.oauth.models import OAuthGrant
from webapp.oauth.tokens import issue_token, revoke_grant
from webapp.records.accounts.models import Account

WITH_ID = [operation for operation in OF_CONNECTIONS if "{" in operation.path]
READ_FORMS = {"listService", "getService"}
METADATA = 'resource_metadata="http://127.0.0.1:8000/.well-known/oauth-protected-resource/api"'


every_operation = pytest.mark.parametrize("operation", OF_CONNECTIONS, ids=lambda each: each.id)


def owned(app: Flask, operation: Operation, account_id: str) -> str:
    """The id of a draft or a form of the account, as this operation takes it."""
    with app.app_context():
        made: Any = (make_draft if "/drafts" in operation.path else make_form)(account_id)
        return str(made.id)


@every_operation
def test_without_a_token_or_with_one_in_the_address_the_response_is_a_challenge(
    operation: Operation, agent: Agent, client: FlaskClient
) -> None:
    def call(**query: str) -> TestResponse:
        path = f"/api{operation.path}"
        response = client.open(path, method=operation.method, query_string=query)
        assert refusal(response) == (401, "authentication_required")
        assert response.headers["Cache-Control"] == "private, no-store"
        return response

    expected = f'Bearer {METADATA}, scope="forms:read forms:write responses:read"'
    assert call().headers["WWW-Authenticate"] == expected
    for name in ("access_token", "token"):
        found = call(**{name: agent.token}).headers["WWW-Authenticate"]
        assert 'error="invalid_request"' in found


@every_operation
def test_every_operation_needs_its_own_scope(
    operation: Operation, connect: Connect, account: Account
) -> None:
    needed = Scope.FORMS_WRITE if "/drafts" in operation.path else Scope.RESPONSES_READ
    needed = Scope.FORMS_READ if operation.id in READ_FORMS else needed
    agent = connect(account.id, [needed])

    assert send(agent, operation, owned(agent.app, operation, account.id)).status_code != 401
    for scopes in ([], [Scope.OFFLINE_ACCESS], {*Scope} - {needed}):
        response = send(connect(account.id, scopes), operation, "x")
        challenge = response.headers["WWW-Authenticate"]
        asked = sorted({*scopes, needed} - {Scope.OFFLINE_ACCESS})  # with those granted
        assert refusal(response) == (401, "authentication_required")
        assert 'error="insufficient_scope"' in challenge
        assert f'scope="{" ".join(asked)}"' in challenge


HOSTILE = ["%00", "a%00b", "%FF", "%C0%80", "%ED%A0%80", "..", "%2e%2e", "'", "%25", "\N{SNOWMAN}"]


@both_databases
@pytest.mark.parametrize("operation", WITH_ID, ids=lambda each: each.id)
def test_a_malformed_id_is_not_found_and_one_with_a_slash_no_route(
    operation: Operation, agent: Agent
) -> None:
    code = "draft_not_found" if "/drafts" in operation.path else "form_not_found"
    for hostile in (*HOSTILE, "x" * 9999):
        assert refusal(send(agent, operation, hostile)) == (404, code), hostile
    for split in ("a%2Fb", "/", "%2F"):
        assert refusal(send(agent, operation, split)) == (404, "not_found"), split


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
