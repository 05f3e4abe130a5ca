"""Agent tokens: how they are made, who is let in, what a page holds, and how it is waited for."""

from collections.abc import Callable
from contextlib import ExitStack
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select
from werkzeug.test import TestResponse

from tests.api.conftest import Agent, Connect, agent_token, at_once, refusal, while_waiting
from tests.databases import both_databases
from tests.factories import make_account, make_answer, make_form, make_response
from webapp.answers import answering, trash
from webapp.base.database import db, utc_now
from webapp.base.vocabulary import Scope
from webapp.drafts import agent_tokens
from webapp.oauth.models import OAuthGrant
from webapp.records import forms
from webapp.records.accounts.models import Account
from webapp.records.audit import AuditEvent
from webapp.records.forms import AgentToken
from webapp.web import wakeups

CHALLENGE = 'Bearer realm="agent"'


@pytest.fixture
def reader(app: Flask, form: Any) -> Agent:
    return Agent(app, agent_token(app, form.account_id, form.id).token)


def path(form: Any, **query: object) -> str:
    asked = "&".join(f"{name}={value}" for name, value in query.items())
    return f"/agent/asks/{form.id}/answers" + (f"?{asked}" if asked else "")


@both_databases
def test_a_page_has_every_answer_and_completion_once(
    app: Flask, reader: Agent, agent: Agent, form: Any
) -> None:
    nothing = reader.get(path(form)).json
    with app.app_context():
        make_answer(form, "a" * 32, 0, "First")
        make_answer(form, "b" * 32, 0, "Second")
        make_answer(form, "a" * 32, 1, "Third")
        answering.complete_response(form.share_token, "b" * 32, responder_name="Kim", now=utc_now())
    by_rest = agent.get(f"/forms/{form.id}/responses").json
    expected = [
        answer | {"sessionId": session["sessionId"]}
        for session in by_rest["responses"]
        for answer in session["answers"]
    ]
    (sent,) = (each for each in by_rest["responses"] if each["submittedAt"])

    page = reader.get(path(form)).json
    rest = reader.get(path(form, since=page["nextSince"])).json

    assert (nothing["answers"], nothing["completed"], nothing["nextSince"]) == ([], [], None)
    assert (page["askId"], page["status"], page["truncated"]) == (form.id, "published", False)
    assert [answer["answerText"] for answer in page["answers"]] == ["First", "Second", "Third"]
    assert page["answers"] == sorted(expected, key=lambda each: each["respondedAt"])
    assert page["completed"] == [{name: sent[name] for name in ("sessionId", "submittedAt")}]
    assert page["nextSince"] == by_rest["nextSince"] == sent["submittedAt"]
    assert (rest["answers"], rest["completed"]) == ([], [])
    assert rest["nextSince"] == page["nextSince"]


def test_a_token_that_is_none_or_in_the_address_is_invalid(
    app: Flask, form: Any, reader: Agent
) -> None:
    none = app.test_client().get(f"/api{path(form)}")
    assert refusal(none) == (401, "authentication_required")
    assert none.headers["WWW-Authenticate"] == CHALLENGE

    for scheme in ("Bearer {}", "Bearer askag_", "Bearer", "Bearer \xff", "Basic {}", "{}"):
        headers = {"Authorization": scheme.format(f"askag_{'0' * 64}")}
        assert_invalid(reader.get(path(form), headers=headers))
    for name in ("token", "access_token", "key"):  # even beside a good one
        assert_invalid(reader.get(path(form, **{name: reader.token})))


def assert_invalid(answer: TestResponse) -> None:
    assert refusal(answer) == (401, "authentication_required")
    assert answer.headers["WWW-Authenticate"].startswith(f'{CHALLENGE}, error="invalid_token"')
    assert "resource_metadata" not in answer.headers["WWW-Authenticate"]
    assert answer.headers["Cache-Control"] == "private, no-store"


def test_an_access_token_is_no_agent_token_and_the_other_way_round(
    agent: Agent, reader: Agent, form: Any
) -> None:
    refused = agent.get(path(form))

    assert_invalid(refused)
    assert "holds no agent token" in refused.json["message"]
    for other in ("/forms", f"/forms/{form.id}", f"/forms/{form.id}/responses"):
        assert refusal(reader.get(other)) == (401, "authentication_required")


@both_databases
def test_a_dead_token_is_invalid(app: Flask, form: Any) -> None:
    for days, message in ((-1, "has expired."), (1, "was revoked.")):
        made = agent_token(app, form.account_id, form.id, timedelta(days=days))
        reader = Agent(app, made.token)
        with app.app_context():
            if days == 1:
                revoke(reader, form)
        answer = reader.get(path(form))
        assert_invalid(answer)
        assert answer.json["message"] == f"This agent token {message}"


@both_databases
def test_any_other_ask_is_not_found_in_the_same_words(
    app: Flask, reader: Agent, form: Any, account: Account
) -> None:
    with app.app_context():
        others = [make_form(account.id), make_form(make_account().id)]
        trashed = make_form(account.id)
        trash.delete_form(account.id, trashed.id, now=utc_now())
    of_account = Agent(app, agent_token(app, account.id, None).token)

    refused = [reader.get(path(other)) for other in others]
    refused += [reader.get("/agent/asks/frm_unknown/answers"), of_account.get(path(trashed))]
    refused += [of_account.get(path(others[1]))]

    assert {refusal(answer) for answer in refused} == {(404, "form_not_found")}
    assert len({answer.data for answer in refused}) == 1
    for hostile in ("a%00b", "%ff", "é"):
        assert reader.get(f"/agent/asks/{hostile}/answers").status_code == 404
    for own in (form, others[0]):
        assert of_account.get(path(own)).json["askId"] == own.id


def revoke(reader: Agent, form: Any) -> None:
    found = agent_tokens.find_agent_token(reader.token)
    agent_tokens.revoke_agent_token(form.account_id, found.id, now=utc_now())


HAPPENS: dict[str, Callable[[Any, Agent], object]] = {
    "answered": lambda form, _: make_answer(form, "a" * 32, text="Here"),
    "closed": lambda form, _: forms.close_form(form.account_id, form.id, now=utc_now()),
    "deleted": lambda form, _: trash.delete_form(form.account_id, form.id, now=utc_now()),
    "revoked": lambda form, reader: revoke(reader, form),
}


@both_databases
@pytest.mark.usefixtures("frequent_looks")
@pytest.mark.parametrize("how", HAPPENS)
def test_what_happens_ends_a_wait(app: Flask, reader: Agent, form: Any, how: str) -> None:
    def happens() -> None:
        with app.app_context():
            HAPPENS[how](form, reader)

    answer = while_waiting(app, partial(reader.get, path(form, wait=25)), happens)

    if how == "revoked":
        assert_invalid(answer)
    elif how == "deleted":
        assert refusal(answer) == (404, "form_not_found")
    else:
        assert answer.json["status"] == ("closed" if how == "closed" else "published")
        assert len(answer.json["answers"]) == (how == "answered")


def test_what_is_there_ends_a_wait_and_so_does_its_time_or_too_many_others(
    app: Flask, reader: Agent, form: Any
) -> None:
    with app.app_context():
        make_response(form)
    there = at_once(partial(reader.get, path(form, wait=25))).json
    over = at_once(partial(reader.get, path(form, wait=1, since=there["nextSince"]))).json
    with ExitStack() as taken:
        for _ in range(wakeups.OF_ACCOUNT):
            taken.enter_context(app.extensions["wakeups"].slot(form.account_id))
        beyond = at_once(partial(reader.get, path(form, wait=25, since=there["nextSince"])))

    assert len(there["completed"]) == 1
    assert (over["answers"], over["nextSince"]) == ([], there["nextSince"])
    assert (beyond.status_code, beyond.headers["Retry-After"]) == (200, "2")


def tokens(form: Any) -> str:
    return f"/forms/{form.id}/agent-tokens"


def stored(app: Flask) -> AgentToken:
    with app.app_context():
        return db.session.scalars(select(AgentToken)).one()


def test_a_made_token_reads_its_form_as_long_as_asked(
    agent: Agent, form: Any, account: Account
) -> None:
    before = utc_now()
    with agent.app.app_context():
        other = make_form(account.id)
    answer = agent.post(tokens(form), json={"label": "Script", "expiresInSeconds": 600.0})
    row, reader = stored(agent.app), Agent(agent.app, answer.json["token"])

    assert (answer.status_code, answer.json["label"]) == (201, "Script")
    assert answer.headers["Cache-Control"] == "private, no-store"
    assert answer.json["answersUrl"] == f"http://127.0.0.1:8000/api/agent/asks/{form.id}/answers"
    assert 0 <= (row.expires_at - before).total_seconds() - 600 < 9
    assert (row.label, row.form_id, row.last_used_at) == ("Script", form.id, None)
    assert [reader.get(path(each)).status_code for each in (form, other)] == [200, 404]
    with agent.app.app_context():
        made = select(AuditEvent).where(AuditEvent.kind == "agent_token_made")
        event = db.session.scalars(made).one()
    assert (event.actor, event.subject) == ("agent", form.id)
    assert event.client_name == "Askback command line"
    usual = agent.post(tokens(form), json={}).json
    assert usual["label"] == ""
    assert timedelta(days=6) < datetime.fromisoformat(usual["expiresAt"]) - before


def test_it_never_outlives_its_connection(connect: Connect, form: Any, account: Account) -> None:
    agent = connect(account.id, [Scope.RESPONSES_READ])  # without offline access: an hour
    made = agent.post(tokens(form), json={})

    with agent.app.app_context():
        grant = db.session.scalars(select(OAuthGrant)).one()

    assert stored(agent.app).expires_at == grant.expires_at < utc_now() + timedelta(hours=2)
    assert made.json["expiresAt"][:19] == grant.expires_at.isoformat()[:19]


BAD_WISHES: list[tuple[dict[str, Any], str, str]] = [
    ({"expiresInSeconds": 604_801}, "validation_failed", "expiresInSeconds: is 604801"),
    ({"expiresInSeconds": 59}, "validation_failed", "expiresInSeconds: is 59"),
    ({"label": "x" * 81}, "validation_failed", "label: has 81 characters; at most 80"),
    ({"label": "a\nb"}, "invalid_text", "label: contains the control character U+000A"),
]


def test_a_bad_wish_makes_no_token(agent: Agent, form: Any) -> None:
    for body, code, begins in BAD_WISHES:
        answer = agent.post(tokens(form), json=body)
        assert refusal(answer) == (400, code)
        assert answer.json["message"].startswith(begins)
    with agent.app.app_context():
        assert db.session.scalars(select(AgentToken)).all() == []
