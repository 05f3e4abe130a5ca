"""Failures that belong to no single operation: the router's, the storage's and our own."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import event

from tests.api.conftest import ALL_SCOPES, Agent, refusal
from tests.databases import both_databases
from tests.factories import make_account
from webapp.app.factory import create_app
from webapp.base.config import Settings
from webapp.base.database import db, utc_now
from webapp.oauth.tokens import issue_token
from webapp.records import forms


@pytest.mark.parametrize(
    "path", ["", "/", "/nothing", "/drafts/", "/forms/", "/forms//responses", "//forms", "/r/x"]
)
def test_an_unknown_address_is_answered_in_four_fields(path: str, client: FlaskClient) -> None:
    response = client.get(f"/api{path}")

    assert refusal(response) == (404, "not_found")


def test_outside_of_the_api_people_get_a_page(client: FlaskClient) -> None:
    response = client.get("/apis")

    assert (response.status_code, response.mimetype) == (404, "text/html")


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("GET", "/drafts", "OPTIONS, POST"),
        ("PUT", "/drafts", "OPTIONS, POST"),
        ("DELETE", "/drafts/x", "GET, HEAD, OPTIONS, PATCH"),
        ("GET", "/drafts/x/publish", "OPTIONS, POST"),
        ("POST", "/forms", "GET, HEAD, OPTIONS"),
        ("PATCH", "/forms/x", "GET, HEAD, OPTIONS"),
        ("DELETE", "/forms/x/responses", "GET, HEAD, OPTIONS"),
        ("POST", "/openapi", "GET, HEAD, OPTIONS"),
        ("BREW", "/forms", "GET, HEAD, OPTIONS"),
    ],
)
def test_another_method_is_answered_with_those_allowed(
    method: str, path: str, allowed: str, client: FlaskClient
) -> None:
    response = client.open(f"/api{path}", method=method)

    assert refusal(response) == (405, "method_not_allowed")
    assert response.headers["Allow"] == allowed


@pytest.mark.parametrize("path", ["/drafts", "/drafts/x/publish", "/forms/x/responses"])
def test_options_needs_no_token(path: str, client: FlaskClient) -> None:
    response = client.options(f"/api{path}")

    assert (response.status_code, response.data) == (200, b"")
    assert "OPTIONS" in response.headers["Allow"]


def test_an_unknown_host_is_refused_with_the_public_address(agent: Agent) -> None:
    response = agent.app.test_client().get("/api/forms", headers={"Host": "10.0.0.7:8000"})

    assert refusal(response) == (400, "validation_failed")
    assert response.json["message"].startswith("Host: ")
    assert "http://127.0.0.1:8000" in response.json["resolution"]


def test_no_csrf_token_is_asked_for(agent: Agent) -> None:
    response = agent.post("/drafts", json={}, headers={"Origin": "https://elsewhere.example"})

    assert response.status_code == 201


def test_an_internal_error_reveals_no_details(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    def break_down(_account_id: str) -> Any:
        raise RuntimeError("secret detail")

    monkeypatch.setattr(forms, "list_forms", break_down)

    response = agent.get("/forms")

    assert refusal(response) == (500, "internal_error")
    assert "secret" not in response.text


def test_an_internal_error_is_rolled_back_before_the_response(
    agent: Agent, monkeypatch: pytest.MonkeyPatch, draft_id: str
) -> None:
    def break_down(*_: Any) -> Any:
        raise RuntimeError

    with monkeypatch.context() as patched:
        patched.setattr("webapp.drafts.editing.content_hash", break_down)
        broken = agent.patch(f"/drafts/{draft_id}", json={"title": "New"})

    after = agent.get(f"/drafts/{draft_id}").json["title"]
    assert (refusal(broken), after) == ((500, "internal_error"), "Rota")


@pytest.fixture
def full_disk(settings: Settings, tmp_path: Path) -> Iterator[Agent]:
    """An agent of an installation whose database file may not grow any more."""
    app = create_app(
        settings.model_copy(update={"database_url": f"sqlite:///{tmp_path}/full.sqlite3"})
    )
    with app.app_context():
        db.create_all()
        token = issue_token(make_account().id, ALL_SCOPES, settings.api_url, now=utc_now())
        db.session.remove()
        event.listen(db.engine, "checkout", allow_no_growth)
    yield Agent(app, token)
    with app.app_context():
        db.engine.dispose()


def allow_no_growth(connection: Any, *_: Any) -> None:
    connection.execute("PRAGMA max_page_count=1")


def test_a_full_disk_is_reported(full_disk: Agent) -> None:
    body = {"goal": "x" * 2000, "context": "x" * 4000, "questions": ["x" * 2000] * 20}

    responses = [full_disk.post("/drafts", json=body) for _ in range(3)]

    assert refusal(responses[-1]) == (500, "storage_unavailable")


def test_reads_succeed_while_the_disk_is_full(full_disk: Agent) -> None:
    full_disk.post("/drafts", json={"context": "x" * 4000, "questions": ["x" * 9000] * 20})

    assert full_disk.get("/forms").status_code == 200


def test_an_unavailable_database_is_reported(settings: Settings) -> None:
    away = "postgresql+psycopg://nobody@127.0.0.1:1/none?connect_timeout=1"
    app = create_app(settings.model_copy(update={"database_url": away}))

    response = Agent(app, "askat_" + "x" * 43).get("/forms")

    assert refusal(response) == (500, "storage_unavailable")


@both_databases
@pytest.mark.parametrize("path", ["/drafts/{}", "/forms/{}", "/forms/{}/responses"])
def test_malformed_ids_cause_no_database_error(path: str, agent: Agent) -> None:
    response = agent.get(path.format("%00%FF"))

    assert response.status_code == 404


def test_head_responds_like_get_without_a_body(agent: Agent) -> None:
    response = agent.call("HEAD", "/forms")

    assert (response.status_code, response.data) == (200, b"")


def test_refusals_of_the_guard_are_not_cacheable(app: Flask) -> None:
    response = app.test_client().get("/api/forms")

    assert response.headers["Cache-Control"] == "private, no-store"
