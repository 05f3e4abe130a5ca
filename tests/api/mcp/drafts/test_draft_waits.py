"""The tool that waits for the creator of a draft"""

from collections.abc import Callable
from functools import partial

import pytest
from werkzeug.test import TestResponse

from tests.api.conftest import Agent, Confirm
from tests.api.mcp.conftest import Host, Hosted
from tests.api.waiting import while_waiting
from webapp.base.database import utc_now
from webapp.oauth import connections
from webapp.records.accounts.models import Account
from webapp.web import wakeups


@pytest.fixture
def host(hosted: Hosted, account: Account, version: str) -> Host:
    return hosted(account.id, version=version)


def answer_to_wait(host: Host, draft_id: str, happens: Callable[[], object]) -> TestResponse:
    """The answer of a wait that began before the event."""
    call = {"name": "get_form_draft", "arguments": {"draftId": draft_id, "timeoutSeconds": 25}}
    return while_waiting(host.app, partial(host.send, "tools/call", call), happens)


@pytest.mark.usefixtures("frequent_looks")
def test_a_confirmation_ends_a_wait(host: Host, draft_id: str, confirm: Confirm) -> None:
    answer = answer_to_wait(host, draft_id, lambda: confirm(draft_id))

    found = answer.get_json()["result"]["structuredContent"]
    assert (found["confirmation"], found["timedOut"]) == ("current", False)


def test_a_change_by_either_door_ends_a_wait_at_once(
    host: Host, agent: Agent, draft_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wakeups, "LOOK_SECONDS", 60)  # so that only the wake-up can end it in time

    by_rest = answer_to_wait(
        host, draft_id, lambda: agent.patch(f"/drafts/{draft_id}", json={"title": "R"})
    )
    by_tool = answer_to_wait(
        host, draft_id, lambda: host.use("update_form_draft", draftId=draft_id, title="T")
    )

    titles = [
        each.get_json()["result"]["structuredContent"]["title"] for each in (by_rest, by_tool)
    ]
    assert titles == ["R", "T"]


@pytest.mark.usefixtures("frequent_looks")
def test_a_wait_whose_token_ends_is_answered_as_a_new_request(
    host: Host, draft_id: str, account: Account
) -> None:
    def disconnect() -> None:
        with host.app.app_context():
            connections.disconnect_all(account.id, now=utc_now())

    answer = answer_to_wait(host, draft_id, disconnect)

    assert answer.status_code == 401
    assert 'error="invalid_token"' in answer.headers["WWW-Authenticate"]
    assert answer.get_json()["id"] == 7
