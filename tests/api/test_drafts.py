"""Creating, changing, reading and publishing drafts."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import func, select, update
from werkzeug.test import TestResponse

from tests.api.conftest import Agent, Confirm, Connect, refusal
from tests.databases import both_databases
from tests.factories import make_account
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


WRONG: list[tuple[Any, str, str]] = [
    ({"title": "x" * 121}, "validation_failed", "title"),
    ({"questions": [{"id": "a", "text": "x"}] * 2}, "validation_failed", "questions[0].id"),
    ({"settings": {}}, "unknown_field", "settings"),
    ({"followUpMode": "smart"}, "context_required", "context"),
    ({"followUpMode": "smart", "context": " \n"}, "context_required", "context"),
    ({"title": "a\nb"}, "invalid_text", "title"),
]


def test_a_wrong_field_is_named_and_nothing_stored(agent: Agent, draft_id: str) -> None:
    path = f"/drafts/{draft_id}"
    for body, code, field in WRONG:
        for response in (agent.post("/drafts", json=body), agent.patch(path, json=body)):
            assert refusal(response) == (400, code)
            assert response.json["message"].startswith(f"{field}: ")
    assert agent.get(path).headers["ETag"] == '"1"'
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
    made, now = agent.post("/drafts", json=ROTA, headers=KEY).json["draftId"], utc_now()
    if meanwhile == "discarded":
        with agent.app.app_context():
            discard_draft(account.id, made, now=now)
    if meanwhile == "erased":
        confirm(made)
        form_id = agent.post(f"/drafts/{made}/publish").json["formId"]
        with agent.app.app_context():
            delete_form(account.id, form_id, now=utc_now())
            erase_form(account.id, form_id, now=utc_now())
            list(purge_deleted(utc_now()))
            assert db.session.get(Draft, made) is None

    body = ROTA | ({"goal": "x"} if meanwhile == "another body" else {})
    assert refusal(agent.post("/drafts", json=body, headers=KEY)) == (400, "idempotency_key_reused")


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


def test_a_change_makes_the_confirmation_stale_and_never_publishes(
    agent: Agent, draft_id: str, confirm: Confirm
) -> None:
    assert confirmation(agent, draft_id) == "none"
    before = agent.get(f"/drafts/{draft_id}").json
    confirm(draft_id)

    for body, revision, confirmed in (({}, '"1"', "current"), ({"goal": "x"}, '"2"', "stale")):
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


OTHERS = ['"2"', 'W/"1"', "1", "", '"01"', '"99999999999"']


def test_a_change_of_another_revision_is_refused(agent: Agent, draft_id: str) -> None:
    def change(named: str, **body: str) -> TestResponse:
        headers = {"If-Match": named.encode().decode("latin-1")}
        return agent.patch(f"/drafts/{draft_id}", json=body, headers=headers)

    for named in OTHERS:
        response = change(named, title="New")
        assert refusal(response) == (409, "revision_conflict")
        assert response.headers["Link"] == review_link(draft_id)
    for named in ("*", '"7", "1"'):
        response = change(named)
        assert (response.status_code, response.json["title"]) == (200, "Rota")


def test_a_draft_is_published_once_and_only_as_its_creator_confirmed_it(
    agent: Agent, draft_id: str, confirm: Confirm
) -> None:
    path, publish = f"/drafts/{draft_id}", f"/drafts/{draft_id}/publish"

    def refused(**request: Any) -> str:
        response = agent.post(publish, **request)
        status, code = refusal(response)
        assert (status, response.headers["Link"]) == (409, review_link(draft_id))
        if code != "revision_conflict":
            assert f"http://127.0.0.1:8000{path} " in response.json["resolution"]
            assert f"/api{path}?wait=25 " in response.json["resolution"]
        assert agent.get("/forms").json["formCount"] == 0
        return code

    assert refused() == "draft_not_confirmed"
    confirm(draft_id)
    agent.patch(path, json={"title": "Unseen"})
    assert refused() == "confirmation_stale"
    confirm(draft_id)
    assert refused(headers={"If-Match": '"1"'}) == "revision_conflict"

    body = {"data": b"\xff{", "content_type": "text/x"}  # which is ignored
    response = agent.post(publish, headers={"If-Match": '"2"'}, **body)
    again, late = agent.post(publish), agent.patch(path, json={"title": "New"})

    form, read = response.json, agent.get(path).json
    assert response.status_code == again.status_code == 200
    assert (form["questionCount"], form["idempotent"]) == (2, False)
    assert agent.app.test_client().get(form["shareUrl"]).status_code == 200
    assert again.json == form | {"idempotent": True}
    assert refusal(late) == (409, "draft_already_published")
    assert (read["status"], read["publishedFormId"]) == ("published", form["formId"])
    assert read["shareUrl"] == form["shareUrl"]


def attested(agent: Agent, draft_id: str) -> bool:
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
