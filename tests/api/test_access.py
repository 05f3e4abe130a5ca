"""Access: every operation without a token, with every set of scopes, and for other accounts."""

from itertools import combinations
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select
from werkzeug.test import TestResponse

from api.openapi.operations import Operation
from tests.api.conftest import ALL_SCOPES, Agent, Connect, refusal
from tests.api.provoking import OF_CONNECTIONS, Scene
from tests.factories import make_draft, make_form
from webapp.base.config import Settings
from webapp.base.database import db, utc_now
from webapp.base.vocabulary import RevokedReason, Scope
from webapp.oauth.models import OAuthGrant
from webapp.oauth.tokens import issue_token, revoke_grant
from webapp.records.accounts.models import Account

WITH_ID = [operation for operation in OF_CONNECTIONS if "{" in operation.path]
READ_FORMS = {"listService", "getService"}
SCOPE_SETS = [chosen for size in (0, 1, 3) for chosen in combinations(Scope, size)]
METADATA = 'resource_metadata="http://127.0.0.1:8000/.well-known/oauth-protected-resource/api"'


every_operation = pytest.mark.parametrize("operation", OF_CONNECTIONS, ids=lambda each: each.id)
every_operation_with_id = pytest.mark.parametrize("operation", WITH_ID, ids=lambda each: each.id)


def send(agent: Agent, operation: Operation, found_id: str) -> TestResponse:
    return Scene(agent, operation, draft_id=found_id, form_id=found_id).call()


def owned(app: Flask, operation: Operation, account_id: str) -> str:
    """The id of a draft or a form of the account, as this operation takes it."""
    with app.app_context():
        made: Any = (make_draft if "/drafts" in operation.path else make_form)(account_id)
        return str(made.id)


@every_operation
def test_without_a_token_the_response_is_a_challenge(
    operation: Operation, client: FlaskClient
) -> None:
    response = client.open(f"/api{operation.path}", method=operation.method)

    assert refusal(response) == (401, "authentication_required")
    expected = f'Bearer {METADATA}, scope="forms:read forms:write responses:read"'
    assert response.headers["WWW-Authenticate"] == expected
    assert response.headers["Cache-Control"] == "private, no-store"


@every_operation
@pytest.mark.parametrize("scopes", SCOPE_SETS, ids=" ".join)
def test_every_operation_needs_its_own_scope(
    operation: Operation, scopes: tuple[Scope, ...], connect: Connect, account: Account
) -> None:
    agent = connect(account.id, scopes)
    found_id = owned(agent.app, operation, account.id)

    response = send(agent, operation, found_id)

    needed = Scope.FORMS_WRITE if "/drafts" in operation.path else Scope.RESPONSES_READ
    needed = Scope.FORMS_READ if operation.id in READ_FORMS else needed
    if needed in scopes:
        assert response.status_code != 401
        return
    challenge = response.headers["WWW-Authenticate"]
    asked = sorted({*scopes, needed} - {Scope.OFFLINE_ACCESS})  # with those granted
    assert refusal(response) == (401, "authentication_required")
    assert 'error="insufficient_scope"' in challenge
    assert f'scope="{" ".join(asked)}"' in challenge


@every_operation_with_id
@pytest.mark.parametrize(
    "hostile",
    ["%00", "a%00b", "%FF", "%C0%80", "%ED%A0%80", "..", "%2e%2e", "'", "%25", "\N{SNOWMAN}"]
    + ["x" * 9999],
)
def test_a_malformed_id_is_not_found(operation: Operation, hostile: str, agent: Agent) -> None:
    code = "draft_not_found" if "/drafts" in operation.path else "form_not_found"

    assert refusal(send(agent, operation, hostile)) == (404, code)


@every_operation_with_id
@pytest.mark.parametrize("split", ["a%2Fb", "/", "%2F"])
def test_an_id_with_a_slash_matches_no_route(
    operation: Operation, split: str, agent: Agent
) -> None:
    assert refusal(send(agent, operation, split)) == (404, "not_found")


@every_operation
@pytest.mark.parametrize("name", ["access_token", "token"])
def test_a_token_in_the_address_is_refused(
    operation: Operation, name: str, agent: Agent, client: FlaskClient
) -> None:
    response = client.open(
        f"/api{operation.path}", method=operation.method, query_string={name: agent.token}
    )

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
