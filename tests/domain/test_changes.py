"""What the review page reports as changed."""

import time
from dataclasses import dataclass, field
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webapp.domain.changes import Change, Kind, differences, word_runs
from webapp.domain.content import Content
from webapp.domain.terms import FollowUpMode, ResponseLimit, ResponseMode


@dataclass
class Words:
    """A content without a database."""

    title: str = "Rota"
    goal: str | None = None
    private_context: str | None = None
    questions: list[dict[str, str]] = field(default_factory=list)
    follow_up_mode: FollowUpMode = FollowUpMode.NONE
    response_mode: ResponseMode = ResponseMode.VOICE_PREFERRED
    response_limit: ResponseLimit = ResponseLimit.MULTIPLE
    followups_given: int | None = None
    max_total_questions: int | None = None


def compare(before: Words, after: Words) -> list[Change]:
    return differences(cast(Content, before), cast(Content, after))


def asking(*questions: tuple[str, str]) -> Words:
    return Words(questions=[{"id": name, "text": text} for name, text in questions])


def told(changes: list[Change]) -> list[tuple[str, Kind, int | None]]:
    return [(change.part, change.kind, change.position) for change in changes]


WHY, WHEN, WHO = ("a", "Why did you leave?"), ("b", "When was that?"), ("c", "Who decided it?")


def test_equal_contents_differ_in_nothing() -> None:
    assert compare(asking(WHY, WHEN), asking(WHY, WHEN)) == []


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
    ],
)
def test_questions_are_added_removed_moved_reworded(
    before: Words, after: Words, expected: list[tuple[str, Kind, int | None]]
) -> None:
    changes = compare(before, after)

    assert sorted(told(changes)) == sorted(expected)


def test_a_question_with_a_new_id_is_known_by_its_words() -> None:
    before = asking(("a", "Tell me about a time a shift went wrong."))
    after = asking(("new", "Tell me about the last time a shift went wrong."))

    assert told(compare(before, after)) == [("question", Kind.REWORDED, 1)]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("With whom?", "With whom then?"),
        ("昼食に何を食べましたか", "昨日の昼食に何を食べましたか"),
        ("คุณกินอะไร", "คุณกินอะไรบ้าง"),
    ],
)
def test_some_words_more_are_a_rewording_in_every_script(before: str, after: str) -> None:
    (change,) = compare(asking(("a", before)), asking(("z", after)))

    assert change.kind is Kind.REWORDED
    assert [run.text for run in change.runs if run.kind is None]


def test_a_question_of_the_same_words_is_never_taken_for_another() -> None:
    changes = compare(
        asking(("a", "How was lunch today?")),
        asking(("y", "How was lunch yesterday?"), ("z", "How was lunch today?")),
    )

    assert told(changes) == [("question", Kind.ADDED, 1)]


def test_a_different_question_is_no_rewording() -> None:
    before, after = asking(WHY), asking(("new", "How large is your team today?"))

    kinds = [change.kind for change in compare(before, after)]

    assert kinds == [Kind.ADDED, Kind.REMOVED]


def test_a_helping_line_is_reported_with_its_question() -> None:
    before = Words(questions=[{"id": "a", "text": "Why?"}])
    after = Words(questions=[{"id": "a", "text": "Why?", "context": "Take your time."}])

    assert told(compare(before, after)) == [("hint", Kind.ADDED, 1)]


@pytest.mark.parametrize(
    ("changed", "part", "kind"),
    [
        ({"title": "Rota talks"}, "title", Kind.REWORDED),
        ({"title": ""}, "title", Kind.REMOVED),
        ({"goal": "Learn"}, "goal", Kind.ADDED),
        ({"private_context": "Secret"}, "private_context", Kind.ADDED),
        ({"follow_up_mode": FollowUpMode.DEEP_DIVE}, "follow_up_mode", Kind.CHANGED),
        ({"followups_given": 3}, "followups_given", Kind.CHANGED),
        ({"max_total_questions": 9}, "max_total_questions", Kind.CHANGED),
        ({"response_mode": ResponseMode.TEXT_ONLY}, "response_mode", Kind.CHANGED),
        ({"response_limit": ResponseLimit.ONE}, "response_limit", Kind.CHANGED),
    ],
)
def test_each_part_of_the_content_is_compared(
    changed: dict[str, Any], part: str, kind: Kind
) -> None:
    assert told(compare(Words(), Words(**changed))) == [(part, kind, None)]


def test_words_are_marked_one_by_one() -> None:
    runs = word_runs("Tell me about a time.", "Tell me about the last time.")

    assert runs == (
        (None, "Tell me about "),
        (Kind.REMOVED, "a "),
        (Kind.ADDED, "the last "),
        (None, "time."),
    )


@given(st.text(max_size=200), st.text(max_size=200))
def test_marked_words_give_back_both_texts(before: str, after: str) -> None:
    runs = word_runs(before, after)

    assert "".join(run.text for run in runs if run.kind is not Kind.ADDED) == before
    assert "".join(run.text for run in runs if run.kind is not Kind.REMOVED) == after


@given(st.permutations(["a", "b", "c", "d", "e"]))
def test_every_order_is_explained_by_moves_alone(order: list[str]) -> None:
    before = asking(*((name, f"question {name}") for name in "abcde"))
    after = asking(*((name, f"question {name}") for name in order))

    changes = compare(before, after)

    assert {change.kind for change in changes} <= {Kind.MOVED}
    assert bool(changes) == (order != list("abcde"))


def test_hostile_texts_of_usual_length_are_compared_in_bounded_time() -> None:
    before, after = "a b " * 400, "b a a b " * 200
    questions = [(f"q{number}", before) for number in range(20)]
    others = [(f"q{number}", after) for number in range(20)]
    began = time.process_time()

    compare(asking(*questions), asking(*others))

    assert time.process_time() - began < 1


def test_long_and_repetitive_texts_are_compared_in_bounded_time() -> None:
    before = asking(*((f"a{n}", "a b " * 20_000 + str(n)) for n in range(20)))
    after = asking(*((f"b{n}", "b a a " * 20_000 + str(n)) for n in range(20)))
    began = time.monotonic()

    compare(before, after)

    assert time.monotonic() - began < 10
