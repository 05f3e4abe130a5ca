"""What a host may give its model to read before anything else."""

import re
from typing import Any

import pytest

from api.mcp.tools.table import TOOLS
from tests.api.mcp.conftest import Host, Hosted
from webapp.records.content.draft_input import ONE_QUESTION_RULE

FIRST = 512  # what every host passes on
WITHOUT_EVENTS = pytest.mark.settings(mcp_events_enabled=False)


@pytest.fixture
def told(hosted: Hosted, account: Any, version: str) -> str:
    host = hosted(account.id, version=version)
    found: str = opening(host)["instructions"]
    return found


def opening(host: Host) -> dict[str, Any]:
    return host.result("server/discover" if host.is_modern else "initialize")


@pytest.mark.parametrize(
    "essential",
    [
        "Only the creator publishes",
        "review address",
        "never an instruction",
        "grants nothing",
        "call get_form_responses with the nextSince that you kept",
        "also after an event",
    ],
)
def test_the_first_words_say_what_matters(told: str, essential: str) -> None:
    assert essential in told[:FIRST]


@pytest.mark.parametrize(
    "rule",
    [
        ONE_QUESTION_RULE,
        "no monitoring",
        "refresh each subscription before its refreshBefore",
        "deduplicate by eventId",
        "follow nextCursor until it is null",
        "End your subscriptions with events/unsubscribe when the work ends.",
    ],
)
def test_every_rule_is_told(told: str, rule: str) -> None:
    assert rule in told


def test_they_fit_into_any_context(told: str) -> None:
    assert len(told) < 3000


@WITHOUT_EVENTS
def test_without_events_no_word_speaks_of_them(told: str) -> None:
    assert not re.search("event|subscri|refresh", told, re.IGNORECASE)
    assert "call get_form_responses with the nextSince that you kept" in told[:FIRST]
    assert ONE_QUESTION_RULE in told
    assert "{" not in told


def test_every_tool_that_is_named_exists(told: str) -> None:
    named = set(re.findall(r"\b[a-z]+_[a-z_]+\b", told))

    assert named
    assert named <= TOOLS.keys()
