"""What the review page reports as changed."""

from dataclasses import dataclass, field
from typing import Any, cast

import pytest
from hypothesis import given, strategies as st

from webapp.base.vocabulary import FollowUpMode, ResponseLimit, ResponseMode
from webapp.records.content.diff import Change, Kind, Run, differences, word_runs
from webapp.records.content.model import Content


@dataclass
class Words:
    """A content without a database."""

    title: str = "Rota"
    goal: str | None = None
    private_context: str | None = None
    questions: list[dict[str, Any]] = field(default_factory=list)
    follow_up_mode: FollowUpMode = FollowUpMode.NONE
    response_mode: ResponseMode = ResponseMode.VOICE_PREFERRED
    response_limit: ResponseLimit = ResponseLimit.MULTIPLE
    followups_given: int | None = None
    max_total_questions: int | None = None
    public_reason: str | None = None


def compare(before: Words, after: Words) -> list[Change]:
    return differences(cast(Content, before), cast(Content, after))


def asking(*questions: tuple[str, str]) -> Words:
    return Words(questions=[{"id": name, "text": text} for name, text in questions])


def kinds_of(changes: list[Change]) -> list[tuple[str, Kind, int | None]]:
    return [(change.part, change.kind, change.position) for change in changes]


WHY, WHEN, WHO = ("a", "Why did you leave?"), ("b", "When was that?"), ("c", "Who decided it?")


SHIFT = "Tell me about a time a shift went wrong."


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (asking(WHY), asking(WHY, WHEN), [("question", Kind.ADDED, 2)]),
        (asking(WHY, WHEN), asking(WHEN), [("question", Kind.REMOVED, 1)]),
        (asking(WHY, WHEN, WHO), asking(WHO, WHY, WHEN), [("question", Kind.MOVED, 1)]),
        (asking(WHY, WHEN), asking(WHY, ("b", "When?")), [("question", Kind.REWORDED, 2)]),
        (
            asking(WHY, WHEN),
            asking(("b", "When was it?"), WHY),
            [("question", Kind.MOVED, 1), ("question", Kind.REWORDED, 1)],
        ),
        # other ids: by the text, first by the same one
        (
            asking(("a", SHIFT)),
            asking(("new", SHIFT.replace("a time", "the last time"))),
            [("question", Kind.REWORDED, 1)],
        ),
        (
            asking(("a", "How was lunch today?")),
            asking(("y", "How was lunch yesterday?"), ("z", "How was lunch today?")),
            [("question", Kind.ADDED, 1)],
        ),
        (
            Words(questions=[{"id": "a", "text": "Why?"}]),
            Words(questions=[{"id": "a", "text": "Why?", "context": "Take your time."}]),
            [("hint", Kind.ADDED, 1)],
        ),
    ],
)
def test_questions_are_added_removed_moved_reworded(
    before: Words, after: Words, expected: list[tuple[str, Kind, int | None]]
) -> None:
    assert sorted(kinds_of(compare(before, after))) == sorted(expected)


ASKED_IF_SHORT = {"text": "What happened then?", "condition": "if_short", "prepared_by": "agent"}
ALWAYS_ASKED = {"text": "Who was there?", "condition": "always", "prepared_by": "agent"}


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (
            [ALWAYS_ASKED, ASKED_IF_SHORT],
            [ALWAYS_ASKED, ASKED_IF_SHORT | {"text": "What happened right then?"}],
            [(Kind.REWORDED, 2, "if_short", "if_short")],
        ),
        (
            [ASKED_IF_SHORT],
            [ASKED_IF_SHORT | {"condition": "if_yes"}],
            [(Kind.CHANGED, 1, "if_short", "if_yes")],
        ),
        (
            [ASKED_IF_SHORT, ALWAYS_ASKED],
            [ALWAYS_ASKED, ASKED_IF_SHORT],
            [(Kind.MOVED, 1, "always", "always")],
        ),
    ],
)
def test_prepared_follow_ups_are_compared_one_by_one(
    before: list[Any], after: list[Any], expected: list[Any]
) -> None:
    changes = compare(preparing(before), preparing(after))

    assert kinds_of(changes) == [("follow_ups", Kind.CHANGED, 1)]
    found = [each for change in changes for each in change.follow_ups]
    assert [(each.kind, each.position, each.was, each.now) for each in found] == expected


def preparing(follow_ups: list[Any]) -> Words:
    return Words(questions=[{"id": "a", "text": "Why?", "follow_ups": follow_ups}])


@pytest.mark.parametrize(
    ("changed", "part", "kind"),
    [
        ({"title": "Rota talks"}, "title", Kind.REWORDED),
        ({"goal": "Learn"}, "goal", Kind.ADDED),
        ({"private_context": "Secret"}, "private_context", Kind.ADDED),
        ({"follow_up_mode": FollowUpMode.DEEP_DIVE}, "follow_up_mode", Kind.CHANGED),
        ({"response_limit": ResponseLimit.ONE}, "response_limit", Kind.CHANGED),
    ],
)
def test_each_part_of_the_content_is_compared(
    changed: dict[str, Any], part: str, kind: Kind
) -> None:
    assert kinds_of(compare(Words(), Words(**changed))) == [(part, kind, None)]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (
            "Tell me about a time.",
            "Tell me about the last time.",
            (
                (None, "Tell me about "),
                (Kind.REMOVED, "a "),
                (Kind.ADDED, "the last "),
                (None, "time."),
            ),
        ),
        ("gets made (v2)", "gets made", ((None, "gets made"), (Kind.REMOVED, " (v2)"))),
        ("one\n\ntwo", "one two", ((None, "one two"),)),
    ],
)
def test_words_are_marked_one_by_one(before: str, after: str, expected: tuple[Run, ...]) -> None:
    assert word_runs(before, after) == expected


@given(st.text(max_size=200), st.text(max_size=200))
def test_the_runs_joined_are_both_texts(before: str, after: str) -> None:
    """The earlier one but for its blanks."""
    runs = word_runs(before, after)

    old = "".join(run.text for run in runs if run.kind is not Kind.ADDED)
    assert "".join(old.split()) == "".join(before.split())
    assert "".join(run.text for run in runs if run.kind is not Kind.REMOVED) == after


@given(st.permutations(["a", "b", "c", "d", "e"]))
def test_every_order_is_explained_by_moves_alone(order: list[str]) -> None:
    before = asking(*((name, f"question {name}") for name in "abcde"))
    after = asking(*((name, f"question {name}") for name in order))

    changes = compare(before, after)

    assert {change.kind for change in changes} <= {Kind.MOVED}
    assert bool(changes) == (order != list("abcde"))


def ideographs(first: int, last: int, step: int) -> str:
    """A text of which each character is a word, no two of them the same."""
    return "".join(chr(0x4E00 + number) for number in range(first, last, step))


HOSTILE = [
    ("a b " * 400, "b a a b " * 200),
    (ideographs(0, 20_000, 1) * 4, ideographs(0, 20_000, 3) * 12),
]


@pytest.mark.parametrize(("before", "after"), HOSTILE)
def test_costly_texts_are_shown_as_replaced(before: str, after: str) -> None:
    assert [run.kind for run in word_runs(before, after)] == [Kind.REMOVED, Kind.ADDED]
