"""Which replies of a model are read."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.domain.follow_ups.written_questions import reply
from webapp.follow_ups.messages import REPLY_SCHEMA, Reply, parse_reply
from webapp.follow_ups.rules import Technique

ASKED = "Could you say a bit more about that?"


def test_a_question_is_read() -> None:
    assert parse_reply(reply(f" {ASKED}\n")) == Reply(Technique.WHY, ASKED)


@pytest.mark.parametrize(
    "text",
    [
        reply("", "why", "stop"),
        reply("Anything. At all", "why", "stop"),
        '{"action": "stop"}',
        '{"action": "stop", "technique": null, "question": null}',
        '\n {"action":"stop","technique":"why","question":""} \n',
        '{"action": "STOP", "prepared": 2}',
        '{"action": "none"}',
        '{"question": null}',
        '{"question": "", "technique": "why"}',
        '```json\n{"action": "stop", "reason": "rich enough"}\n```',
    ],
)
def test_a_stop_is_a_stop(text: str) -> None:
    assert parse_reply(text) == Reply()


def with_fields(**fields: object) -> str:
    return json.dumps({"action": "ask", "technique": "why", "question": ASKED} | fields)


GOOD = reply(ASKED)
DRAFT = with_fields(question="What was it like?")


@pytest.mark.parametrize(
    "text",
    [
        f"```json\n{GOOD}\n```",
        f"```\n{GOOD}\n```\nThat asks for more.",
        f"````markdown\n```json\n{GOOD}\n```\n````",
        f"Here it is: {GOOD}",
        f"The set {{a, b}} and {{}} are braces. {GOOD} {{so}}",
        f"<think>They say {{little}}. Perhaps {DRAFT}, or not.</think>\n{GOOD}",
        f"<think>I should ask.</think>{GOOD}",
        f"I should ask.</thinking>{GOOD}",
        f"{GOOD}\n<think>Was that fine?</think>",
        f"{GOOD}\n{GOOD}",
        f"[{GOOD}]",
        '{"name": "follow_up", "arguments": ' + GOOD + "}",
        with_fields(extra=1, confidence={"a": [1, 2]}),
        with_fields(action=None),
        with_fields(action="Ask"),
        with_fields(action="respond"),
        with_fields(prepared=0),
        with_fields(prepared=None),
        with_fields(prepared="none"),
        json.dumps({"technique": "why", "question": ASKED}),
        GOOD + " " * 4096,
        "Thinking aloud. " * 4000 + GOOD,
    ],
)
def test_what_is_around_a_question_is_no_matter(text: str) -> None:
    assert parse_reply(text) == Reply(Technique.WHY, ASKED)


@pytest.mark.parametrize("technique", ["interrogate", None, ["why"], "prepared", 7])
def test_another_technique_is_one_of_ours(technique: object) -> None:
    assert parse_reply(with_fields(technique=technique)) == Reply(Technique.ELABORATE, ASKED)


@pytest.mark.parametrize(
    ("given", "prepared"), [(2, 2), ("2", 2), (0, 0), (True, 0), (-1, 0), (2.5, 0), ([2], 0)]
)
def test_the_number_of_a_prepared_question_is_read(given: object, prepared: int) -> None:
    assert parse_reply(with_fields(prepared=given)) == Reply(Technique.WHY, ASKED, prepared)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "stop",
        ASKED,
        "null",
        "[]",
        '"ask"',
        "{}",
        '{"reply": {}}',
        DRAFT + GOOD,
        f"<think>{DRAFT}</think>{GOOD}{reply('', 'why', 'stop')}",
        GOOD[:-1],
        with_fields(question=None),
        with_fields(question=7),
        with_fields(question=" "),
        '{"action": "ask", "technique": "why"}',
        '{"action": "stop", "action": "ask", "technique": "why", "question": "What for?"}',
        json.dumps(REPLY_SCHEMA),
        "[" * 4000,
        '{"a":' * 700,
        '{"action": "stop", "question": ' + "9" * 5000 + "}",
        GOOD + " " * 100_000,
        with_fields(question="x" * 100_000),
    ],
)
def test_what_is_no_reply_or_two_is_refused(text: str) -> None:
    assert parse_reply(text) is None


@settings(max_examples=200, deadline=None)
@given(st.recursive(st.none() | st.booleans() | st.text(max_size=5), st.lists, max_leaves=5))
def test_no_json_raises(value: object) -> None:
    parse_reply(json.dumps(value))
    for name in ("technique", "question", "action", "prepared"):
        parse_reply(with_fields(**{name: value}))
