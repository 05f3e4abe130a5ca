"""Writing, changing, moving and removing questions on the review page."""

import json
from typing import Any

import pytest

from tests.pages.creator_client import Creator
from webapp.records.drafts import Draft


def asking(ann: Creator, *questions: str) -> Draft:
    return ann.draft(questions=list(questions))


def texts(ann: Creator, draft: Draft) -> list[str]:
    return [question["text"] for question in ann.stored(draft).questions]


@pytest.mark.parametrize(
    ("path", "form", "left"),
    [
        ("", {"text": "D?", "hint": "Help"}, ["A?", "B?", "C?", "D?"]),
        ("", {"text": "D?", "after": "gone"}, ["A?", "B?", "C?", "D?"]),
        ("/1", {"text": "Z?"}, ["Z?", "B?", "C?"]),
        ("/1/remove", {}, ["B?", "C?"]),
        ("/1/position", {"to": 3}, ["B?", "C?", "A?"]),
    ],
)
def test_a_change_that_comes_again_is_made_once_and_not_denied(
    ann: Creator, path: str, form: dict[str, Any], left: list[str]
) -> None:
    draft = asking(ann, "A?", "B?", "C?")
    where = f"/drafts/{draft.id}/questions{path}"
    if path == "/1/remove":
        assert "Remove question 1?" in ann.swap(where).text

    first = ann.post(where, **form, revision=1)
    again = ann.post(where, **form, revision=1)

    assert (first.status_code, again.status_code) == (303, 303)
    assert again.location == first.location
    found = ann.stored(draft)
    assert (texts(ann, draft), found.revision) == (left, 2)
    assert found.questions[-1].get("context") == form.get("hint")
    if path == "/1":
        assert found.questions[0] == {"id": draft.questions[0]["id"], "text": "Z?"}


@pytest.mark.parametrize("swap", [True, False])
def test_a_change_that_comes_again_after_another_one_is_not_denied(
    ann: Creator, *, swap: bool
) -> None:
    draft = asking(ann, "A?", "B?")
    where = f"/drafts/{draft.id}/questions/1"
    ann.post(where, text="Z?", revision=1)
    ann.by_agent(draft, goal="To know")

    again = ann.post(where, text="Z?", revision=1, htmx=swap)

    assert again.status_code == (200 if swap else 303)
    assert (texts(ann, draft), ann.stored(draft).revision) == (["Z?", "B?"], 3)
    assert ann.stored(draft).goal == "To know"
    if swap:  # editors that are still open have not seen the change of the agent
        assert json.loads(again.headers["HX-Trigger"]) == {"askback:saved": {"from": 1, "to": 2}}


def test_a_different_change_of_the_previous_revision_is_a_conflict(ann: Creator) -> None:
    draft, another = asking(ann, "A?", "B?"), asking(ann, "A?")
    where = f"/drafts/{draft.id}/questions"
    ann.post(where, text="C?", revision=1)
    ann.by_agent(another, title="Same")

    other = [
        ann.post(where, text="D?", revision=1),
        ann.post(f"{where}/1/remove", revision=1),
        ann.post(f"{where}/1", text="A, said I?", revision=1),
        ann.post(f"/drafts/{another.id}/title", text="Same", revision=1),  # an agent's is no repeat
    ]

    assert [answer.status_code for answer in other] == [409] * 4
    assert texts(ann, draft) == ["A?", "B?", "C?"]


@pytest.mark.parametrize(
    ("position", "to", "order"),
    [
        *((3, 1, "CAB"), (1, 2, "BAC"), (2, 10**20, "ACB")),
        *((2, 0, "BAC"), (2, 2, "ABC"), (9, 1, "ABC")),
    ],
)
def test_a_question_moves_between_the_others(
    ann: Creator, position: int, to: int, order: str
) -> None:
    draft = asking(ann, "A", "B", "C")

    ann.post(f"/drafts/{draft.id}/questions/{position}/position", to=to, revision=1)

    assert "".join(texts(ann, draft)) == order


def test_saving_can_begin_the_next_question(ann: Creator) -> None:
    draft = asking(ann, "A?", "B?")
    path = f"/drafts/{draft.id}/questions"
    first = draft.questions[0]["id"]

    response = ann.post(path, text="C?", after=first, revision=1, then="next")

    assert texts(ann, draft) == ["A?", "C?", "B?"]
    after = ann.stored(draft).questions[1]["id"]
    assert response.location == f"{path}/new?after={after}"
    swapped = ann.post(path, htmx=True, text="D?", after=after, revision=2, then="next")
    assert texts(ann, draft) == ["A?", "C?", "D?", "B?"]
    assert f'data-after="{ann.stored(draft).questions[2]["id"]}"' in swapped.text


@pytest.mark.parametrize("removed", [False, True])
def test_a_change_applies_to_the_question_by_its_id(ann: Creator, *, removed: bool) -> None:
    draft = asking(ann, "A", "B")
    first, second = draft.questions
    left = [] if removed else [{**first, "text": "A, said the agent"}]
    ann.by_agent(draft, questions=[{**second}, *left])
    path = f"/drafts/{draft.id}/questions" + ("" if removed else "/2")

    typed = {"text": "A, said I", "question": first["id"]}
    conflict = ann.post(f"/drafts/{draft.id}/questions/1", **typed, revision=1)
    ann.post(path, text="A, said I", revision=2)

    assert conflict.status_code == 409
    assert "A, said I" in conflict.text
    assert ("A, said the agent" in conflict.text) is not removed
    assert f'action="{path}"' in conflict.text
    assert texts(ann, draft) == ["B", "A, said I"]


def test_a_new_question_keeps_its_position_through_a_conflict(ann: Creator) -> None:
    draft = asking(ann, "A", "B")
    first, second = draft.questions
    ann.by_agent(draft, questions=[{**second}, {**first}, "C"])
    typed = {"text": "New", "after": first["id"]}

    conflict = ann.post(f"/drafts/{draft.id}/questions", **typed, revision=1)
    ann.post(f"/drafts/{draft.id}/questions", **typed, revision=2)

    assert conflict.status_code == 409
    assert 'name="after" value="' + first["id"] in conflict.text
    assert texts(ann, draft) == ["B", "A", "New", "C"]
