"""The tool that waits for the creator of a draft"""

import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial

import pytest
from werkzeug.test import TestResponse

from tests.api.conftest import Agent, Confirm
from tests.api.mcp.conftest import Host, Hosted
from tests.api.waiting import SOON_SECONDS, at_once, while_waiting
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


def test_a_wait_ends_after_its_time(host: Host, draft_id: str) -> None:
    started = time.monotonic()

    found = host.use("get_form_draft", draftId=draft_id, timeoutSeconds=1).structured_content

    assert found is not None
    assert (found["confirmation"], found["timedOut"]) == ("none", True)
    assert 0.9 < time.monotonic() - started < SOON_SECONDS


def test_without_a_place_a_wait_is_answered_at_once(
    host: Host, draft_id: str, account: Account
) -> None:
    with ExitStack() as taken:
        for _ in range(wakeups.OF_ACCOUNT):
            taken.enter_context(host.app.extensions["wakeups"].slot(account.id))
        wait = partial(host.use, "get_form_draft", draftId=draft_id, timeoutSeconds=25)
        found = at_once(wait).structured_content

    assert found is not None
    assert (found["timedOut"], found["retryAfterMs"]) == (True, 2000)
