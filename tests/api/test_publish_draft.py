"""publishServiceDraft"""

from typing import Any

import pytest
from sqlalchemy import select, update

from tests.api.conftest import Agent, Confirm, refusal
from tests.databases import both_databases
from tests.factories import make_account, make_form
from webapp.answers.trash import discard_draft
from webapp.base.database import db, utc_now
from webapp.base.vocabulary import ConfirmationMethod
from webapp.oauth.models import OAuthGrant
from webapp.records.accounts.models import Account
from webapp.records.drafts import DraftConfirmation
from webapp.records.forms import Form


def test_a_confirmed_draft_is_published(agent: Agent, draft_id: str, confirm: Confirm) -> None:
    confirm(draft_id)

    response = agent.post(f"/drafts/{draft_id}/publish")

    body = response.json
    assert response.status_code == 200
    assert body == {
        "formId": body["formId"],
        "status": "published",
        "title": "Rota",
        "shareUrl": body["shareUrl"],
        "questionCount": 2,
        "responseLimit": "multiple",
        "idempotent": False,
    }
    assert body["formId"].startswith("frm_")
    assert body["shareUrl"].startswith("http://127.0.0.1:8000/r/")


@both_databases
def test_an_id_that_is_longer_than_any_is_not_found(agent: Agent) -> None:
    response = agent.post(f"/drafts/{'x' * 41}/publish")

    assert refusal(response) == (404, "draft_not_found")


def test_a_repeat_returns_the_same_form(agent: Agent, draft_id: str, confirm: Confirm) -> None:
    confirm(draft_id)
    first = agent.post(f"/drafts/{draft_id}/publish")

    second = agent.post(f"/drafts/{draft_id}/publish")

    assert (second.status_code, second.json) == (200, first.json | {"idempotent": True})


def test_a_discarded_draft_is_not_published(
    agent: Agent, draft_id: str, confirm: Confirm, account: Account
) -> None:
    confirm(draft_id)
    with agent.app.app_context():
        discard_draft(account.id, draft_id, now=utc_now())

    response = agent.post(f"/drafts/{draft_id}/publish")

    assert refusal(response) == (404, "draft_not_found")
    assert agent.get("/forms").json["formCount"] == 0


def test_the_share_token_has_128_random_bits(agent: Agent) -> None:
    with agent.app.app_context():
        forms = [make_form(make_account().id) for _ in range(50)]

    tokens = {form.share_token for form in forms}
    assert len(tokens) == 50
    assert {len(token) for token in tokens} == {22}  # 128 bits in base64
    assert not any(form.share_token in form.id or form.id in form.share_token for form in forms)


def test_the_share_link_opens(agent: Agent, draft_id: str, confirm: Confirm) -> None:
    confirm(draft_id)

    share_url = agent.post(f"/drafts/{draft_id}/publish").json["shareUrl"]

    assert agent.app.test_client().get(share_url).status_code == 200


def test_an_unconfirmed_draft_is_not_published(agent: Agent, draft_id: str) -> None:
    response = agent.post(f"/drafts/{draft_id}/publish")

    assert refusal(response) == (409, "draft_not_confirmed")
    assert agent.get("/forms").json["formCount"] == 0


def test_a_confirmation_of_an_earlier_revision_is_stale(
    agent: Agent, draft_id: str, confirm: Confirm
) -> None:
    confirm(draft_id)
    agent.patch(f"/drafts/{draft_id}", json={"title": "Unseen"})

    response = agent.post(f"/drafts/{draft_id}/publish")

    assert refusal(response) == (409, "confirmation_stale")


@pytest.mark.parametrize("changes", [{}, {"title": "Unseen"}])
def test_the_refusal_names_the_review_page(
    changes: dict[str, Any], agent: Agent, draft_id: str, confirm: Confirm
) -> None:
    if changes:
        confirm(draft_id)
    agent.patch(f"/drafts/{draft_id}", json=changes)

    response = agent.post(f"/drafts/{draft_id}/publish")

    review = f"http://127.0.0.1:8000/drafts/{draft_id}"
    assert review in response.json["resolution"]
    assert response.headers["Link"] == f'<{review}>; rel="edit-form"'


@pytest.mark.parametrize("body", [{}, {"title": "T"}, {"questions": ["x"]}])
def test_an_incomplete_draft_is_not_published(body: dict[str, Any], agent: Agent) -> None:
    draft_id = agent.post("/drafts", json=body).json["draftId"]

    response = agent.post(f"/drafts/{draft_id}/publish")

    assert refusal(response) == (409, "draft_incomplete")


def test_a_body_is_ignored(agent: Agent, draft_id: str, confirm: Confirm) -> None:
    confirm(draft_id)

    response = agent.post(f"/drafts/{draft_id}/publish", data=b"\xff{", content_type="text/x")

    assert response.status_code == 200


def test_a_body_over_the_limit_is_refused(agent: Agent, draft_id: str) -> None:
    response = agent.post(f"/drafts/{draft_id}/publish", data=b"x" * (256 * 1024 + 1))

    assert refusal(response) == (400, "payload_too_large")


@pytest.mark.parametrize(("named", "status"), [('"1"', 200), ('"2"', 409)])
def test_a_publish_with_if_match_applies_to_one_revision_only(
    named: str, status: int, agent: Agent, draft_id: str, confirm: Confirm
) -> None:
    confirm(draft_id)

    response = agent.post(f"/drafts/{draft_id}/publish", headers={"If-Match": named})

    assert response.status_code == status


@pytest.mark.settings(publish_confirmation="agent")
def test_the_operator_can_let_agents_publish_unconfirmed_drafts(
    agent: Agent, draft_id: str
) -> None:
    response = agent.post(f"/drafts/{draft_id}/publish")

    assert (response.status_code, how_confirmed(agent)) == (200, attested_by(agent))


@pytest.mark.settings(
    publish_confirmation="agent",
    transcriber="openai",
    transcriber_url="https://speech.example.org/v1",
    transcriber_model="any",
)
def test_an_agents_word_takes_what_this_server_does_with_spoken_answers(
    agent: Agent, draft_id: str
) -> None:
    agent.post(f"/drafts/{draft_id}/publish")

    with agent.app.app_context():
        terms = db.session.execute(select(Form.records_voice, Form.transcriber)).one()
    assert terms == (True, "speech.example.org")


def test_a_creator_can_let_one_connection_publish_unconfirmed_drafts(
    agent: Agent, draft_id: str
) -> None:
    with agent.app.app_context():
        db.session.execute(update(OAuthGrant).values(attests_publish=True))
        db.session.commit()

    response = agent.post(f"/drafts/{draft_id}/publish")

    assert (response.status_code, how_confirmed(agent)) == (200, attested_by(agent))


def how_confirmed(agent: Agent) -> tuple[ConfirmationMethod, str | None]:
    with agent.app.app_context():
        found = db.session.execute(
            select(DraftConfirmation.method, DraftConfirmation.grant_id)
        ).one()
        return found.method, found.grant_id


def attested_by(agent: Agent) -> tuple[ConfirmationMethod, str | None]:
    with agent.app.app_context():
        grant_id = db.session.scalars(select(OAuthGrant.id)).one()
        return ConfirmationMethod.AGENT_ATTESTED, grant_id
