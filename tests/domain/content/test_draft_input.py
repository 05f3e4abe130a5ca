"""FormDraftInput: what is accepted, what is refused and with which words."""

from typing import Any

import pytest

from webapp.base.errors import InvalidInput
from webapp.records.content.draft_input import parse_draft_input


def refusal(raw: object) -> InvalidInput:
    with pytest.raises(InvalidInput) as caught:
        parse_draft_input(raw)
    return caught.value


@pytest.mark.parametrize(
    "raw",
    [
        {"title": "x" * 120},
        {"questions": ["q"] * 20},
        {"maxFollowupsPerQuestion": 50},
    ],
)
def test_values_at_their_bound_are_accepted(raw: dict[str, Any]) -> None:
    assert parse_draft_input(raw)


@pytest.mark.parametrize(
    ("raw", "field"),
    [
        ({"title": "x" * 121}, "title"),
        ({"context": "x" * 4001}, "context"),
        ({"questions": []}, "questions"),
        ({"questions": ["q"] * 21}, "questions"),
        ({"questions": [{"id": "a"}]}, "questions[0].text"),
        ({"questions": [{"id": "a", "text": "q"}] * 2}, "questions[0].id"),
        ({"maxFollowupsPerQuestion": 51}, "maxFollowupsPerQuestion"),
        ({"maxFollowupsPerQuestion": True}, "maxFollowupsPerQuestion"),
        ({"maxTotalQuestions": 10**400}, "maxTotalQuestions"),
    ],
)
def test_a_wrong_value_is_named_by_its_path(raw: dict[str, Any], field: str) -> None:
    problem = refusal(raw)

    assert (problem.code, problem.field) == ("validation_failed", field)
    assert problem.message.startswith(f"{field}: ")


@pytest.mark.parametrize(
    ("raw", "field"),
    [
        ({"status": "published"}, "status"),
        ({"questions": [{"text": "q", "kind": "x"}]}, "questions[0].kind"),
    ],
)
def test_an_unknown_field_is_refused(raw: dict[str, Any], field: str) -> None:
    problem = refusal(raw)

    assert (problem.code, problem.field) == ("unknown_field", field)


@pytest.mark.parametrize(
    "raw",
    [
        *({"title": f"a{refused}b"} for refused in "\x00\n\u202e\u2066\u2069\x7f\x9f"),
        {"goal": "\ud800"},
        {"questions": [{"text": "a", "context": "\udfff"}]},
    ],
)
def test_text_that_cannot_be_stored_or_shown_is_refused(raw: dict[str, Any]) -> None:
    assert refusal(raw).code == "invalid_text"
