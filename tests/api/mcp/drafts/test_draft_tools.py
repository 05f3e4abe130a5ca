"""Drafts and their prepared follow-ups by tools and by REST, and what an agent says of a change."""

from typing import Any
from urllib.parse import quote

import pytest
from flask import Flask

from tests.api.conftest import Agent, Confirm, refusal
from tests.api.mcp.conftest import Host, Hosted, refused
from tests.databases import both_databases
from webapp.base.database import db, utc_now
from webapp.drafts.editing import update_draft
from webapp.records.accounts.models import Account
from webapp.records.drafts import Draft, DraftRevision
from webapp.records.forms import Form

WHY = "shorter, so that it fits a phone – “très” 📱"


def sent(note: str) -> dict[str, str]:
    return {"Askback-Note": quote(note, safe="")}


def notes(app: Flask) -> dict[int, str | None]:
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


MALFORMED = ["x" * 301, "%F0%9F%93%B1" * 301, "a%00b", "a%0Ab", "%E2%80%AE"]
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


QUESTIONS = [
    {"id": "q_1", "text": "Who changed it?"},
    {"id": "q_2", "text": "What went wrong?"},
]


@pytest.fixture
def draft_id(agent: Agent) -> str:
    made: str = agent.post("/drafts", json={"title": "Rota", "questions": QUESTIONS}).json[
        "draftId"
    ]
    return made


def put(agent: Agent, draft_id: str, follow_ups: Any, **request: Any) -> Any:
    path = f"/drafts/{draft_id}/follow-ups"
    return agent.call("PUT", path, json={"followUps": follow_ups}, **request)


def prepared(agent: Agent, draft_id: str) -> Any:
    return agent.get(f"/drafts/{draft_id}/follow-ups").json["followUps"]


def kept(text: str, when: str = "always") -> dict[str, str]:
    return {"text": text, "when": when, "preparedBy": "agent"}


STORED: list[tuple[Any, Any]] = [
    ({"q_1": [{"text": "Why?"}]}, {"q_1": [kept("Why?")]}),
    (
        {"2": [{"text": "Why?", "when": "if_no"}, "How?"]},
        {"q_2": [kept("Why?", "if_no"), kept("How?")]},
    ),
    (
        [{"question": "q_1", "prepared": [{"text": "Why?"}]}, {"question": 2, "text": "How?"}],
        {"q_1": [kept("Why?")], "q_2": [kept("How?")]},
    ),
    ({"q_1": ["<b>\u202eabc</b>\n"]}, {"q_1": [kept("<b>\u202eabc</b>\n")]}),
    ({}, {}),
]


def test_they_are_stored_by_question(
    agent: Agent, draft_id: str, hosted: Hosted, account: Account
) -> None:
    host = hosted(account.id)
    for given, stored in STORED:
        put(agent, draft_id, {"1": ["Replaced?"]})
        answer = put(agent, draft_id, given)
        assert answer.json == {"draftId": draft_id, "followUps": stored}
        assert prepared(agent, draft_id) == stored
        assert agent.get(f"/drafts/{draft_id}").json["questions"] == QUESTIONS
        by_tool = host.use("update_form_draft", draftId=draft_id, followUps=given or {})
        assert by_question(by_tool.structured_content) == stored


def by_question(found: dict[str, Any]) -> Any:
    return {each["question"]: each["prepared"] for each in found.get("followUps", [])}


WRONG: list[tuple[Any, str, str]] = [
    ({"q_9": ["Why?"]}, "validation_failed", "followUps.q_9"),
    ({"q_1": ["a", "b", "c", "d"]}, "validation_failed", "followUps.q_1"),
    ({"q_1": [{"text": " \n"}]}, "validation_failed", "followUps.q_1[0].text"),
    ({"q_1": ["a", {"text": "b", "when": "never"}]}, "validation_failed", "followUps.q_1[1].when"),
    ({"q_1": [{"text": "a", "colour": 1}]}, "unknown_field", "followUps.q_1[0].colour"),
    ({"q_1": [{"text": "a\0"}]}, "invalid_text", "followUps.q_1[0].text"),
    ({"1": [" what WENT\twrong? "]}, "validation_failed", "followUps.1[0].text"),
    ({"q_1": ["a"], "1": ["b"]}, "validation_failed", "followUps.q_1"),
    ({str(each): [] for each in range(21)}, "validation_failed", "followUps"),
]


def test_wrong_ones_are_refused_by_their_path_and_store_nothing(
    agent: Agent, draft_id: str, hosted: Hosted, account: Account
) -> None:
    put(agent, draft_id, {"q_1": ["Kept?"]})
    host = hosted(account.id)

    for given, code, path in WRONG:
        answer = put(agent, draft_id, given)
        other = {"draftId": draft_id, "title": "Other", "followUps": given}
        by_tool = refused(host.use("update_form_draft", **other))
        assert refusal(answer) == (400, code)
        assert answer.json["message"].startswith(f"{path}: ")
        assert by_tool == answer.json or code == "unknown_field"

    found = agent.get(f"/drafts/{draft_id}")
    assert (found.headers["ETag"], found.json["title"]) == ('"2"', "Rota")
    assert prepared(agent, draft_id) == {"q_1": [kept("Kept?")]}


def test_a_change_makes_the_confirmation_stale_and_equal_ones_do_not(
    agent: Agent, draft_id: str, confirm: Confirm
) -> None:
    path = f"/drafts/{draft_id}/follow-ups"
    equal = put(agent, draft_id, {"q_1": ["Why?"]}).json["followUps"]
    other: list[Any] = [{"q_1": ["Why not?"]}, {"q_1": [{"text": "Why?", "when": "if_no"}]}, {}]

    for given in (equal, *other):
        agent.call("PUT", path, json={"followUps": equal})
        confirm(draft_id)
        put(agent, draft_id, given)
        found = agent.get(f"/drafts/{draft_id}").headers["Askback-Confirmation"]
        assert found == ("current" if given == equal else "stale")


def test_a_published_draft_keeps_them_and_takes_no_others(
    agent: Agent, draft_id: str, confirm: Confirm, app: Flask
) -> None:
    put(agent, draft_id, {"q_1": ["Why?"]})
    confirm(draft_id)
    form_id = agent.post(f"/drafts/{draft_id}/publish").json["formId"]

    assert refusal(put(agent, draft_id, {})) == (409, "draft_already_published")
    assert prepared(agent, draft_id) == {"q_1": [kept("Why?")]}
    assert agent.get(f"/forms/{form_id}").json["questions"] == QUESTIONS
    with app.app_context():
        assert db.session.get_one(Form, form_id).questions[0]["follow_ups"][0]["text"] == "Why?"


def test_what_the_creator_wrote_stays_theirs_and_is_named_as_changed(
    app: Flask, agent: Agent, account: Account, draft_id: str
) -> None:
    put(agent, draft_id, {"q_1": ["Why?"]})
    theirs: Any = {"text": "Why then?", "condition": "if_yes", "prepared_by": "creator"}
    with app.app_context():
        questions: Any = [{**QUESTIONS[0], "follow_ups": [theirs]}, QUESTIONS[1]]
        update_draft(account.id, draft_id, {"questions": questions}, author=None, now=utc_now())

    (change,) = agent.get(f"/drafts/{draft_id}/review").json["changes"]
    assert change == {
        "kind": "question_follow_ups",
        "questionId": "q_1",
        "before": "always: Why?",
        "after": "if_yes: Why then?",
    }
    theirs = {"text": "Why then?", "when": "if_yes"}
    answer = put(agent, draft_id, {"q_1": [theirs, "How?"]}).json["followUps"]
    assert [each["preparedBy"] for each in answer["q_1"]] == ["creator", "agent"]


def test_a_tool_drafts_questions_and_follow_ups_in_one_call(host: Host) -> None:
    asked = ["Who?", {"id": "why", "text": "Why?"}]
    given = [
        {"question": "1", "prepared": [{"text": "Who else?", "when": "if_short"}]},
        {"question": "why", "prepared": [{"text": "Since when?"}]},
    ]
    for cleared in ({}, [{"question": "why", "prepared": []}]):
        made = host.use("create_form_draft", title="T", questions=asked, followUps=given)

        found = made.structured_content or {}
        first = found["questions"][0]["id"]
        stored = {first: [kept("Who else?", "if_short")], "why": [kept("Since when?")]}
        assert by_question(found) == stored
        read = host.use("get_form_draft", draftId=found["draftId"]).structured_content or {}
        assert read["followUps"] == found["followUps"]
        after = host.use("update_form_draft", draftId=found["draftId"], followUps=cleared)
        assert "followUps" not in (after.structured_content or {})
