"""Writing, changing, moving and removing questions with their follow-ups on the review page."""

import json
from typing import Any

import pytest

from tests.factories import make_draft, prepare
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


def test_a_change_that_comes_again_after_another_one_is_not_denied(ann: Creator) -> None:
    draft = asking(ann, "A?", "B?")
    where = f"/drafts/{draft.id}/questions/1"
    ann.post(where, text="Z?", revision=1)
    ann.by_agent(draft, goal="To know")

    again = ann.post(where, text="Z?", revision=1, htmx=True)

    assert again.status_code == 200
    assert (texts(ann, draft), ann.stored(draft).revision) == (["Z?", "B?"], 3)
    assert ann.stored(draft).goal == "To know"
    # editors that are still open have not seen the change of the agent
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


WHICH, WHO, NEXT = ("Which one?", "if_short"), ("Who else?", "always"), ("And then?", "if_no")


@pytest.fixture
def draft(ann: Creator) -> Draft:
    """Its first question has two follow-ups of an agent."""
    with ann.context():
        asking = {"followUpMode": "smart", "context": "Canary"}
        return prepare(make_draft(ann.account.id, **asking), [WHICH, WHO])


def fields(*follow_ups: tuple[str, str], **others: Any) -> dict[str, Any]:
    """The posted fields of the first question."""
    found: dict[str, Any] = {"text": "Who changed it?", "hint": "", "revision": 2} | others
    for number in (1, 2, 3):
        text, condition = follow_ups[number - 1] if number <= len(follow_ups) else ("", "always")
        found |= {f"follow_up-{number}": text, f"condition-{number}": condition}
    return found


def kept(ann: Creator, draft: Draft, question: int = 0) -> list[tuple[str, str, str]]:
    rows = ann.stored(draft).questions[question].get("follow_ups", [])
    return [(row["text"], row["condition"], row["prepared_by"]) for row in rows]


AGENT, CREATOR = ("agent",), ("creator",)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ([WHICH, WHO, NEXT], [WHICH + AGENT, WHO + AGENT, NEXT + CREATOR]),
        ([WHO, WHICH], [WHO + AGENT, WHICH + AGENT]),
        ([("Which one?", "if_yes")], [("Which one?", "if_yes") + CREATOR]),
        ([("  Which\r\none? ", "if_short")], [("Which one?", "if_short") + AGENT]),
        ([("Why?", "never")], [("Why?", "always") + CREATOR]),
        ([], []),
    ],
)
@pytest.mark.parametrize("htmx", [True, False])
def test_follow_ups_are_written_with_their_question(
    ann: Creator, draft: Draft, written: Any, expected: Any, *, htmx: bool
) -> None:
    response = ann.post(f"/drafts/{draft.id}/questions/1", htmx=htmx, **fields(*written))

    assert response.status_code == (200 if htmx else 303)
    assert kept(ann, draft) == expected
    assert ("follow_ups" in ann.stored(draft).questions[0]) is bool(expected)


@pytest.mark.parametrize(
    ("pressed", "expected"),
    [
        ({"up": 2}, ["Who else?", "Which one?", "And then?"]),
        ({"up": 3}, ["Which one?", "And then?", "Who else?"]),
        ({"out": 1}, ["Who else?", "And then?"]),
        ({"out": 3}, ["Which one?", "Who else?"]),
    ],
)
@pytest.mark.parametrize("htmx", [True, False])
def test_they_are_put_in_order_before_they_are_saved(
    ann: Creator, draft: Draft, pressed: Any, expected: Any, *, htmx: bool
) -> None:
    form = fields(WHICH, WHO, NEXT, text="Who, then?") | pressed
    page = ann.post(f"/drafts/{draft.id}/questions/1", htmx=htmx, **form)

    places = [page.text.find(text) for text in expected]
    assert (page.status_code, ann.stored(draft).revision) == (200, 2)
    assert -1 not in places
    assert places == sorted(places)
    assert "Who, then?" in page.text
    assert "data-unsaved" in page.text


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x" * 301, "This is longer than 300 characters. Shorten it a little."),
        ("A\0B", "There is a character in it that cannot be kept."),
        ("what WENT wrong? ", "Ask it once, as a question or as a follow-up."),
        (" which one?", "Ask it once, as a question or as a follow-up."),
    ],
)
@pytest.mark.parametrize("htmx", [True, False])
def test_refusals_are_shown_at_the_follow_ups_and_nothing_is_lost(
    ann: Creator, draft: Draft, text: str, told: str, *, htmx: bool
) -> None:
    form = fields(WHICH, (text, "if_no"), text="Who, then?")
    page = ann.post(f"/drafts/{draft.id}/questions/1", htmx=htmx, **form)

    assert page.status_code == 422
    assert told in page.text.partition('aria-label="Follow-ups"')[2].partition("<select")[0]
    assert "Who, then?" in page.text
    assert text.strip() in page.text or "\0" in text
    assert kept(ann, draft) == [WHICH + AGENT, WHO + AGENT]


def test_a_change_meanwhile_shows_theirs_and_keeps_mine(ann: Creator, draft: Draft) -> None:
    ann.by_agent(draft, title="Changed meanwhile")

    page = ann.post(f"/drafts/{draft.id}/questions/1", htmx=True, **fields(NEXT))
    ordered = ann.post(f"/drafts/{draft.id}/questions/1", **fields(WHICH, WHO) | {"up": 2})

    assert page.status_code == ordered.status_code == 409
    assert "Which one?" in page.text.partition("What it says now:")[2]
    assert "And then?" in page.text
    ann.post(f"/drafts/{draft.id}/questions/1", **fields(NEXT, revision=3))
    ann.post(f"/drafts/{draft.id}/questions", **fields(WHO, text="Something else?", revision=4))
    assert kept(ann, draft) == [NEXT + CREATOR]
    assert kept(ann, draft, question=2) == [WHO + CREATOR]
