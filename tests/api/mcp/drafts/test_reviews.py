"""What the creator says of a draft, as tools tell it"""

from functools import partial

import pytest
from flask import Flask

from tests.api.conftest import Agent
from tests.api.mcp.conftest import Host, Hosted
from tests.api.waiting import while_waiting
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
