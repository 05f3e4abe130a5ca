"""What hosts and their agents are told agrees with what is served."""

import json
import re

import pytest
from flask.testing import FlaskClient

from api.mcp.tools.table import TOOLS
from webapp.base.vocabulary import ErrorProfile, FollowUpCondition
from webapp.records.content.draft_input import PROBE_RULE, parse_follow_ups
from webapp.records.events import EventError


@pytest.fixture
def hosts(client: FlaskClient) -> str:
    return client.get("/docs/mcp.md").text


@pytest.fixture
def skill(client: FlaskClient) -> str:
    return client.get("/docs/skill.md").text


def section(text: str, heading: str) -> str:
    """What stands below a heading."""
    return text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def test_the_table_lists_every_tool(hosts: str) -> None:
    named = re.findall(r"^\| `([a-z_]+)` \|", section(hosts, "Tools"), re.M)

    assert sorted(named) == sorted(TOOLS)


def test_the_table_lists_the_codes_of_both_profiles(hosts: str) -> None:
    rows = re.findall(r"^\| (\w+) \| −(\d+) \| −(\d+) \|", section(hosts, "Events"), re.M)

    assert rows == [
        (
            each.message,
            str(-each.code(ErrorProfile.PLAIN)),
            str(-each.code(ErrorProfile.EXTENSION)),
        )
        for each in EventError
    ]


def test_the_skill_teaches_follow_ups_with_examples_that_are_taken(skill: str) -> None:
    taught = section(skill, "How to ask back")
    (body,) = re.findall(r"```json [^\n]*\n(.*?)```", taught, re.DOTALL)
    lists = re.findall(r"Three (good|bad) ones:\n\n(.*?)\n\n", taught, re.DOTALL)
    examples = {kind: re.findall(r"`(\w+)`: “(.*?)”", listed) for kind, listed in lists}

    assert PROBE_RULE in taught
    assert set(FollowUpCondition) <= set(re.findall(r"`(\w+)`", taught))
    assert {kind: len(listed) for kind, listed in examples.items()} == {"good": 3, "bad": 3}
    assert parse_follow_ups(json.loads(body))["follow_ups"]["1"][0]["condition"] == "if_no"
    for when, text in examples["good"] + examples["bad"]:
        parse_follow_ups({"followUps": {"1": [{"text": text, "when": when}]}})


@pytest.mark.settings(mcp_events_enabled=False)
def test_without_events_no_word_speaks_of_them(hosts: str, skill: str) -> None:
    for text in (hosts, skill):
        assert not re.search("event|subscri|webhook", text, re.IGNORECASE)
        prose = re.sub(r"^```.*?^```$", "code", text, flags=re.M | re.S)
        assert "\n\n\n" not in prose
