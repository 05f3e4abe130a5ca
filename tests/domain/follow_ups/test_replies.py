"""Which replies of a model are read."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.domain.follow_ups.written_questions import reply
from webapp.domain.follow_ups.replies import Reply, parse_reply
from webapp.domain.follow_ups.thread import Technique

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
    ],
)
def test_a_stop_is_a_stop(text: str) -> None:
    assert parse_reply(text) == Reply()


def with_fields(**fields: object) -> str:
    return json.dumps({"action": "ask", "technique": "why", "question": ASKED} | fields)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "stop",
        "null",
        "[]",
        '"ask"',
        "{}",
        f"```json\n{reply(ASKED)}\n```",
        f"Here it is: {reply(ASKED)}",
        reply(ASKED) + reply(ASKED),
        reply(ASKED)[:-1],
        with_fields(extra=1),
        with_fields(action="tell"),
        with_fields(action=["ask"]),
        with_fields(technique="interrogate"),
        with_fields(technique=None),
        with_fields(technique=["why"]),
        with_fields(question=None),
        with_fields(question=7),
        with_fields(question=float("nan")),
        '{"action": "stop", "technique": "why", "question": NaN}',
        '{"action": "stop", "technique": "why", "question": Infinity}',
        '{"action": "ask", "technique": "why"}',
        '{"action": "stop", "action": "ask", "technique": "why", "question": "What for?"}',
        '{"action": "stop", "technique": {"a": 1, "a": 2}, "question": ""}',
        "[" * 4000,
        '{"a":' * 700,
        '{"action": "stop", "question": ' + "9" * 4000 + ', "technique": "why", "more": 1}',
        reply(ASKED) + " " * 4096,
        reply("", "why", "stop") + " " * 4096,
        with_fields(question="x" * 5000),
    ],
)
def test_other_shapes_are_refused(text: str) -> None:
    assert parse_reply(text) is None


@settings(max_examples=200, deadline=None)
@given(st.recursive(st.none() | st.booleans() | st.text(max_size=5), st.lists, max_leaves=5))
def test_no_json_raises(value: object) -> None:
    parse_reply(json.dumps(value))
    parse_reply(with_fields(technique=value))
    parse_reply(with_fields(question=value))
    parse_reply(with_fields(action=value))
