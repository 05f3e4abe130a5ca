"""What an agent says beside a revision: the header of REST and the argument of the tools alike"""

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest
from flask import Flask

from tests.api.conftest import Agent, refusal
from tests.api.mcp.conftest import MODERN, Host, refused
from tests.databases import both_databases
from webapp.base.database import db
from webapp.records.drafts import Draft, DraftRevision

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
def test_a_note_is_kept_with_the_revision_that_it_came_with(
    app: Flask, agent: Agent, host: Host
) -> None:
    made = agent.post("/drafts", json={"title": "Rota"}, headers=sent("First words"))
    path = f"/drafts/{made.json['draftId']}"
    agent.patch(path, json={"title": "Rota talks"}, headers=sent(WHY))
    agent.patch(path, json={"goal": "Learn"})

    host.use("update_form_draft", draftId=made.json["draftId"], title="Talks", note="By a tool")

    assert notes(app) == {1: "First words", 2: WHY, 3: None, 4: "By a tool"}


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("", None),
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

    assert by_tool is not None
    assert noted.json | {"draftId": ""} == plain.json | {"draftId": ""}
    assert WHY not in str(by_tool) + noted.text + str(noted.headers)
    body = {"title": "Rota", "note": WHY}
    assert refusal(agent.post("/drafts", json=body)) == (400, "unknown_field")


@pytest.mark.parametrize(
    ("given", "begins"),
    [
        ("x" * 301, "has 301 characters; at most 300 are allowed."),
        ("x" * 3601, "has 3601 characters; at most 3600 are allowed."),
        ("%F0%9F%93%B1" * 301, "has 3612 characters"),
        ("%", "is not percent-encoded UTF-8."),
        ("%4", "is not percent-encoded UTF-8."),
        ("%ZZ", "is not percent-encoded UTF-8."),
        ("%FF", "is not percent-encoded UTF-8."),
        ("%C3", "is not percent-encoded UTF-8."),
        ("%ED%A0%80", "is not percent-encoded UTF-8."),
        ("%C0%AF", "is not percent-encoded UTF-8."),
        ("é", "is not percent-encoded UTF-8."),
        ("a%00b", "contains the control character U+0000 at character 2."),
        ("a%0Ab", "contains the control character U+000A at character 2."),
        ("%C2%85", "contains the control character U+0085 at character 1."),
        ("%E2%80%AE", "contains the text-direction character U+202E at character 1."),
    ],
)
def test_a_note_that_is_too_long_or_malformed_is_refused(
    given: str, begins: str, app: Flask, agent: Agent, draft_id: str
) -> None:
    headers = {"Askback-Note": given}

    made = agent.post("/drafts", json={}, headers=headers)
    changed = agent.patch(f"/drafts/{draft_id}", json={"title": "New"}, headers=headers)

    for response in (made, changed):
        assert refusal(response) == (400, "validation_failed")
        assert response.json["message"].startswith(f"Askback-Note: {begins}")
    assert notes(app) == {1: None}


@pytest.mark.parametrize(
    ("given", "begins"),
    [
        ("x" * 301, "has 301 characters; at most 300 are allowed."),
        ("a\x00b", "contains the control character U+0000 at character 2."),
        ("a\nb", "contains the control character U+000A at character 2."),
        ("\u202e", "contains the text-direction character U+202E at character 1."),
        (3, "is 3; a string is needed."),
    ],
)
def test_the_tools_refuse_it_in_the_same_words(
    given: object, begins: str, app: Flask, host: Host, draft_id: str
) -> None:
    made = refused(host.use("create_form_draft", note=given))
    changed = refused(host.use("update_form_draft", draftId=draft_id, title="New", note=given))

    for each in (made, changed):
        assert (each["code"], each["message"]) == ("validation_failed", f"note: {begins}")
    assert notes(app) == {1: None}


def test_a_change_of_nothing_keeps_the_note_that_is_there(app: Flask, agent: Agent) -> None:
    made = agent.post("/drafts", json={"title": "Rota"}, headers=sent("First words"))

    same = {"title": "Rota"}, {}
    for body in same:
        agent.patch(f"/drafts/{made.json['draftId']}", json=body, headers=sent("Again"))

    assert notes(app) == {1: "First words"}


def test_a_repeat_with_another_note_is_the_same_draft_with_its_first_note(
    app: Flask, agent: Agent
) -> None:
    key = {"Idempotency-Key": "k1"}
    first = agent.post("/drafts", json={"title": "Rota"}, headers=key | sent("First words"))

    again = agent.post("/drafts", json={"title": "Rota"}, headers=key | sent("Other words"))

    assert (again.status_code, again.json) == (201, first.json)
    assert notes(app) == {1: "First words"}
