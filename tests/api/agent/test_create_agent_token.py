"""A connected agent makes an agent token."""

from datetime import timedelta
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select

from tests.api.conftest import Agent, Connect, refusal
from tests.factories import make_account, make_form
from webapp.base.database import db, utc_now
from webapp.base.vocabulary import Scope
from webapp.oauth import connections
from webapp.oauth.models import OAuthGrant
from webapp.records.accounts.models import Account
from webapp.records.audit import AuditEvent
from webapp.records.forms import AgentToken

limits = pytest.mark.settings


def path(form: Any) -> str:
    return f"/forms/{form.id}/agent-tokens"


def stored(app: Flask) -> AgentToken:
    with app.app_context():
        return db.session.scalars(select(AgentToken)).one()


def test_it_reads_the_form_and_nothing_else(agent: Agent, form: Any, account: Account) -> None:
    with agent.app.app_context():
        other = make_form(account.id)
    answer = agent.post(path(form), json={"label": "Script", "expiresInSeconds": 600})
    reader = Agent(agent.app, answer.json["token"])

    assert answer.status_code == 201
    assert answer.headers["Cache-Control"] == "private, no-store"
    assert answer.json["answersUrl"] == f"http://127.0.0.1:8000/api/agent/asks/{form.id}/answers"
    assert reader.get(f"/agent/asks/{form.id}/answers").status_code == 200
    assert reader.get(f"/agent/asks/{other.id}/answers").status_code == 404


@pytest.mark.parametrize(
    ("asked", "seconds", "label"),
    [({"label": "Script", "expiresInSeconds": 600.0}, 600, "Script"), ({}, 604_800, "")],
)
def test_it_lives_as_long_as_asked(
    agent: Agent, form: Any, asked: dict[str, Any], seconds: int, label: str
) -> None:
    before = utc_now()
    assert agent.post(path(form), json=asked).json["label"] == label

    row = stored(agent.app)

    assert 0 <= (row.expires_at - before).total_seconds() - seconds < 9
    assert (row.label, row.form_id, row.last_used_at) == (label, form.id, None)
    with agent.app.app_context():
        made = select(AuditEvent).where(AuditEvent.kind == "agent_token_made")
        event = db.session.scalars(made).one()
    assert (event.actor, event.subject) == ("agent", form.id)
    assert event.client_name == "Askback command line"


def test_it_never_outlives_its_connection(connect: Connect, form: Any, account: Account) -> None:
    agent = connect(account.id, [Scope.RESPONSES_READ])  # without offline access: an hour
    made = agent.post(path(form), json={})

    with agent.app.app_context():
        grant = db.session.scalars(select(OAuthGrant)).one()

    assert stored(agent.app).expires_at == grant.expires_at < utc_now() + timedelta(hours=2)
    assert made.json["expiresAt"][:19] == grant.expires_at.isoformat()[:19]


def test_it_ends_with_its_connection(agent: Agent, form: Any, account: Account) -> None:
    reader = Agent(agent.app, agent.post(path(form), json={}).json["token"])
    before = reader.get(f"/agent/asks/{form.id}/answers").status_code

    with agent.app.app_context():
        connections.disconnect_all(account.id, now=utc_now())

    assert (before, reader.get(f"/agent/asks/{form.id}/answers").status_code) == (200, 401)


@pytest.mark.parametrize(
    ("body", "code", "begins"),
    [
        ({"expiresInSeconds": 604_801}, "validation_failed", "expiresInSeconds: is 604801"),
        ({"expiresInSeconds": 59}, "validation_failed", "expiresInSeconds: is 59"),
        ({"expiresInSeconds": True}, "validation_failed", "expiresInSeconds: is true"),
        ({"expiresInSeconds": "600"}, "validation_failed", "expiresInSeconds: is "),
        ({"expiresInSeconds": 600.5}, "validation_failed", "expiresInSeconds: is 600.5"),
        ({"expiresInSeconds": None}, "validation_failed", "expiresInSeconds: is null"),
        ({"label": "x" * 81}, "validation_failed", "label: has 81 characters; at most 80"),
        ({"label": 7}, "validation_failed", "label: is 7"),
        ({"label": "a\nb"}, "invalid_text", "label: contains the control character U+000A"),
        ({"label": "a\u202eb"}, "invalid_text", "label: contains the text-direction character"),
        ({"formId": "x"}, "unknown_field", "formId: is not a field"),
        ([], "validation_failed", "body: is an array; an object is needed"),
    ],
)
def test_a_bad_wish_makes_no_token(
    agent: Agent, form: Any, body: object, code: str, begins: str
) -> None:
    answer = agent.post(path(form), json=body)

    assert refusal(answer) == (400, code)
    assert answer.json["message"].startswith(begins)
    with agent.app.app_context():
        assert db.session.scalars(select(AgentToken)).all() == []


@limits(limit_agent_tokens="2/hour")
def test_the_agents_of_an_account_share_a_limit(
    agent: Agent, connect: Connect, form: Any, account: Account
) -> None:
    with agent.app.app_context():
        stranger = make_account()
        theirs = make_form(stranger.id)
    agents = [agent, connect(account.id), connect(account.id)]

    assert agent.post("/forms/x/agent-tokens", json={}).status_code == 404
    answers = [each.post(path(form), json={}) for each in agents]
    strangers = connect(stranger.id).post(path(theirs), json={})

    assert [answer.status_code for answer in answers] == [201, 201, 429]
    assert refusal(answers[-1]) == (429, "rate_limited")
    assert "the limit of new agent tokens is 2 per hour" in answers[-1].json["message"]
    assert int(answers[-1].headers["Retry-After"]) > 3000
    assert strangers.status_code == 201
