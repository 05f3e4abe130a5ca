"""What the creator says of a draft, as tools tell it"""

from functools import partial

import pytest
from flask import Flask

from tests.api.conftest import Agent
from tests.api.mcp.by_tools import AgentByTools
from tests.api.mcp.conftest import Host, Hosted
from tests.api.waiting import while_waiting
from webapp.answers import trash
from webapp.base.database import utc_now
from webapp.drafts import editing, returns
from webapp.records.accounts.models import Account
from webapp.records.content.draft_input import parse_draft_input

NOTE = "No names, please"


@pytest.fixture
def host(hosted: Hosted, account: Account, version: str) -> Host:
    return hosted(account.id, version=version)


def send_back(app: Flask, account: Account, draft_id: str, revision: int = 1) -> None:
    with app.app_context():
        by = {"revision": revision, "note": NOTE, "now": utc_now()}
        returns.return_draft(account.id, draft_id, **by)


def test_the_tool_tells_what_rest_tells(
    host: Host, agent: Agent, draft_id: str, account: Account
) -> None:
    with host.app.app_context():
        mine = parse_draft_input({"title": "Mine"})
        editing.update_draft(account.id, draft_id, mine, author=None, now=utc_now())
    send_back(host.app, account, draft_id, 2)

    found = host.use("get_form_draft", draftId=draft_id).structured_content
    by_rest = agent.get(f"/drafts/{draft_id}/review").json

    assert found is not None
    assert {name: found[name] for name in by_rest} == by_rest
    assert (by_rest["state"], by_rest["note"], len(by_rest["changes"])) == ("returned", NOTE, 1)
    assert found["confirmation"] == "returned"


@pytest.mark.usefixtures("frequent_looks")
def test_sending_back_ends_a_wait(host: Host, draft_id: str, account: Account) -> None:
    call = {"name": "get_form_draft", "arguments": {"draftId": draft_id, "timeoutSeconds": 25}}
    wait = partial(host.send, "tools/call", call)

    answer = while_waiting(host.app, wait, partial(send_back, host.app, account, draft_id))

    found = answer.get_json()["result"]["structuredContent"]
    assert (found["state"], found["note"], found["timedOut"]) == ("returned", NOTE, False)


def test_publishing_what_was_sent_back_is_refused_in_the_same_words(
    host: Host, agent: Agent, draft_id: str, account: Account
) -> None:
    send_back(host.app, account, draft_id)

    by_tool = AgentByTools(host).post(f"/drafts/{draft_id}/publish").json
    by_rest = agent.post(f"/drafts/{draft_id}/publish").json

    assert by_tool["code"] == by_rest["code"] == "draft_not_confirmed"
    assert by_tool["message"] == by_rest["message"]
    assert NOTE in by_rest["message"]


@pytest.mark.parametrize("tool", ["update_form_draft", "publish_form_draft", "get_form_draft"])
def test_a_discarded_draft_is_refused_with_the_note(
    host: Host, draft_id: str, account: Account, tool: str
) -> None:
    with host.app.app_context():
        trash.discard_draft(account.id, draft_id, note=NOTE, now=utc_now())

    refused = host.use(tool, draftId=draft_id)

    assert refused.is_error
    assert f"Z, with the note “{NOTE}”." in str(refused.content)
