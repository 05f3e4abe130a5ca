"""At how many words a sign holds, at the bound and beyond it."""

import pytest

from webapp.domain.follow_ups.rules import decide
from webapp.domain.follow_ups.signals import Signals, is_junk, refuses, signals_of
from webapp.domain.follow_ups.text import read
from webapp.domain.follow_ups.thread import Exchange, Reason, Thread
from webapp.domain.shared.vocabulary import FollowUpMode

SWITCH = "What made you switch?"
TEAM = "How many people are on your team?"


def words(count: int, beginning: str = "") -> str:
    """So many different words without a sign of their own."""
    first = beginning.split()
    others = ("w" + "abcdefghij"[i // 10] + "klmnopqrst"[i % 10] for i in range(count - len(first)))
    return " ".join([*first, *others])


def signals(answer: str, question: str = SWITCH) -> Signals:
    return signals_of(question, answer, "en")


@pytest.mark.parametrize(
    ("name", "beginning", "inside", "outside"),
    [
        ("short", "", 5, 6),
        ("vague", "the slow", 40, 41),
        ("no_reason", "the", 60, 61),
        ("no_example", "the", 6, 5),
        ("no_example", "the", 60, 61),
        ("contrast", "the but", 8, 7),
        ("rich", "the", 80, 79),
        ("rich", "because yesterday", 18, 17),
    ],
)
def test_a_sign_holds_up_to_a_number_of_words(
    name: str, beginning: str, inside: int, outside: int
) -> None:
    held = [getattr(signals(words(count, beginning)), name) for count in (inside, outside)]

    assert held == [True, False]


def test_words_to_stop_count_in_twelve_words() -> None:
    held = [refuses(SWITCH, read(words(count, "rather not"))) for count in (12, 13)]

    assert held == [True, False]


def test_parts_of_two_words_are_no_parts() -> None:
    assert not signals("too slow; too loud; too dear").multiple


def test_a_doubtful_number_is_no_fact() -> None:
    assert signals("about 12", TEAM).fact
    assert not signals("maybe 12", TEAM).fact


def test_a_second_fact_ends_even_a_deep_dive() -> None:
    thread = Thread(FollowUpMode.DEEP_DIVE, (Exchange(TEAM, "about 12"),), (TEAM,), depth=1)

    assert decide(thread)[:2] == (Reason.FACT, None)


def test_a_long_answer_may_repeat_its_words() -> None:
    assert not is_junk(read(" ".join([words(90)] * 6)))
