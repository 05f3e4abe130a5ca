"""updateServiceDraft"""

from typing import Any

import pytest

from tests.api.conftest import Agent, Confirm, refusal


def test_a_draft_is_updated(agent: Agent, draft_id: str) -> None:
    before = agent.get(f"/drafts/{draft_id}").json

    response = agent.patch(f"/drafts/{draft_id}", json={"goal": "Find the gap"})

    assert response.status_code == 200
    assert response.json == before | {"goal": "Find the gap"}


def test_a_change_raises_the_revision(agent: Agent, draft_id: str) -> None:
    response = agent.patch(f"/drafts/{draft_id}", json={"title": "New"})

    assert response.headers["ETag"] == '"2"'


def test_an_empty_change_keeps_revision_and_confirmation(
    agent: Agent, draft_id: str, confirm: Confirm
) -> None:
    confirm(draft_id)

    response = agent.patch(f"/drafts/{draft_id}", json={})

    now = agent.get(f"/drafts/{draft_id}").headers["Askback-Confirmation"]
    assert (response.status_code, response.headers["ETag"], now) == (200, '"1"', "current")


def test_a_repeated_question_without_id_keeps_its_id(agent: Agent, draft_id: str) -> None:
    before = agent.get(f"/drafts/{draft_id}").json["questions"]

    body = {"questions": ["What went wrong?", "Who changed it?"]}
    after = agent.patch(f"/drafts/{draft_id}", json=body).json["questions"]

    assert after == before[::-1]


def test_the_follow_up_mode_sets_the_default_number_of_follow_ups(
    agent: Agent, draft_id: str
) -> None:
    body = {"followUpMode": "deep_dive"}

    settings = agent.patch(f"/drafts/{draft_id}", json=body).json["settings"]

    assert settings["maxFollowupsPerQuestion"] == 5


def test_the_context_rule_applies_to_the_merged_draft(agent: Agent, draft_id: str) -> None:
    agent.patch(f"/drafts/{draft_id}", json={"context": "known", "followUpMode": "smart"})

    response = agent.patch(f"/drafts/{draft_id}", json={"context": ""})

    assert refusal(response) == (400, "context_required")


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"title": None}, "validation_failed"),
        ({"title": "x" * 121}, "validation_failed"),
        ({"revision": 3}, "unknown_field"),
        ({"goal": "\x00"}, "invalid_text"),
    ],
)
def test_a_wrong_field_changes_nothing(
    body: dict[str, Any], code: str, agent: Agent, draft_id: str
) -> None:
    response = agent.patch(f"/drafts/{draft_id}", json=body)

    assert refusal(response) == (400, code)
    assert agent.get(f"/drafts/{draft_id}").headers["ETag"] == '"1"'


@pytest.mark.parametrize("named", ['"1"', "*", '"7", "1"'])
def test_an_update_with_the_current_if_match_is_made(
    named: str, agent: Agent, draft_id: str
) -> None:
    headers = {"If-Match": named}

    response = agent.patch(f"/drafts/{draft_id}", json={"title": "New"}, headers=headers)

    assert response.status_code == 200


@pytest.mark.parametrize(
    "named", ['"2"', 'W/"1"', "1", "nonsense", "", '""', '"x", ""', '"99999999999"', '"²"', '"1']
)
def test_an_update_with_another_if_match_is_refused(
    named: str, agent: Agent, draft_id: str
) -> None:
    headers = {"If-Match": named.encode().decode("latin-1")}

    response = agent.patch(f"/drafts/{draft_id}", json={"title": "New"}, headers=headers)

    assert refusal(response) == (409, "revision_conflict")
    assert agent.get(f"/drafts/{draft_id}").json["title"] == "Rota"


@pytest.mark.parametrize("named", ['W/"1"', "1", "'1'", "", '"01"'])
def test_a_malformed_if_match_gets_a_hint(named: str, agent: Agent, draft_id: str) -> None:
    response = agent.patch(f"/drafts/{draft_id}", json={}, headers={"If-Match": named})

    assert refusal(response) == (409, "revision_conflict")
    assert 'it is at "1"' in response.json["message"]
    assert "quotes" in response.json["resolution"]


def test_a_conflict_says_where_the_creator_reviews_the_draft(agent: Agent, draft_id: str) -> None:
    headers = {"If-Match": '"2"'}

    response = agent.patch(f"/drafts/{draft_id}", json={}, headers=headers)

    review = f"http://127.0.0.1:8000/drafts/{draft_id}"
    assert response.headers["Link"] == f'<{review}>; rel="edit-form"'


def test_a_published_draft_does_not_change(agent: Agent, draft_id: str, confirm: Confirm) -> None:
    confirm(draft_id)
    agent.post(f"/drafts/{draft_id}/publish")

    response = agent.patch(f"/drafts/{draft_id}", json={"title": "New"})

    assert refusal(response) == (409, "draft_already_published")


def test_an_update_never_publishes(agent: Agent, draft_id: str, confirm: Confirm) -> None:
    confirm(draft_id)

    body = agent.patch(f"/drafts/{draft_id}", json={"goal": "x"}).json

    assert (body["status"], body["publishedFormId"], body["shareUrl"]) == ("draft", None, None)
