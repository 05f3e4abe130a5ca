"""Agents do not find a form in the trash, and find it again after it is restored."""

from typing import Any

import pytest

from tests.api.conftest import Agent
from tests.factories import make_form, make_response
from webapp.answers.trash import delete_form, restore_form
from webapp.base.database import utc_now
from webapp.records.accounts.models import Account

CALLS = [
    ("get", "/forms/{form}"),
    ("get", "/forms/{form}/responses"),
    ("get", "/drafts/{draft}"),
    ("patch", "/drafts/{draft}"),
    ("post", "/drafts/{draft}/publish"),
]


@pytest.fixture
def deleted(agent: Agent, account: Account) -> Any:
    with agent.app.app_context():
        form = make_form(account.id)
        make_response(form)
        delete_form(account.id, form.id, now=utc_now())
        return form


def call(agent: Agent, method: str, path: str, form: Any) -> Any:
    body = {"json": {"goal": "other"}} if method == "patch" else {}
    return getattr(agent, method)(path.format(form=form.id, draft=form.draft_id), **body)


@pytest.mark.parametrize(("method", "path"), CALLS)
def test_a_deleted_form_is_not_found(agent: Agent, deleted: Any, method: str, path: str) -> None:
    response = call(agent, method, path, deleted)

    assert response.status_code == 404
    assert response.json["code"] in {"form_not_found", "draft_not_found"}


def test_a_deleted_form_is_not_listed(agent: Agent, deleted: Any) -> None:
    assert agent.get("/forms").json == {"formCount": 0, "forms": []}


def test_a_restored_form_has_its_responses(agent: Agent, account: Account, deleted: Any) -> None:
    with agent.app.app_context():
        restore_form(account.id, deleted.id, now=utc_now())

    body = agent.get(f"/forms/{deleted.id}/responses").json

    assert body["returnedAnswerCount"] == 1
    assert agent.post(f"/drafts/{deleted.draft_id}/publish").json["formId"] == deleted.id
