"""At how many words a sign holds, at the bound and beyond it."""

import pytest

from webapp.domain.follow_ups.rules import decide
from webapp.domain.follow_ups.signals import Signals, is_junk, is_thin, refuses, signals_of
from webapp.domain.follow_ups.text import read
from webapp.domain.follow_ups.thread import Exchange, Reason, Technique, Thread
from webapp.domain.shared.vocabulary import FollowUpMode

SWITCH = "What made you switch?"
TEAM = "How many people are on your team?"
PLAIN = "I like the colors and the layout of the page very much"
DEEP = FollowUpMode.DEEP_DIVE


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


@pytest.mark.parametrize(
    ("answer", "thin"),
    [(words(5), True), (words(6), False), ("sorry, I really can not think of anything", False)],
)
def test_five_words_are_thin(answer: str, thin: bool) -> None:  # noqa: FBT001
    assert is_thin(read(answer)) is thin


def test_a_longer_non_answer_is_thin() -> None:
    assert is_thin(read("Well, sorry, I do not know yet"))


def test_thin_answers_apart_end_no_thread() -> None:
    answers = ("The price", PLAIN, "Too high")
    exchanges = tuple(Exchange(SWITCH, answer) for answer in answers)

    assert decide(Thread(DEEP, exchanges, (SWITCH,), 2)).reason is not Reason.THIN_TWICE


def test_yes_to_a_second_question_for_it_is_no_non_answer_and_not_asked_why_again() -> None:
    daily = "Do you use it daily?"
    thread = Thread(
        FollowUpMode.SMART,
        (Exchange(SWITCH, PLAIN), Exchange(daily, "no", Technique.WHY)),
        (SWITCH, daily),
        depth=1,
        used=frozenset({Technique.WHY}),
    )

    assert decide(thread)[:2] == (Reason.SHORT, Technique.ELABORATE)


def test_only_a_deep_dive_asks_what_tips_the_balance() -> None:
    answer = "We moved because of the price yesterday but nobody liked it"

    def chosen(mode: FollowUpMode) -> Technique | None:
        return decide(Thread(mode, (Exchange(SWITCH, answer),), (SWITCH,))).technique

    assert (chosen(FollowUpMode.SMART), chosen(DEEP)) == (None, Technique.CONTRAST)


def test_a_condition_begins_no_question_for_a_time() -> None:
    assert not signals("the export", "Think of work. When you are in a hurry, what helps?").fact


def test_a_tender_refusal_is_tender() -> None:
    answer = "I'd rather not say, my father died"

    assert decide(Thread(DEEP, (Exchange(SWITCH, answer),), (SWITCH,))).reason is Reason.TENDER


def test_a_word_of_another_language_is_not_quoted() -> None:
    answer = "Das war am Anfang mit dem alten Werkzeug immer sehr langsam"

    assert signals(answer).vague
    assert signals(answer).word == ""
