"""The tools that write drafts answer what the REST routes answer, and where they are reviewed"""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest
from flask import Flask
from sqlalchemy.exc import OperationalError

from tests.api.conftest import Agent, Confirm, Connect
from tests.api.mcp.conftest import Host, Hosted, refused
from tests.databases import both_databases, on_postgresql
from tests.factories import make_account
from tests.races.threads import each_statement
from webapp.records.accounts.models import Account

REVIEW = "http://127.0.0.1:8000/drafts/"
GIVEN = {
    "title": "Rota",
    "goal": "Find out",
    "context": "Nobody may read this",
    "questions": ["Who changed it?", {"id": "why", "text": "Why?", "context": "In short"}],
    "followUpMode": "smart",
    "responseLimit": "one",
}


def without(content: dict[str, Any] | None, *names: str) -> dict[str, Any]:
    assert content is not None
    return {name: value for name, value in content.items() if name not in names}


def test_a_draft_is_created_as_by_rest(host: Host, agent: Agent) -> None:
    made = host.use("create_form_draft", **GIVEN).structured_content

    assert made is not None
    by_rest = agent.get(f"/drafts/{made['draftId']}").json
    assert without(made, "revision", "reviewUrl") == by_rest
    assert (made["revision"], made["reviewUrl"]) == (1, REVIEW + made["draftId"])
    created = agent.post("/drafts", json=GIVEN).json
    ids = "draftId", "questions"
    assert without(created, *ids) == without(by_rest, *ids)
    assert "Nobody" not in str(made)


def test_a_draft_is_changed_as_by_rest(host: Host, agent: Agent, draft_id: str) -> None:
    changed = host.use("update_form_draft", draftId=draft_id, title="New").structured_content

    assert changed is not None
    assert without(changed, "revision", "reviewUrl") == agent.get(f"/drafts/{draft_id}").json
    assert (changed["title"], changed["revision"]) == ("New", 2)
    assert changed["reviewUrl"] == REVIEW + draft_id


def test_a_confirmed_draft_is_published_once(
    host: Host, agent: Agent, draft_id: str, confirm: Confirm
) -> None:
    confirm(draft_id)
    first = host.use("publish_form_draft", draftId=draft_id).structured_content
    second = host.use("publish_form_draft", draftId=draft_id).structured_content

    by_rest = agent.post(f"/drafts/{draft_id}/publish").json
    assert without(second, "reviewUrl") == by_rest
    assert without(first, "reviewUrl") == by_rest | {"idempotent": False}
    assert first is not None
    assert first["reviewUrl"] == REVIEW + draft_id


def test_a_draft_tells_what_rest_tells_in_headers(
    host: Host, agent: Agent, draft_id: str, confirm: Confirm
) -> None:
    def told() -> tuple[Any, ...]:
        found = host.use("get_form_draft", draftId=draft_id).structured_content
        by_rest = agent.get(f"/drafts/{draft_id}")
        assert found is not None
        review = agent.get(f"/drafts/{draft_id}/review").json
        extra = {"confirmation", "timedOut", *review} - by_rest.json.keys()
        assert without(found, *extra) == by_rest.json
        assert {name: found[name] for name in review} == review
        assert by_rest.headers["ETag"] == f'"{found["revision"]}"'
        assert by_rest.headers["Link"] == f'<{found["reviewUrl"]}>; rel="edit-form"'
        assert by_rest.headers["Askback-Confirmation"] == found["confirmation"]
        return found["confirmation"], found["timedOut"]

    seen = [told()]
    confirm(draft_id)
    seen.append(told())
    host.use("update_form_draft", draftId=draft_id, title="New")
    seen.append(told())
    confirm(draft_id)
    host.use("publish_form_draft", draftId=draft_id)
    seen.append(told())

    assert seen == [("none", False), ("current", False), ("stale", False), ("current", False)]


def test_a_draft_larger_than_a_body_is_refused(host: Host, draft_id: str) -> None:
    questions = ["x" * 140_000, "y" * 140_000]

    for found in (
        host.use("create_form_draft", questions=questions),
        host.use("update_form_draft", draftId=draft_id, questions=questions),
    ):
        assert refused(found)["code"] == "payload_too_large"


def test_a_draft_of_another_account_is_not_found(host: Host, hosted: Hosted, draft_id: str) -> None:
    with host.app.app_context():
        other = hosted(make_account().id, version=host.version)

    for tool in ("get_form_draft", "update_form_draft", "publish_form_draft"):
        theirs = refused(other.use(tool, draftId=draft_id))
        assert theirs == refused(other.use(tool, draftId="drf_unknown"))
        assert theirs["code"] == "draft_not_found"


def test_an_agent_token_is_made_as_by_rest(host: Host, agent: Agent, form: Any) -> None:
    made = host.use("create_agent_token", formId=form.id, label="Nightly", expiresInSeconds=600)
    by_rest = agent.post(
        f"/forms/{form.id}/agent-tokens", json={"label": "Nightly", "expiresInSeconds": 600}
    ).json

    content = made.structured_content
    assert content is not None
    own = "tokenId", "token", "hint", "expiresAt"
    assert without(content, *own) == without(by_rest, *own)
    assert content.keys() == by_rest.keys()
    headers = {"Authorization": f"Bearer {content['token']}"}
    reading = host.app.test_client().get(content["answersUrl"], headers=headers)
    assert reading.status_code == 200


@both_databases
def test_both_doors_at_once_publish_a_draft_once(
    app: Flask, hosted: Hosted, connect: Connect, account: Account, confirm: Confirm
) -> None:
    host, agent = hosted(account.id), connect(account.id)
    made = agent.post("/drafts", json={"title": "Rota", "questions": ["Who?"]}).json["draftId"]
    confirm(made)

    def by_tool() -> Any:
        return host.use("publish_form_draft", draftId=made).structured_content

    def by_rest() -> Any:
        return agent.post(f"/drafts/{made}/publish").json

    with ThreadPoolExecutor(8) as pool:
        answers = [
            each.result(20) for each in [pool.submit(each) for each in [by_tool, by_rest] * 4]
        ]

    assert len({answer["formId"] for answer in answers}) == 1
    assert [answer["idempotent"] for answer in answers].count(False) == 1


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
