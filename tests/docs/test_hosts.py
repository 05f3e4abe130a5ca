"""What hosts and their agents are told agrees with what is served."""

import re

import pytest
from flask.testing import FlaskClient

from api.mcp.tools.table import TOOLS
from webapp.base.vocabulary import ErrorProfile
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


@pytest.mark.settings(mcp_events_enabled=False)
def test_without_events_no_word_speaks_of_them(hosts: str, skill: str) -> None:
    for text in (hosts, skill):
        assert not re.search("event|subscri|webhook", text, re.IGNORECASE)
        prose = re.sub(r"^```.*?^```$", "code", text, flags=re.M | re.S)
        assert "\n\n\n" not in prose
