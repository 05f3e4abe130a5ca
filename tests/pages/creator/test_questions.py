"""Writing, changing, moving and removing questions on the review page."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask

from tests.factories import make_draft
from tests.pages.creator.test_draft import by_agent, stored
from tests.pages.creator_client import Creator
from webapp.records.drafts import Draft

Ask = Callable[..., Draft]


@pytest.fixture
def asking(app: Flask, ann: Creator) -> Ask:
    """A draft of Ann's that asks these questions."""

    def make(*questions: str) -> Draft:
        with app.app_context():
            return make_draft(ann.account.id, questions=list(questions))

    return make


def texts(app: Flask, draft: Draft) -> list[str]:
    return [question["text"] for question in stored(app, draft).questions]


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
    app: Flask, ann: Creator, asking: Ask, path: str, form: dict[str, Any], left: list[str]
) -> None:
    draft = asking("A?", "B?", "C?")
    where = f"/drafts/{draft.id}/questions{path}"
    if path == "/1/remove":
        assert "Remove question 1?" in ann.swap(where).text

    first = ann.post(where, **form, revision=1)
    again = ann.post(where, **form, revision=1)

    assert (first.status_code, again.status_code) == (303, 303)
    assert again.location == first.location
    found = stored(app, draft)
    assert (texts(app, draft), found.revision) == (left, 2)
    assert found.questions[-1].get("context") == form.get("hint")
    if path == "/1":
        assert found.questions[0] == {"id": draft.questions[0]["id"], "text": "Z?"}


@pytest.mark.parametrize("swap", [True, False])
def test_a_change_that_comes_again_after_another_one_is_not_denied(
    app: Flask, ann: Creator, asking: Ask, *, swap: bool
) -> None:
    draft = asking("A?", "B?")
    where = f"/drafts/{draft.id}/questions/1"
    ann.post(where, text="Z?", revision=1)
    by_agent(app, draft, goal="To know")

    again = ann.post(where, text="Z?", revision=1, htmx=swap)

    assert again.status_code == (200 if swap else 303)
    assert (texts(app, draft), stored(app, draft).revision) == (["Z?", "B?"], 3)
    assert stored(app, draft).goal == "To know"
    if swap:  # editors that are still open have not seen the change of the agent
        assert json.loads(again.headers["HX-Trigger"]) == {"askback:saved": {"from": 1, "to": 2}}


def test_a_different_change_of_the_previous_revision_is_a_conflict(
    app: Flask, ann: Creator, asking: Ask
) -> None:
    draft, another = asking("A?", "B?"), asking("A?")
    where = f"/drafts/{draft.id}/questions"
    ann.post(where, text="C?", revision=1)
    by_agent(app, another, title="Same")

    other = [
        ann.post(where, text="D?", revision=1),
        ann.post(f"{where}/1/remove", revision=1),
        ann.post(f"{where}/1", text="A, said I?", revision=1),
        ann.post(f"/drafts/{another.id}/title", text="Same", revision=1),  # an agent's is no repeat
    ]

    assert [answer.status_code for answer in other] == [409] * 4
    assert texts(app, draft) == ["A?", "B?", "C?"]


@pytest.mark.parametrize(
    ("position", "to", "order"),
    [
        (3, 1, "CAB"),
        (1, 2, "BAC"),
        (2, 10**20, "ACB"),
        (2, 0, "BAC"),
        (2, 2, "ABC"),
        (9, 1, "ABC"),
    ],
)
def test_a_question_moves_between_the_others(
    app: Flask, ann: Creator, asking: Ask, position: int, to: int, order: str
) -> None:
    draft = asking("A", "B", "C")

    ann.post(f"/drafts/{draft.id}/questions/{position}/position", to=to, revision=1)

    assert "".join(texts(app, draft)) == order


def test_saving_can_begin_the_next_question(ann: Creator, app: Flask, asking: Ask) -> None:
    draft = asking("A?", "B?")
    path = f"/drafts/{draft.id}/questions"
    first = draft.questions[0]["id"]

    response = ann.post(path, text="C?", after=first, revision=1, then="next")

    assert texts(app, draft) == ["A?", "C?", "B?"]
    after = stored(app, draft).questions[1]["id"]
    assert response.location == f"{path}/new?after={after}"
    swapped = ann.post(path, htmx=True, text="D?", after=after, revision=2, then="next")
    assert texts(app, draft) == ["A?", "C?", "D?", "B?"]
    assert f'data-after="{stored(app, draft).questions[2]["id"]}"' in swapped.text


@pytest.mark.parametrize(
    ("count", "text", "told"),
    [(1, " ", "Write the question, or cancel."), (20, "One more?", "at most 20 questions")],
)
def test_a_refused_question_loses_nothing(
    app: Flask, ann: Creator, asking: Ask, count: int, text: str, told: str
) -> None:
    draft = asking(*(f"{number}?" for number in range(count)))

    response = ann.post(f"/drafts/{draft.id}/questions", text=text, hint="Help", revision=1)

    assert response.status_code == 422
    assert told in response.text
    assert text.strip() in response.text
    assert 'value="Help"' in response.text
    assert len(texts(app, draft)) == count


@pytest.mark.parametrize("step", ["/1/remove", "/1/position"])
def test_moving_in_a_changed_order_is_a_conflict(
    app: Flask, ann: Creator, asking: Ask, step: str
) -> None:
    draft = asking("A", "B")
    by_agent(app, draft, questions=["B", "A"])

    response = ann.post(f"/drafts/{draft.id}/questions{step}", htmx=True, to=2, revision=1)

    assert response.status_code == 409
    assert "Yours was not done" in response.text
    assert texts(app, draft) == ["B", "A"]


@pytest.mark.parametrize("removed", [False, True])
def test_a_change_applies_to_the_question_by_its_id(
    app: Flask, ann: Creator, asking: Ask, *, removed: bool
) -> None:
    draft = asking("A", "B")
    first, second = draft.questions
    left = [] if removed else [{**first, "text": "A, said the agent"}]
    by_agent(app, draft, questions=[{**second}, *left])
    path = f"/drafts/{draft.id}/questions" + ("" if removed else "/2")

    conflict = ann.post(f"/drafts/{draft.id}/questions/1", text="A, said I", revision=1)
    ann.post(path, text="A, said I", revision=2)

    assert conflict.status_code == 409
    assert "A, said I" in conflict.text
    assert ("A, said the agent" in conflict.text) is not removed
    assert f'action="{path}"' in conflict.text
    assert texts(app, draft) == ["B", "A, said I"]


@pytest.mark.parametrize("position", ["0", "3", "99999999999999999999"])
def test_an_unknown_position_changes_nothing(
    app: Flask, ann: Creator, asking: Ask, position: str
) -> None:
    draft = asking("A", "B")
    path = f"/drafts/{draft.id}/questions/{position}"

    for step in ("/edit", "/remove"):
        assert ann.page(path + step).status_code in {200, 404}
    ann.post(path, text="New", revision=1)

    assert texts(app, draft)[:2] == ["A", "B"]


def test_a_question_is_added_below_another(app: Flask, ann: Creator, asking: Ask) -> None:
    draft = asking("A", "B")
    first = draft.questions[0]["id"]

    editor = ann.swap(f"/drafts/{draft.id}/questions/new?after={first}")
    saved = ann.post(
        f"/drafts/{draft.id}/questions", htmx=True, text="New", revision=1, after=first
    )

    assert 'name="after" value="' + first in editor.text
    assert texts(app, draft) == ["A", "New", "B"]
    assert re.search(r'/questions/2/edit"[^>]*autofocus', saved.text)


def test_a_new_question_keeps_its_position_through_a_conflict(
    app: Flask, ann: Creator, asking: Ask
) -> None:
    draft = asking("A", "B")
    first, second = draft.questions
    by_agent(app, draft, questions=[{**second}, {**first}, "C"])
    typed = {"text": "New", "after": first["id"]}

    conflict = ann.post(f"/drafts/{draft.id}/questions", **typed, revision=1)
    ann.post(f"/drafts/{draft.id}/questions", **typed, revision=2)

    assert conflict.status_code == 409
    assert 'name="after" value="' + first["id"] in conflict.text
    assert texts(app, draft) == ["B", "A", "New", "C"]


@pytest.mark.parametrize(
    ("path", "form", "told", "focused"),
    [
        ("1/position", {"to": 2}, "Moved to 2 of 3.", "Move question 2 down"),
        ("2/position", {"to": 3}, "Moved to 3 of 3.", "Move question 3 up"),  # the end is reached
        ("2/position", {"to": 1}, "Moved to 1 of 3.", "Move question 1 down"),
        ("3/remove", {}, "Question 3 removed.", ""),
    ],
)
def test_a_change_of_the_order_is_told_and_its_arrow_keeps_the_focus(
    ann: Creator, asking: Ask, path: str, form: dict[str, Any], told: str, focused: str
) -> None:
    draft = asking("A", "B", "C")

    saved = ann.post(f"/drafts/{draft.id}/questions/{path}", **form, revision=1, htmx=True)

    assert f"<b>{told}</b>" in saved.text
    assert f'aria-label="{focused}" autofocus' in saved.text or not focused
    assert saved.text.count(" autofocus") == 1


def test_the_preview_shows_the_question_that_was_worked_on(ann: Creator, asking: Ask) -> None:
    draft = asking("A", "B", "C")
    url = f"/drafts/{draft.id}"

    def asked(response: Any) -> str:
        return re.findall(r'data-asked="(\d)"', response.text)[-1]

    assert asked(ann.swap(f"{url}/questions/2/edit")) == "2"
    assert asked(ann.swap(f"{url}/questions/new?after={draft.questions[0]['id']}")) == "2"
    assert asked(ann.swap(f"{url}/questions/row?question={draft.questions[2]['id']}")) == "3"
    assert asked(ann.post(f"{url}/questions/2", text="B?", revision=1, htmx=True)) == "2"
    assert asked(ann.post(f"{url}/title", text="T", revision=2, preview=3, htmx=True)) == "3"
    assert asked(ann.post(f"{url}/questions/3/remove", revision=3, htmx=True)) == "2"
