"""Creating, changing, reading and publishing drafts."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import func, select, update

from tests.api.conftest import SETTINGS, Agent, Confirm, Connect, refusal
from tests.databases import both_databases
from tests.factories import make_account, make_form
from webapp.answers.trash import delete_form, discard_draft, erase_form, purge_deleted, restore
from webapp.base.database import db, utc_now
from webapp.base.vocabulary import ConfirmationMethod
from webapp.drafts.editing import Repeatable, create_draft
from webapp.oauth.models import OAuthGrant
from webapp.oauth.tokens import purge_dead
from webapp.records.accounts.models import Account
from webapp.records.content.model import DraftUpdate
from webapp.records.drafts import Draft, DraftConfirmation, IdempotencyKey
from webapp.records.forms import Form

KEY = {"Idempotency-Key": "0d3f"}
DAY = timedelta(days=1)
ROTA = {"title": "Rota", "questions": ["Who?"]}


def review_link(draft_id: str) -> str:
    return f'<http://127.0.0.1:8000/drafts/{draft_id}>; rel="edit-form"'


def confirmation(agent: Agent, draft_id: str) -> str:
    return agent.get(f"/drafts/{draft_id}").headers["Askback-Confirmation"]


def test_a_draft_is_created(agent: Agent, account: Account) -> None:
    questions = ["What went wrong?", {"id": "who", "text": "Who?", "context": "A first name"}]

    response = agent.post("/drafts", json={"title": "Rota", "questions": questions})

    body, headers = response.json, response.headers
    draft_id, made_id = body["draftId"], body["questions"][0]["id"]
    assert response.status_code == 201
    assert body["questions"] == [{"id": made_id, "text": "What went wrong?"}, questions[1]]
    assert (headers["Link"], headers["ETag"]) == (review_link(draft_id), '"1"')
    assert headers["Location"] == f"http://127.0.0.1:8000/api/drafts/{draft_id}"
    assert headers["Cache-Control"] == "private, no-store"
    read = agent.get(f"/drafts/{draft_id}")
    assert (read.json, read.headers["ETag"]) == (body, '"1"')
    with agent.app.app_context():
        assert db.session.get_one(Draft, draft_id).account_id == account.id


@pytest.mark.parametrize(
    ("sent", "field", "answered"),
    [
        ({}, "title", ""),
        ({}, "questions", []),
        ({"goal": ""}, "goal", None),
        ({"maxTotalQuestions": 7.0}, "settings", SETTINGS | {"maxTotalQuestions": 7}),
        (
            {"followUpMode": "deep_dive"},
            "settings",
            SETTINGS | {"followUpMode": "deep_dive", "maxFollowupsPerQuestion": 5},
        ),
    ],
)
def test_what_is_left_out_has_a_usual_value(
    sent: Any, field: str, answered: Any, agent: Agent
) -> None:
    assert agent.post("/drafts", json=sent).json[field] == answered


def test_every_setting_is_kept_and_the_context_returned_nowhere(agent: Agent) -> None:
    settings = {
        "followUpMode": "smart",
        "responseMode": "text_only",
        "responseLimit": "one",
        "maxFollowupsPerQuestion": 3,
        "maxTotalQuestions": 12,
    }

    response = agent.post("/drafts", json=settings | {"context": "they are leaving"})

    assert response.json["settings"] == settings
    assert "they are leaving" not in response.text


@pytest.mark.parametrize(
    ("body", "code", "field"),
    [
        ({"title": "x" * 121}, "validation_failed", "title"),
        ({"questions": [{"id": "a", "text": "x"}] * 2}, "validation_failed", "questions[0].id"),
        ({"settings": {}}, "unknown_field", "settings"),
        ({"followUpMode": "smart"}, "context_required", "context"),
        ({"followUpMode": "smart", "context": " \n"}, "context_required", "context"),
        ({"title": "a\nb"}, "invalid_text", "title"),
    ],
)
def test_a_wrong_field_is_named_and_nothing_stored(
    body: Any, code: str, field: str, agent: Agent, draft_id: str
) -> None:
    for response in (
        agent.post("/drafts", json=body),
        agent.patch(f"/drafts/{draft_id}", json=body),
    ):
        assert refusal(response) == (400, code)
        assert response.json["message"].startswith(f"{field}: ")
    assert agent.get(f"/drafts/{draft_id}").headers["ETag"] == '"1"'
    with agent.app.app_context():
        assert db.session.scalar(select(func.count()).select_from(Draft)) == 1


@both_databases
def test_creations_at_once_with_one_key_make_one_draft(agent: Agent) -> None:
    def create(_number: int) -> str:
        response = agent.post("/drafts", json={"title": "Rota"}, headers=KEY)
        return str(response.json.get("draftId"))

    with ThreadPoolExecutor(8) as pool:
        made = set(pool.map(create, range(8)))

    with agent.app.app_context():
        assert {*db.session.scalars(select(Draft.id))} == made
    assert len(made) == 1


@both_databases
def test_a_repeat_returns_the_draft_as_it_was_created(agent: Agent, account: Account) -> None:
    def create() -> Any:
        return agent.post("/drafts", json={"title": "Rota"}, headers=KEY)

    first = create()
    agent.patch(f"/drafts/{first.json['draftId']}", json={"title": "Changed"})
    again = create()
    with agent.app.app_context():
        away = utc_now()
        discard_draft(account.id, first.json["draftId"], now=away)
        restore(account.id, away, now=away)

    assert (again.status_code, again.json, again.headers["ETag"]) == (201, first.json, '"1"')
    assert create().json == first.json


@both_databases
@pytest.mark.parametrize("meanwhile", ["another body", "discarded", "erased"])
def test_a_key_makes_no_second_draft(
    agent: Agent, account: Account, confirm: Confirm, meanwhile: str
) -> None:
    made = agent.post("/drafts", json=ROTA, headers=KEY).json["draftId"]
    body = ROTA | ({"goal": "x"} if meanwhile == "another body" else {})
    if meanwhile == "erased":
        confirm(made)
        form_id = agent.post(f"/drafts/{made}/publish").json["formId"]
    with agent.app.app_context():
        if meanwhile == "discarded":
            discard_draft(account.id, made, now=utc_now())
        if meanwhile == "erased":
            delete_form(account.id, form_id, now=utc_now())
            erase_form(account.id, form_id, now=utc_now())
            list(purge_deleted(utc_now()))
            assert db.session.get(Draft, made) is None

    second = agent.post("/drafts", json=body, headers=KEY)

    assert refusal(second) == (400, "idempotency_key_reused")


@both_databases
def test_a_key_makes_another_draft_the_next_day_and_is_not_kept_longer(
    agent: Agent, account: Account
) -> None:
    now = utc_now()

    def create(name: str, then: Any) -> str:
        key = Repeatable("client", name, "0" * 64)
        return create_draft(account.id, DraftUpdate(), author=None, now=then, repeatable=key).id

    with agent.app.app_context():
        made = create("old", now), create("young", now + DAY / 2)
        list(purge_dead(now + DAY))
        left = db.session.scalars(select(IdempotencyKey.key)).all()
        again = create("old", now + DAY)

    assert left == ["young"]
    assert again not in made


def test_a_key_is_of_one_account_and_has_one_to_255_characters(
    agent: Agent, connect: Connect
) -> None:
    with agent.app.app_context():
        stranger = connect(make_account().id)

    mine, others = (each.post("/drafts", json={}, headers=KEY) for each in (agent, stranger))

    assert mine.json["draftId"] != others.json["draftId"]
    for key in ("", "x" * 256):
        response = agent.post("/drafts", json={}, headers={"Idempotency-Key": key})
        assert refusal(response) == (400, "validation_failed")


@pytest.mark.parametrize(
    ("body", "revision", "confirmed"), [({}, '"1"', "current"), ({"goal": "x"}, '"2"', "stale")]
)
def test_a_change_makes_the_confirmation_stale_and_never_publishes(
    body: Any, revision: str, confirmed: str, agent: Agent, draft_id: str, confirm: Confirm
) -> None:
    assert confirmation(agent, draft_id) == "none"
    before = agent.get(f"/drafts/{draft_id}").json
    confirm(draft_id)

    response = agent.patch(f"/drafts/{draft_id}", json=body)

    assert (response.status_code, response.headers["ETag"]) == (200, revision)
    assert response.json == before | body
    assert confirmation(agent, draft_id) == confirmed


def test_a_change_is_merged_with_what_is_there(agent: Agent, draft_id: str) -> None:
    path = f"/drafts/{draft_id}"
    before = agent.get(path).json["questions"]

    body = {"questions": ["What went wrong?", "Who changed it?"]}  # which keep their ids
    assert agent.patch(path, json=body).json["questions"] == before[::-1]
    agent.patch(path, json={"context": "known", "followUpMode": "smart"})
    assert refusal(agent.patch(path, json={"context": ""})) == (400, "context_required")


@pytest.mark.parametrize(
    "named",
    ['"2"', 'W/"1"', "1", "'1'", "", '""', '"x", ""', '"01"', '"99999999999"', '"²"', '"1'],
)
def test_a_change_of_another_revision_is_refused(named: str, agent: Agent, draft_id: str) -> None:
    headers = {"If-Match": named.encode().decode("latin-1")}

    response = agent.patch(f"/drafts/{draft_id}", json={"title": "New"}, headers=headers)

    assert refusal(response) == (409, "revision_conflict")
    assert response.headers["Link"] == review_link(draft_id)
    assert agent.get(f"/drafts/{draft_id}").json["title"] == "Rota"
    for right in ("*", '"7", "1"'):
        headers = {"If-Match": right}
        assert agent.patch(f"/drafts/{draft_id}", json={}, headers=headers).status_code == 200


def test_a_confirmed_draft_is_published_once(agent: Agent, draft_id: str, confirm: Confirm) -> None:
    confirm(draft_id)

    response = agent.post(f"/drafts/{draft_id}/publish", data=b"\xff{", content_type="text/x")
    again = agent.post(f"/drafts/{draft_id}/publish")
    late = agent.patch(f"/drafts/{draft_id}", json={"title": "New"})

    body = response.json
    assert response.status_code == again.status_code == 200
    assert (body["questionCount"], body["idempotent"]) == (2, False)
    assert body["formId"].startswith("frm_")
    assert agent.app.test_client().get(body["shareUrl"]).status_code == 200
    assert again.json == body | {"idempotent": True}
    assert refusal(late) == (409, "draft_already_published")
    read = agent.get(f"/drafts/{draft_id}").json
    assert (read["status"], read["publishedFormId"]) == ("published", body["formId"])
    assert read["shareUrl"] == body["shareUrl"]


@pytest.mark.parametrize(
    ("how", "status", "code"),
    [
        ("unconfirmed", 409, "draft_not_confirmed"),
        ("changed", 409, "confirmation_stale"),
        ("discarded", 404, "draft_not_found"),
    ],
)
def test_a_draft_that_is_not_confirmed_as_it_is_stays_unpublished(
    how: str, status: int, code: str, agent: Agent, draft_id: str, confirm: Confirm
) -> None:
    if how != "unconfirmed":
        confirm(draft_id)
    if how == "changed":
        agent.patch(f"/drafts/{draft_id}", json={"title": "Unseen"})
    if how == "discarded":
        with agent.app.app_context():
            account_id = db.session.get_one(Draft, draft_id).account_id
            discard_draft(account_id, draft_id, now=utc_now())

    response = agent.post(f"/drafts/{draft_id}/publish")

    assert refusal(response) == (status, code)
    assert agent.get("/forms").json["formCount"] == 0
    if how != "discarded":
        assert f"http://127.0.0.1:8000/drafts/{draft_id} " in response.json["resolution"]
        assert f"/api/drafts/{draft_id}?wait=25 " in response.json["resolution"]
        assert response.headers["Link"] == review_link(draft_id)


@pytest.mark.parametrize("body", [{}, {"title": "T"}, {"questions": ["x"]}])
def test_an_incomplete_draft_is_not_published(body: dict[str, Any], agent: Agent) -> None:
    draft_id = agent.post("/drafts", json=body).json["draftId"]

    assert refusal(agent.post(f"/drafts/{draft_id}/publish")) == (409, "draft_incomplete")


def test_a_publish_with_if_match_applies_to_one_revision_only(
    agent: Agent, draft_id: str, confirm: Confirm
) -> None:
    confirm(draft_id)
    for named, status in (('"2"', 409), ('"1"', 200)):
        response = agent.post(f"/drafts/{draft_id}/publish", headers={"If-Match": named})
        assert response.status_code == status


def test_share_tokens_are_random(agent: Agent) -> None:
    with agent.app.app_context():
        forms = [make_form(make_account().id) for _ in range(20)]

    tokens = {form.share_token for form in forms}
    assert len(tokens) == 20
    assert {len(token) for token in tokens} == {22}  # 128 bits in base64


def attested(agent: Agent, draft_id: str) -> bool:
    """Whether a publish counted as the creator's word, by this connection."""
    assert agent.post(f"/drafts/{draft_id}/publish").status_code == 200
    with agent.app.app_context():
        found = select(DraftConfirmation.method, DraftConfirmation.grant_id)
        method, grant_id = db.session.execute(found).one()
        assert grant_id == db.session.scalars(select(OAuthGrant.id)).one()
    return bool(method is ConfirmationMethod.AGENT_ATTESTED)


@pytest.mark.settings(
    publish_confirmation="agent",
    transcriber="openai",
    transcriber_url="https://speech.example.org/v1",
    transcriber_model="any",
)
def test_the_operator_can_let_agents_publish_unconfirmed_drafts(
    agent: Agent, draft_id: str
) -> None:
    assert attested(agent, draft_id)
    with agent.app.app_context():
        voice = db.session.execute(select(Form.records_voice, Form.transcriber)).one()
    assert voice == (True, "speech.example.org")


def test_a_creator_can_let_one_connection_publish_unconfirmed_drafts(
    agent: Agent, draft_id: str
) -> None:
    with agent.app.app_context():
        db.session.execute(update(OAuthGrant).values(attests_publish=True))
        db.session.commit()

    assert attested(agent, draft_id)
