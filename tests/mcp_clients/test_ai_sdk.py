"""The AI SDK: its tools, its client of events and its webhook receiver, in both eras."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.browsing import window
from tests.journey import people
from tests.mcp_clients.conftest import CALLBACK_PORT, Place
from tests.mcp_clients.node_host import NodeHost, Refused, node_host
from tests.mcp_clients.people import Creator
from tests.services import wait_until

pytestmark = [pytest.mark.prove, pytest.mark.timeout(300)]

ERAS = {"modern": "2026-07-28", "legacy": "2025-11-25"}
QUESTIONS = ["Who changed it?", "Why?", "What now?"]
SILENCE_SECONDS = 4  # an event comes within one


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> str:
    found: str = request.param
    return found


@pytest.fixture
def host(era: str, place: Place, token: str, node: Path, node_packages: Path) -> Iterator[NodeHost]:
    arguments = ("ai_sdk.mjs", place.mcp_url, token, era, str(CALLBACK_PORT))
    with node_host(node, node_packages, *arguments) as host:
        yield host


@pytest.fixture
def form(host: NodeHost, creator: Creator) -> Any:
    """Drafted and published by the host's tools, confirmed by its creator."""
    draft = used(host, "create_form_draft", title="Rota", questions=QUESTIONS)
    creator.confirm(draft["reviewUrl"])
    return used(host, "publish_form_draft", draftId=draft["draftId"])


def used(host: NodeHost, tool: str, **given: Any) -> Any:
    """The object that a tool answers."""
    result = host.do("use", tool=tool, given=given)
    assert not result.get("isError"), result
    return result["structuredContent"]


def complete(browser: Browser, place: Place, form: Any, name: str) -> None:
    """Somebody answers in a browser, and sends."""
    with window(browser, place.installation.url) as page:
        page.goto(form["shareUrl"])
        for number, question in enumerate(QUESTIONS, 1):
            people.asked(page, number, question)
            people.answer(page, f"Answer {number} of {name}")
        people.send(page, name, lambda _page, _name: None)


def distinct(host: NodeHost) -> set[str]:
    """The events that came: a replay may bring one again, under the same id."""
    return {event["eventId"] for event in host.do("received")}


def test_events_wake_it(
    host: NodeHost, era: str, form: Any, place: Place, browser: Browser
) -> None:
    (offered,) = host.do("events")
    granted = host.do("subscribe", arguments={"formId": form["formId"]}, ttlMs=600_000)
    assert offered["name"] == "response.submitted"
    assert host.do("statuses") == [200]

    complete(browser, place, form, "Sam")
    wait_until(lambda: len(host.do("received")) == 1, "the event")
    (event,) = host.do("received")
    assert event["subscription"] == granted["id"]
    assert event["data"]["formId"] == form["formId"]
    key = {"formId": form["formId"], "responseId": event["data"]["responseId"]}
    read = used(host, "get_completed_response", **key)
    assert read["exchanges"][0]["answerText"] == "Answer 1 of Sam"
    assert host.do("saved")[0]["cursor"] == event["cursor"] is not None

    refreshed = host.do("refresh", id=granted["id"])
    assert refreshed["id"] == granted["id"]
    assert refreshed["refreshBefore"] > granted["refreshBefore"]
    assert refreshed["truncated"] is False

    host.do("refuse", times=1)
    complete(browser, place, form, "Leila")
    wait_until(lambda: len(host.do("received")) == 2, "the second attempt")
    assert host.do("statuses") == [200, 204, 503, 204]
    assert len(distinct(host)) == 2

    (kept,) = host.do("saved")
    host.do("unsubscribe", id=granted["id"])
    complete(browser, place, form, "Noor")
    time.sleep(SILENCE_SECONDS)
    assert host.do("statuses") == [200, 204, 503, 204]
    assert host.do("saved") == []

    host.do("subscribe", arguments={"formId": form["formId"]}, cursor=kept["cursor"])
    wait_until(lambda: len(distinct(host)) == 3, "what was missed")
    assert host.do("versions")[-1] == ERAS[era]
    assert len(host.do("versions")) == 1


def test_a_form_of_nobody_cannot_be_subscribed_to(host: NodeHost) -> None:
    with pytest.raises(Refused) as raised:
        host.do("subscribe", arguments={"formId": "frm_unknown"})

    assert raised.value.code == -32012
