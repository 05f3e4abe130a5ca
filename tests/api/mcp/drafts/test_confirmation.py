"""Hosts that open addresses for their user are asked to, when a draft lacks its confirmation"""

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import pytest
from mcp_types import CallToolResult, InputRequiredResult

from api.mcp.tools import drafts
from tests.api.conftest import Agent, Confirm, while_waiting
from tests.api.mcp.conftest import LEGACY, Host, Hosted, refused
from tests.conftest import Clock
from tests.factories import make_account
from webapp.base.database import utc_now
from webapp.drafts.reviews import return_draft
from webapp.records.accounts.models import Account

REVIEW = "http://127.0.0.1:8000/drafts/"
OPENS = {"elicitation": {"form": {}, "url": {}}}
SIGNED = ("version", "account", "method", "draft", "revision", "ends_at")
ACCEPTED = {"confirm": {"action": "accept"}}


@pytest.fixture
def no_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drafts, "WAIT_MAX_SECONDS", 0)


@pytest.fixture
def host(hosted: Hosted, account: Account) -> Host:
    return opening(hosted, account)


def opening(hosted: Hosted, account: Account) -> Host:
    host = hosted(account.id)
    host.capabilities = OPENS
    return host


def publish(host: Host, draft_id: str, **params: Any) -> dict[str, Any]:
    call = {"name": "publish_form_draft", "arguments": {"draftId": draft_id}}
    return host.result("tools/call", call | params)


def asked(host: Host, draft_id: str, **params: Any) -> str:
    result = publish(host, draft_id, **params)
    needed = InputRequiredResult.model_validate(result)
    assert result["resultType"] == "input_required"
    assert "content" not in result
    assert needed.input_requests.keys() == {"confirm"}
    wanted = needed.input_requests["confirm"].params
    assert (wanted.url, wanted.mode) == (REVIEW + draft_id, "url")
    assert needed.request_state
    return needed.request_state


def retried(host: Host, draft_id: str, state: Any, responses: Any = ACCEPTED) -> dict[str, Any]:
    return publish(host, draft_id, inputResponses=responses, requestState=state)


def told(result: dict[str, Any]) -> dict[str, str]:
    return refused(CallToolResult.model_validate(result))


def while_open(host: Host, draft_id: str, happens: Callable[[], object]) -> dict[str, Any]:
    call = partial(retried, host, draft_id, asked(host, draft_id))
    return while_waiting(host.app, call, happens)


@pytest.mark.usefixtures("frequent_looks")
def test_an_accepted_call_waits_for_the_confirmation_and_publishes(
    host: Host, agent: Agent, draft_id: str, confirm: Confirm
) -> None:
    def reviewed() -> None:  # a change, by whomever, is no end of the review
        agent.patch(f"/drafts/{draft_id}", json={"title": "Better"})
        confirm(draft_id)

    result = while_open(host, draft_id, reviewed)

    assert result["structuredContent"]["title"] == "Better"
    assert result["structuredContent"]["idempotent"] is False


@pytest.mark.usefixtures("frequent_looks")
def test_what_is_changed_after_the_confirmation_stays_unpublished(
    host: Host, agent: Agent, draft_id: str, confirm: Confirm, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish_at_once = drafts.publish_draft

    def publish_late(caller: Any, draft_id: str) -> Any:
        if agent.get(f"/drafts/{draft_id}").headers["Askback-Confirmation"] == "current":
            agent.patch(f"/drafts/{draft_id}", json={"title": "Changed"})
        return publish_at_once(caller, draft_id)

    monkeypatch.setattr(drafts, "publish_draft", publish_late)

    result = while_open(host, draft_id, lambda: confirm(draft_id))

    assert told(result)["code"] == "confirmation_stale"
    assert agent.get("/forms").json["forms"] == []


@pytest.mark.usefixtures("frequent_looks")
def test_a_draft_that_is_sent_back_meanwhile_ends_the_wait_and_nobody_is_asked_again(
    host: Host, draft_id: str, account: Account
) -> None:
    def send_back() -> None:
        with host.app.app_context():
            return_draft(account.id, draft_id, revision=1, note="Shorter, please", now=utc_now())

    for result in (while_open(host, draft_id, send_back), publish(host, draft_id)):
        assert "“Shorter, please”" in told(result)["message"]


MISSING: list[Any] = [None, {}, [], "accept", {"other": {"action": "accept"}}]
MISSING += [{"confirm": each} for each in (None, "accept", {}, {"action": None})]
MISSING += [{"confirm": {"action": each}} for each in (["accept"], "Accept")]


def test_a_missing_answer_or_a_forged_state_asks_again(host: Host, draft_id: str) -> None:
    state = asked(host, draft_id)
    payload, _, mac = state.rpartition(".")
    forged = ["", "x", "x.y", "é", "a" * 10_000, 7, None, [], {"a": "b"}]
    forged += [f"{payload}A.{mac}", f"{payload}.{mac[::-1]}", payload]

    for responses in MISSING:
        asked(host, draft_id, requestState=state, inputResponses=responses)
    for action, other in product(("accept", "decline", "cancel"), forged):
        answer = {"confirm": {"action": action}}
        asked(host, draft_id, inputResponses=answer, requestState=other)


@pytest.mark.usefixtures("no_wait")
def test_a_state_that_was_signed_for_something_else_is_as_none(host: Host, draft_id: str) -> None:
    state = asked(host, draft_id)
    for place in ("version", "account", "method", "draft", "revision"):
        with host.app.app_context():
            signer = drafts._signer()
            signed = dict(zip(SIGNED, signer.loads(state), strict=True))
            other = signer.dumps([*(signed | {place: "other"}).values()])
        asked(host, draft_id, inputResponses=ACCEPTED, requestState=other)


@pytest.mark.usefixtures("no_wait")
def test_a_state_expires(
    host: Host, draft_id: str, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drafts, "utc_now", lambda: clock.now)
    state = asked(host, draft_id)

    clock.forward(minutes=15, seconds=-1)
    assert retried(host, draft_id, state)["isError"]
    clock.forward(seconds=1)
    asked(host, draft_id, inputResponses=ACCEPTED, requestState=state)


def test_the_state_of_another_account_and_the_legacy_era_are_of_no_use(
    host: Host, hosted: Hosted, account: Account, draft_id: str
) -> None:
    state = asked(host, draft_id)
    with host.app.app_context():
        stranger = opening(hosted, make_account())
    assert told(retried(stranger, draft_id, state))["code"] == "draft_not_found"

    legacy = hosted(account.id, version=LEGACY)
    legacy.result("initialize", {"protocolVersion": LEGACY, "capabilities": OPENS})
    found = publish(legacy, draft_id)
    assert found["isError"]
    assert "resultType" not in found


UNABLE: list[dict[str, Any]] = [{}, {"url": {}}, {"elicitation": None}, {"elicitation": "url"}]
UNABLE += [{"elicitation": each} for each in ({}, {"form": {}}, {"url": None})]


def test_a_client_that_opens_no_addresses_is_refused(host: Host, draft_id: str) -> None:
    state = asked(host, draft_id)
    for host.capabilities in UNABLE:
        found = refused(host.use("publish_form_draft", draftId=draft_id))
        assert found["code"] == "draft_not_confirmed"
        assert retried(host, draft_id, state)["isError"]
