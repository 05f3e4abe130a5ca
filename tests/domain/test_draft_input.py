"""FormDraftInput: what is accepted, what is refused and with which words."""

from typing import Any

import pytest

from webapp.domain.draft_input import parse_draft_input
from webapp.domain.errors import InvalidInput
from webapp.domain.terms import FollowUpMode


def refusal(raw: object) -> InvalidInput:
    with pytest.raises(InvalidInput) as caught:
        parse_draft_input(raw)
    return caught.value


def test_only_supplied_fields_become_changes() -> None:
    assert parse_draft_input({"title": "Rota"}) == {"title": "Rota"}


def test_an_empty_body_changes_nothing() -> None:
    assert parse_draft_input({}) == {}


def test_questions_may_be_words_or_objects() -> None:
    changes = parse_draft_input({"questions": ["A?", {"id": "b", "text": "B?", "context": "hint"}]})

    assert changes["questions"] == [
        {"text": "A?"},
        {"id": "b", "text": "B?", "context": "hint"},
    ]


def test_a_blank_goal_or_context_clears_it() -> None:
    changes = parse_draft_input({"goal": "", "context": ""})

    assert changes == {"goal": None, "private_context": None}


def test_words_become_members_of_their_set() -> None:
    assert parse_draft_input({"followUpMode": "smart"})["follow_up_mode"] is FollowUpMode.SMART


@pytest.mark.parametrize(
    "raw",
    [
        {"title": "x" * 120},
        {"title": "\N{WAVING HAND SIGN}" * 120},
        {"goal": "x" * 2000},
        {"context": "x" * 4000},
        {"questions": ["q"] * 20},
        {"questions": [""]},
        {"questions": [{"id": "x" * 200, "text": "q"}]},
        {"maxFollowupsPerQuestion": 0},
        {"maxFollowupsPerQuestion": 50},
        {"maxTotalQuestions": 7.0},
    ],
)
def test_values_at_their_bound_are_accepted(raw: dict[str, Any]) -> None:
    assert parse_draft_input(raw)


@pytest.mark.parametrize(
    ("raw", "field"),
    [
        ({"title": "x" * 121}, "title"),
        ({"title": None}, "title"),
        ({"title": 1}, "title"),
        ({"goal": "x" * 2001}, "goal"),
        ({"context": "x" * 4001}, "context"),
        ({"questions": []}, "questions"),
        ({"questions": ["q"] * 21}, "questions"),
        ({"questions": "q"}, "questions"),
        ({"questions": ["q", 7]}, "questions[1]"),
        ({"questions": [None]}, "questions[0]"),
        ({"questions": [{"id": "a"}]}, "questions[0].text"),
        ({"questions": [{"text": None}]}, "questions[0].text"),
        ({"questions": [{"id": "", "text": "q"}]}, "questions[0].id"),
        ({"questions": [{"id": "x" * 201, "text": "q"}]}, "questions[0].id"),
        ({"questions": [{"id": "a", "text": "q"}] * 2}, "questions[0].id"),
        ({"followUpMode": "SMART"}, "followUpMode"),
        ({"responseMode": ""}, "responseMode"),
        ({"responseLimit": True}, "responseLimit"),
        ({"maxFollowupsPerQuestion": -1}, "maxFollowupsPerQuestion"),
        ({"maxFollowupsPerQuestion": 51}, "maxFollowupsPerQuestion"),
        ({"maxFollowupsPerQuestion": 1.5}, "maxFollowupsPerQuestion"),
        ({"maxFollowupsPerQuestion": True}, "maxFollowupsPerQuestion"),
        ({"maxTotalQuestions": "5"}, "maxTotalQuestions"),
        ({"maxTotalQuestions": None}, "maxTotalQuestions"),
        ({"maxTotalQuestions": 10**400}, "maxTotalQuestions"),
    ],
)
def test_a_wrong_value_is_named_by_its_path(raw: dict[str, Any], field: str) -> None:
    problem = refusal(raw)

    assert (problem.code, problem.field) == ("validation_failed", field)
    assert problem.message.startswith(f"{field}: ")


@pytest.mark.parametrize("raw", [[], None, "text", 7])
def test_a_body_that_is_no_object_is_refused(raw: object) -> None:
    assert refusal(raw).message == "body: is not an object"


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ({"title": 1}, "title: is not a string"),
        ({"questions": "q"}, "questions: is not an array"),
        ({"questions": []}, "questions: has fewer items than 1"),
        ({"questions": ["q"] * 21}, "questions: has more items than 20"),
        ({"questions": ["q", 7]}, "questions[1]: is neither a string nor an object"),
        ({"questions": [{"id": "a"}]}, "questions[0].text: is missing"),
        ({"questions": [{"text": 1}]}, "questions[0].text: is not a string"),
        ({"title": "x" * 121}, "title: string should have at most 120 characters"),
        ({"maxTotalQuestions": 51}, "maxTotalQuestions: input should be less than or equal to 50"),
    ],
)
def test_a_refusal_is_in_the_words_of_json(raw: dict[str, Any], message: str) -> None:
    assert refusal(raw).message == message


@pytest.mark.parametrize(
    ("raw", "field"),
    [
        ({"status": "published"}, "status"),
        ({"accountId": "acc_1"}, "accountId"),
        ({"follow_up_mode": "smart"}, "follow_up_mode"),
        ({"questions": [{"text": "q", "kind": "x"}]}, "questions[0].kind"),
    ],
)
def test_an_unknown_field_is_refused(raw: dict[str, Any], field: str) -> None:
    problem = refusal(raw)

    assert (problem.code, problem.field) == ("unknown_field", field)


@pytest.mark.parametrize(
    "raw",
    [
        {"title": "a\x00b"},
        {"title": "a\nb"},
        {"title": "a\u202eb"},
        {"title": "a\u2066b"},
        {"title": "a\u2069b"},
        {"title": "a\x7fb"},
        {"title": "a\x9fb"},
        {"goal": "\ud800"},
        {"context": "\x00"},
        {"questions": ["a\x00"]},
        {"questions": [{"text": "a", "context": "\udfff"}]},
        {"questions": [{"id": "a\tb", "text": "a"}]},
    ],
)
def test_text_that_cannot_be_stored_or_shown_is_refused(raw: dict[str, Any]) -> None:
    assert refusal(raw).code == "invalid_text"
