"""createServiceDraft"""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import func, select

from tests.api.conftest import Agent, Confirm, Connect, refusal
from tests.databases import both_databases
from tests.factories import make_account
from webapp.answers.trash import delete_form, discard_draft, erase_form, purge_deleted, restore
from webapp.base.database import db, utc_now
from webapp.drafts.editing import Repeatable, create_draft
from webapp.oauth.tokens import purge_dead
from webapp.records.accounts.models import Account
from webapp.records.content.model import DraftUpdate
from webapp.records.drafts import Draft, IdempotencyKey

KEY = {"Idempotency-Key": "0d3f"}
DAY = timedelta(days=1)


def test_a_draft_is_created(agent: Agent) -> None:
    questions = ["What went wrong?", {"id": "who", "text": "Who?", "context": "A first name"}]

    response = agent.post("/drafts", json={"title": "Rota", "questions": questions})

    body = response.json
    made_id = body["questions"][0]["id"]
    assert response.status_code == 201
    assert body == {
        "draftId": body["draftId"],
        "status": "draft",
        "title": "Rota",
        "goal": None,
        "questions": [
            {"id": made_id, "text": "What went wrong?"},
            {"id": "who", "text": "Who?", "context": "A first name"},
        ],
        "settings": {
            "followUpMode": "none",
            "responseMode": "voice_preferred",
            "responseLimit": "multiple",
            "maxFollowupsPerQuestion": 0,
            "maxTotalQuestions": None,
        },
        "publishedFormId": None,
        "shareUrl": None,
    }
    assert body["draftId"].startswith("drf_")
    assert made_id.startswith("q_")


def test_the_draft_says_where_its_creator_reviews_it(agent: Agent) -> None:
    response = agent.post("/drafts", json={})

    review = f"http://127.0.0.1:8000/drafts/{response.json['draftId']}"
    assert response.headers["Link"] == f'<{review}>; rel="edit-form"'


def test_a_new_draft_is_at_revision_one(agent: Agent) -> None:
    assert agent.post("/drafts", json={}).headers["ETag"] == '"1"'


def test_the_location_header_is_the_address_of_the_new_draft(agent: Agent) -> None:
    response = agent.post("/drafts", json={"title": "Rota"})

    draft_id = response.json["draftId"]
    assert response.headers["Location"] == f"http://127.0.0.1:8000/api/drafts/{draft_id}"
    assert agent.get(f"/drafts/{draft_id}").json == response.json


def test_responses_with_a_draft_are_not_cacheable(agent: Agent) -> None:
    assert agent.post("/drafts", json={}).headers["Cache-Control"] == "private, no-store"


def test_an_empty_object_makes_an_empty_draft(agent: Agent) -> None:
    body = agent.post("/drafts", json={}).json

    assert (body["title"], body["questions"]) == ("", [])


def test_every_setting_is_kept(agent: Agent) -> None:
    settings = {
        "followUpMode": "deep_dive",
        "responseMode": "text_only",
        "responseLimit": "one",
        "maxFollowupsPerQuestion": 3,
        "maxTotalQuestions": 12,
    }

    assert agent.post("/drafts", json=settings).json["settings"] == settings


def test_an_empty_goal_is_returned_as_null(agent: Agent) -> None:
    assert agent.post("/drafts", json={"goal": ""}).json["goal"] is None


def test_the_private_context_is_not_returned(agent: Agent) -> None:
    response = agent.post("/drafts", json={"context": "they are leaving", "followUpMode": "smart"})

    assert "they are leaving" not in response.text


def test_the_longest_title_in_emoji_is_accepted(agent: Agent) -> None:
    assert agent.post("/drafts", json={"title": "\N{GRINNING FACE}" * 120}).status_code == 201


@pytest.mark.parametrize(
    ("body", "code", "field"),
    [
        ({"title": "x" * 121}, "validation_failed", "title"),
        ({"goal": "x" * 2001}, "validation_failed", "goal"),
        ({"context": "x" * 4001}, "validation_failed", "context"),
        ({"questions": []}, "validation_failed", "questions"),
        ({"questions": ["x"] * 21}, "validation_failed", "questions"),
        ({"questions": [{"id": "a"}]}, "validation_failed", "questions[0].text"),
        ({"questions": [{"id": "", "text": "x"}]}, "validation_failed", "questions[0].id"),
        ({"questions": [{"id": None, "text": "x"}]}, "validation_failed", "questions[0].id"),
        ({"questions": [{"id": "a", "text": "x"}] * 2}, "validation_failed", "questions[0].id"),
        ({"followUpMode": "clever"}, "validation_failed", "followUpMode"),
        ({"maxFollowupsPerQuestion": 51}, "validation_failed", "maxFollowupsPerQuestion"),
        ({"maxTotalQuestions": None}, "validation_failed", "maxTotalQuestions"),
        ({"maxTotalQuestions": True}, "validation_failed", "maxTotalQuestions"),
        ({"status": "published"}, "unknown_field", "status"),
        ({"accountId": "acc_x"}, "unknown_field", "accountId"),
        ({"publishedFormId": "frm_x"}, "unknown_field", "publishedFormId"),
        ({"questions": [{"text": "x", "hint": "y"}]}, "unknown_field", "questions[0].hint"),
        ({"followUpMode": "smart"}, "context_required", "context"),
        ({"followUpMode": "smart", "context": " \n"}, "context_required", "context"),
        ({"goal": "a\x00b"}, "invalid_text", "goal"),
        ({"title": "a\nb"}, "invalid_text", "title"),
        ({"title": "a\u202eb"}, "invalid_text", "title"),
        ([], "validation_failed", "body"),
        ("x", "validation_failed", "body"),
    ],
)
def test_a_wrong_field_is_named(body: Any, code: str, field: str, agent: Agent) -> None:
    response = agent.post("/drafts", json=body)

    assert refusal(response) == (400, code)
    assert response.json["message"].startswith(f"{field}: ")


def test_a_refused_draft_is_not_stored(agent: Agent) -> None:
    agent.post("/drafts", json={"followUpMode": "smart"})

    with agent.app.app_context():
        assert db.session.scalar(select(func.count()).select_from(Draft)) == 0


def test_a_float_without_fraction_is_accepted_as_an_integer(agent: Agent) -> None:
    body = agent.post("/drafts", json={"maxTotalQuestions": 7.0}).json

    assert body["settings"]["maxTotalQuestions"] == 7


@both_databases
def test_a_repeat_with_the_same_key_makes_no_second_draft(agent: Agent) -> None:
    first = agent.post("/drafts", json={"title": "Rota"}, headers=KEY)
    second = agent.post("/drafts", json={"title": "Rota"}, headers=KEY)

    assert (second.status_code, second.json) == (201, first.json)


@both_databases
def test_eight_creations_at_once_with_one_key_make_one_draft(agent: Agent) -> None:
    def create(_number: int) -> str:
        response = agent.post("/drafts", json={"title": "Rota"}, headers=KEY)
        return str(response.json.get("draftId"))

    with ThreadPoolExecutor(8) as pool:
        made = set(pool.map(create, range(8)))

    with agent.app.app_context():
        stored = set(db.session.scalars(select(Draft.id)))
    assert made == stored
    assert len(stored) == 1


def test_a_repeat_returns_the_draft_as_it_was_created(agent: Agent) -> None:
    first = agent.post("/drafts", json={"title": "Rota"}, headers=KEY)
    agent.patch(f"/drafts/{first.json['draftId']}", json={"title": "Changed"})

    second = agent.post("/drafts", json={"title": "Rota"}, headers=KEY)

    assert (second.json, second.headers["ETag"]) == (first.json, '"1"')


def test_a_key_is_not_reused_for_another_body(agent: Agent) -> None:
    agent.post("/drafts", json={"title": "Rota"}, headers=KEY)

    second = agent.post("/drafts", json={"title": "Another"}, headers=KEY)

    assert refusal(second) == (400, "idempotency_key_reused")


@both_databases
def test_the_key_of_a_discarded_draft_makes_no_second_one(agent: Agent, account: Account) -> None:
    made = agent.post("/drafts", json={"title": "Rota"}, headers=KEY).json["draftId"]
    with agent.app.app_context():
        discard_draft(account.id, made, now=utc_now())

    second = agent.post("/drafts", json={"title": "Rota"}, headers=KEY)

    assert refusal(second) == (400, "idempotency_key_reused")
    assert "its creator discarded" in second.json["message"]
    with agent.app.app_context():
        assert db.session.scalars(select(Draft.id)).all() == [made]


@both_databases
@pytest.mark.parametrize("erased", [False, True])
def test_the_key_of_a_draft_whose_form_was_deleted_makes_no_second_one(
    agent: Agent, account: Account, confirm: Confirm, *, erased: bool
) -> None:
    body = {"title": "Rota", "questions": ["Who?"]}
    made = agent.post("/drafts", json=body, headers=KEY).json["draftId"]
    confirm(made)
    form_id = agent.post(f"/drafts/{made}/publish").json["formId"]
    with agent.app.app_context():
        delete_form(account.id, form_id, now=utc_now())
        if erased:
            erase_form(account.id, form_id, now=utc_now())
            list(purge_deleted(utc_now()))
            assert db.session.get(Draft, made) is None

    second = agent.post("/drafts", json=body, headers=KEY)

    assert refusal(second) == (400, "idempotency_key_reused")
    assert "whose form its creator deleted" in second.json["message"]


@both_databases
def test_a_key_makes_another_draft_the_next_day_and_is_not_kept_longer(
    agent: Agent, account: Account
) -> None:
    with agent.app.app_context():
        changes, now = DraftUpdate(), utc_now()
        keys = {name: Repeatable("client", name, "0" * 64) for name in ("old", "young")}
        later = {"old": now, "young": now + DAY / 2}
        made = [
            create_draft(
                account.id, changes, author=None, now=later[name], repeatable=keys[name]
            ).id
            for name in keys
        ]
        list(purge_dead(now + DAY))
        left = db.session.scalars(select(IdempotencyKey.key)).all()
        again = create_draft(
            account.id, changes, author=None, now=now + DAY, repeatable=keys["old"]
        )

    assert left == ["young"]
    assert again.id not in made


@both_databases
def test_a_restored_draft_is_repeated_again(agent: Agent, account: Account) -> None:
    first = agent.post("/drafts", json={"title": "Rota"}, headers=KEY)
    with agent.app.app_context():
        away = utc_now()
        discard_draft(account.id, first.json["draftId"], now=away)
        restore(account.id, away, now=away)

    second = agent.post("/drafts", json={"title": "Rota"}, headers=KEY)

    assert (second.status_code, second.json) == (201, first.json)


def test_two_accounts_may_use_the_same_key(agent: Agent, connect: Connect) -> None:
    with agent.app.app_context():
        stranger = connect(make_account().id)

    first = agent.post("/drafts", json={}, headers=KEY)
    second = stranger.post("/drafts", json={}, headers=KEY)

    assert first.json["draftId"] != second.json["draftId"]


@pytest.mark.parametrize("key", ["", "x" * 256])
def test_a_key_has_one_to_255_characters(key: str, agent: Agent) -> None:
    response = agent.post("/drafts", json={}, headers={"Idempotency-Key": key})

    assert refusal(response) == (400, "validation_failed")


def test_the_draft_belongs_to_the_connected_account(agent: Agent, account: Account) -> None:
    made = agent.post("/drafts", json={}).json["draftId"]

    with agent.app.app_context():
        assert db.session.get_one(Draft, made).account_id == account.id
