"""The tools that write drafts answer what the REST routes answer, and where they are reviewed"""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import pytest

from tests.api.conftest import Agent, Confirm
from tests.api.mcp.conftest import Host, Hosted, refused
from tests.factories import make_account
from webapp.database import utc_now
from webapp.domain.accounts.models import Account
from webapp.oauth import connections
from webapp.web import wakeups

REVIEW = "http://127.0.0.1:8000/drafts/"
GIVEN = {
    "title": "Rota",
    "goal": "Find out",
    "context": "Nobody may read this",
    "questions": ["Who changed it?", {"id": "why", "text": "Why?", "context": "In short"}],
    "followUpMode": "smart",
    "responseLimit": "one",
}


@pytest.fixture
def host(hosted: Hosted, account: Account, version: str) -> Host:
    return hosted(account.id, version=version)


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


@pytest.mark.settings(publish_confirmation="agent")
def test_the_operator_can_let_tools_publish_unconfirmed_drafts(host: Host, draft_id: str) -> None:
    published = host.use("publish_form_draft", draftId=draft_id).structured_content

    assert published is not None
    assert published["status"] == "published"


def test_a_draft_tells_what_rest_tells_in_headers(
    host: Host, agent: Agent, draft_id: str, confirm: Confirm
) -> None:
    def told() -> tuple[Any, ...]:
        found = host.use("get_form_draft", draftId=draft_id).structured_content
        by_rest = agent.get(f"/drafts/{draft_id}")
        assert found is not None
        extra = "revision", "reviewUrl", "confirmation", "timedOut"
        assert without(found, *extra) == by_rest.json
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


def test_null_is_absent_in_a_read_and_wrong_in_a_draft(host: Host, draft_id: str) -> None:
    read = host.use("get_form_draft", draftId=draft_id, timeoutSeconds=None)
    changed = refused(host.use("update_form_draft", draftId=draft_id, title=None))
    needed = refused(host.use("get_form_draft", draftId=None))
    unknown = refused(host.use("get_form_draft", draftId=draft_id, colour=None))

    assert not read.is_error
    assert changed["code"] == "validation_failed"
    assert "null is not accepted" in changed["resolution"]
    assert needed["message"] == "draftId: is missing."
    assert unknown["code"] == "unknown_field"


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


def while_waiting(host: Host, draft_id: str, happens: Callable[[], object]) -> Any:
    """What a wait answers that began before the event, within two seconds of it."""
    arguments = {"draftId": draft_id, "timeoutSeconds": 25}
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(
            host.send, "tools/call", {"name": "get_form_draft", "arguments": arguments}
        )
        time.sleep(0.3)
        assert not answer.done()
        happens()
        return answer.result(2)


def test_a_confirmation_ends_a_wait(host: Host, draft_id: str, confirm: Confirm) -> None:
    answer = while_waiting(host, draft_id, lambda: confirm(draft_id))

    found = answer.get_json()["result"]["structuredContent"]
    assert (found["confirmation"], found["timedOut"]) == ("current", False)


def test_a_change_by_either_door_ends_a_wait_at_once(
    host: Host, agent: Agent, draft_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wakeups, "LOOK_SECONDS", 60)  # so that only the wake-up can end it in time

    by_rest = while_waiting(
        host, draft_id, lambda: agent.patch(f"/drafts/{draft_id}", json={"title": "R"})
    )
    by_tool = while_waiting(
        host, draft_id, lambda: host.use("update_form_draft", draftId=draft_id, title="T")
    )

    titles = [
        each.get_json()["result"]["structuredContent"]["title"] for each in (by_rest, by_tool)
    ]
    assert titles == ["R", "T"]


def test_a_wait_whose_token_ends_is_answered_as_a_new_request(
    host: Host, draft_id: str, account: Account
) -> None:
    def disconnect() -> None:
        with host.app.app_context():
            connections.disconnect_all(account.id, now=utc_now())

    answer = while_waiting(host, draft_id, disconnect)

    assert answer.status_code == 401
    assert 'error="invalid_token"' in answer.headers["WWW-Authenticate"]
    assert answer.get_json()["id"] == 7


def test_a_wait_ends_after_its_time(host: Host, draft_id: str) -> None:
    started = time.monotonic()

    found = host.use("get_form_draft", draftId=draft_id, timeoutSeconds=1).structured_content

    assert found is not None
    assert (found["confirmation"], found["timedOut"]) == ("none", True)
    assert 0.9 < time.monotonic() - started < 3


def test_without_a_place_a_wait_is_answered_at_once(
    host: Host, draft_id: str, account: Account
) -> None:
    with ExitStack() as taken:
        for _ in range(wakeups.OF_ACCOUNT):
            taken.enter_context(host.app.extensions["wakeups"].slot(account.id))
        began = time.monotonic()
        found = host.use("get_form_draft", draftId=draft_id, timeoutSeconds=25).structured_content

    assert time.monotonic() - began < 1
    assert found is not None
    assert (found["timedOut"], found["retryAfterMs"]) == (True, 2000)


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
