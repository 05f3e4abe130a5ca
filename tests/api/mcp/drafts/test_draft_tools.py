"""The tools that write drafts answer as REST does; what an agent says beside a revision"""

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import psycopg
import pytest
from flask import Flask
from sqlalchemy.exc import OperationalError

from tests.api.conftest import Agent, Confirm, refusal
from tests.api.mcp.conftest import MODERN, Host, Hosted, refused
from tests.databases import both_databases, on_postgresql
from tests.races.threads import each_statement
from webapp.base.database import db
from webapp.records.accounts.models import Account
from webapp.records.drafts import Draft, DraftRevision

REVIEW = "http://127.0.0.1:8000/drafts/"
GIVEN = {
    "title": "Rota",
    "goal": "Find out",
    "context": "Nobody may read this",
    "questions": ["Who changed it?", {"id": "why", "text": "Why?", "context": "In short"}],
    "followUpMode": "smart",
    "responseLimit": "one",
}


def without(content: Any, *names: str) -> dict[str, Any]:
    return {name: value for name, value in content.items() if name not in names}


def test_a_draft_is_created_as_by_rest(host: Host, agent: Agent) -> None:
    made = host.use("create_form_draft", **GIVEN).structured_content

    by_rest = agent.get(f"/drafts/{made['draftId']}").json
    assert without(made, "revision", "reviewUrl") == by_rest
    assert (made["revision"], made["reviewUrl"]) == (1, REVIEW + made["draftId"])
    created = agent.post("/drafts", json=GIVEN).json
    ids = "draftId", "questions"
    assert without(created, *ids) == without(by_rest, *ids)
    assert "Nobody" not in str(made)


def test_a_draft_tells_what_rest_tells_in_headers(
    host: Host, agent: Agent, draft_id: str, confirm: Confirm
) -> None:
    seen = []
    for step in ("made", "confirmed", "changed", "published"):
        if step in ("confirmed", "published"):
            confirm(draft_id)
        if step == "changed":
            host.use("update_form_draft", draftId=draft_id, title="New")
        if step == "published":
            host.use("publish_form_draft", draftId=draft_id)
        found = host.use("get_form_draft", draftId=draft_id).structured_content
        by_rest, review = (agent.get(f"/drafts/{draft_id}{each}") for each in ("", "/review"))
        extra = {"confirmation", "timedOut", *review.json} - by_rest.json.keys()
        assert without(found, *extra) == by_rest.json
        assert {name: found[name] for name in review.json} == review.json
        assert by_rest.headers["ETag"] == f'"{found["revision"]}"'
        assert by_rest.headers["Link"] == f'<{found["reviewUrl"]}>; rel="edit-form"'
        assert by_rest.headers["Askback-Confirmation"] == found["confirmation"]
        seen.append((found["confirmation"], found["timedOut"]))

    assert seen == [("none", False), ("current", False), ("stale", False), ("current", False)]


@on_postgresql
@pytest.mark.settings(limit_create_draft="1/minute")
def test_a_call_that_the_database_gave_up_is_counted_once(
    app: Flask, hosted: Hosted, account: Account
) -> None:
    host, given_up = hosted(account.id), []

    def give_up(_connection: Any, _cursor: Any, statement: str, *_more: Any) -> None:
        if statement.startswith("INSERT INTO drafts") and not given_up:
            given_up.append(statement)
            raise OperationalError(statement, None, psycopg.errors.SerializationFailure())

    with each_statement(app, "before_cursor_execute", give_up):
        made = host.use("create_form_draft")

    assert given_up
    assert not made.is_error
    assert refused(host.use("create_form_draft"))["code"] == "rate_limited"


WHY = "shorter, so that it fits a phone – “très” 📱"
Say = Callable[..., Any]


@pytest.fixture
def version() -> str:
    return MODERN


def sent(note: str) -> dict[str, str]:
    return {"Askback-Note": quote(note, safe="")}


def notes(app: Flask) -> dict[int, str | None]:
    """By the revisions of the only draft."""
    with app.app_context():
        draft = db.session.scalars(db.select(Draft)).one()
        kept = db.session.scalars(db.select(DraftRevision))
        return {each.revision: each.agent_note for each in kept} | {
            draft.revision: draft.agent_note
        }


@both_databases
def test_a_note_is_kept_with_the_revision_that_it_came_with(agent: Agent, host: Host) -> None:
    made = agent.post("/drafts", json={"title": "Rota"}, headers=sent("First words"))
    path = f"/drafts/{made.json['draftId']}"
    agent.patch(path, json={"title": "Rota talks"}, headers=sent(WHY))
    agent.patch(path, json={"goal": "Learn"})

    host.use("update_form_draft", draftId=made.json["draftId"], title="Talks", note="By a tool")

    assert notes(host.app) == {1: "First words", 2: WHY, 3: None, 4: "By a tool"}


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("   ", None),
        ("%20", None),
        ("shorter, a+b: it fits; 5%25", "shorter, a+b: it fits; 5%"),
        (sent("📱" * 300)["Askback-Note"], "📱" * 300),  # 3600 characters
    ],
)
def test_a_note_is_decoded(app: Flask, agent: Agent, given: str, kept: str | None) -> None:
    assert agent.post("/drafts", json={}, headers={"Askback-Note": given}).status_code == 201

    assert notes(app) == {1: kept}


def test_bodies_are_the_same_with_and_without_a_note(agent: Agent, host: Host) -> None:
    plain = agent.post("/drafts", json={"title": "Rota"})
    noted = agent.post("/drafts", json={"title": "Rota"}, headers=sent(WHY))
    by_tool = host.use("create_form_draft", title="Rota", note=WHY).structured_content

    assert noted.json | {"draftId": ""} == plain.json | {"draftId": ""}
    assert WHY not in str(by_tool) + noted.text + str(noted.headers)
    body = {"title": "Rota", "note": WHY}
    assert refusal(agent.post("/drafts", json=body)) == (400, "unknown_field")


MALFORMED = ["x" * 301, "x" * 3601, "%F0%9F%93%B1" * 301, "a%00b", "a%0Ab", "%C2%85", "%E2%80%AE"]
MALFORMED += ["%", "%4", "%ZZ", "%FF", "%C3", "%ED%A0%80", "%C0%AF", "é"]


def test_a_note_that_is_too_long_or_malformed_is_refused(
    app: Flask, agent: Agent, host: Host, draft_id: str
) -> None:
    path, change = f"/drafts/{draft_id}", {"title": "New"}
    for given in MALFORMED:
        headers = {"Askback-Note": given}
        made = agent.post("/drafts", json={}, headers=headers)
        changed = agent.patch(path, json=change, headers=headers)
        for response in (made, changed):
            assert refusal(response) == (400, "validation_failed")
            assert response.json["message"].startswith("Askback-Note: ")
    for note in ("x" * 301, "a\x00b", "a\nb", "\u202e", 3):
        found = refused(host.use("create_form_draft", note=note))
        assert (found["code"], found["message"][:6]) == ("validation_failed", "note: ")
        found = refused(host.use("update_form_draft", draftId=draft_id, note=note, **change))
        assert (found["code"], found["message"][:6]) == ("validation_failed", "note: ")
    assert notes(app) == {1: None}


def test_a_repeat_or_a_change_of_nothing_keeps_the_first_note(app: Flask, agent: Agent) -> None:
    key, body = {"Idempotency-Key": "k1"}, {"title": "Rota"}
    first = agent.post("/drafts", json=body, headers=key | sent("First words"))

    again = agent.post("/drafts", json=body, headers=key | sent("Other words"))
    for same in (body, {}):
        agent.patch(f"/drafts/{first.json['draftId']}", json=same, headers=sent("Again"))

    assert (again.status_code, again.json) == (201, first.json)
    assert notes(app) == {1: "First words"}
