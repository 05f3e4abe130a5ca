"""The columns of a content are the same in its tables, as a row and as values by name."""

import pytest

from webapp.base.vocabulary import FollowUpAuthor, FollowUpCondition, FollowUpMode
from webapp.records.content import model
from webapp.records.drafts import Draft

PREPARED = model.PreparedFollowUp(
    text="What happened then?",
    condition=FollowUpCondition.ALWAYS,
    prepared_by=FollowUpAuthor.AGENT,
)
BEFORE = [
    model.QuestionRow(id="q_1", text="One?", follow_ups=[PREPARED]),
    model.QuestionRow(id="q_2", text="?"),
]


@pytest.mark.parametrize(
    ("questions", "kept"),
    [
        ([{"id": "q_1", "text": "Reworded?"}], {"q_1": [PREPARED]}),
        ([{"text": "One?"}], {"q_1": [PREPARED]}),
        ([{"id": "q_2", "text": "?"}], {"q_2": None}),
        (
            [{"id": "q_2", "text": "?"}, {"id": "q_1", "text": "One?"}],
            {"q_2": None, "q_1": [PREPARED]},
        ),
    ],
)
def test_questions_of_an_agent_keep_their_follow_ups(
    questions: list[model.QuestionRow], kept: dict[str, list[model.PreparedFollowUp] | None]
) -> None:
    made = model.merged({"questions": questions}, BEFORE, by_agent=True)["questions"]
    assert {row["id"]: row.get("follow_ups") for row in made} == kept


def test_the_confirmed_hash_covers_them() -> None:
    assert hash_with([PREPARED]) != hash_with([{**PREPARED, "condition": FollowUpCondition.IF_NO}])


def hash_with(follow_ups: list[model.PreparedFollowUp]) -> str:
    questions = [model.QuestionRow(id="q_1", text="One?", follow_ups=follow_ups)]
    return model.content_hash(
        Draft(title="T", questions=questions, follow_up_mode=FollowUpMode.SMART)
    )


@pytest.mark.parametrize(
    ("sent", "ids"),
    [
        (["B?", "A?"], ["2", "1"]),
        (["A?", "B?", "A?"], ["1", "2", "3"]),
        (["A?", "A?", "A?"], ["1", "3", None]),
        (["C?"], [None]),
    ],
)
def test_a_question_without_an_id_keeps_the_one_that_its_text_had(
    sent: list[str], ids: list[str | None]
) -> None:
    before = [
        model.QuestionRow(id=str(n), text=text) for n, text in enumerate(["A?", "B?", "A?"], 1)
    ]
    questions = [model.QuestionRow(text=text) for text in sent]

    made = model.merged({"questions": questions}, before, by_agent=True)["questions"]

    found = [row["id"] for row in made]
    assert [key if key in "123" else None for key in found] == ids
    assert len(set(found)) == len(found)
