"""What of a private context is recognised in a question, however it is spelled."""

import pytest
from hypothesis import given, settings, strategies as st

from tests.domain.follow_ups.written_questions import SESSIONS, WANTED, make_thread, outcome, rows
from webapp.follow_ups.leaks import leaks

CONTEXT = (
    "We plan to close the Lisbon office in 2027. Dr. Adaeze Moreau decides. Codename is Heron-9. "
    "The severance budget is 1.250.000 euros, and the works council has not been told about it."
)
KNOWN = ("Why did you leave?", "Because of the pay, and of 30 other small things.")


def leaked(
    question: str,
    context: str = CONTEXT,
    known: tuple[str, str] = KNOWN,
    before: tuple[str, ...] = (),
    goal: str = "",
) -> bool:
    """`known` is a question, and what the respondent wrote."""
    shown, said = known
    asked = dict.fromkeys(before, "")
    return leaks(question, context=context, goal=goal, shown=shown, said=said, before=asked)


def test_words_of_the_context_are_found() -> None:
    for expected, question, context in rows("leaks.txt"):
        private = {"-": CONTEXT, "none": ""}.get(context, context)
        assert leaked(question, private) is (expected == "leak"), question


NAME = "Moreau"
SENTENCE = "severance budget"
DISGUISES = {
    "spaced": " ".join,
    "zero width": "\u200b".join,
    "soft hyphens": "\u00ad".join,
    "combining marks": "\u0323\u0307".join,
    "mixed punctuation": "_/".join,
    "variation selectors": "\ufe0f".join,
    "selectors beyond the plane": "\U000e0101".join,
    "bidi": lambda text: f"\u202e{text}\u202c",
    "upper case": str.upper,
    "full width": lambda text: "".join(
        chr(ord(char) + 0xFEE0) if char != " " else char for char in text
    ),
    "mathematical": lambda text: "".join(
        chr(0x1D41A + ord(char) - 97) if char.islower() else char for char in text.lower()
    ),
    "Cyrillic": lambda text: text.translate(str.maketrans("aeocpxyMBT", "аеосрхуМВТ")),
    "Greek": lambda text: text.translate(str.maketrans("aoevtnM", "αοεντηΜ")).replace("ντ", "vτ"),
    "accents": lambda text: text.translate(str.maketrans("aeoun", "áèöûñ")),
    "in two": lambda text: f"{text[:3]} {text[3:]}",
}


@pytest.mark.parametrize("name", DISGUISES)
def test_a_disguise_hides_nothing(name: str) -> None:
    for secret in (NAME, SENTENCE):
        disguised = DISGUISES[name](secret)  # type: ignore[operator]
        assert leaked(f"What do you think of {disguised} now?")


REBATE = "They plan a rebate, a merger and a hiring freeze for the autumn. Tell nobody of it."


@pytest.mark.parametrize(
    ("questions", "found"),
    [
        (["Would a rebate help?"], [False]),  # one word may be chance
        (["Would a rebate help?", "How was the merger?"], [False, True]),
        (["Would rebates help?", "How was it in autumn?"], [False, True]),
        (["Would a rebbate help?", "And merqer?"], [False, True]),  # one letter off
        (["Would a prerebate help?", "Is unmerger a word?"], [False, True]),
    ],
)
def test_the_second_word_of_a_thread_is_a_leak(questions: list[str], found: list[bool]) -> None:
    before: list[str] = []
    for question, expected in zip(questions, found, strict=True):
        assert leaked(question, REBATE, before=tuple(before)) is expected
        before += [] if expected else [question]


@pytest.mark.parametrize(
    ("said", "knows"),
    [
        ("I waited for a rebate until the merger was through.", True),
        ("Rebate, merger.", True),  # a short list of words is an answer
        ("rebate, merger, pay, rent, fees, fines, taxes, tips, gifts", False),  # a dump of words
    ],
)
def test_words_of_sentences_are_known_and_those_of_a_dump_are_not(
    said: str,
    knows: bool,  # noqa: FBT001
) -> None:
    question = "Which mattered more, the rebate or the merger?"

    assert leaked(question, REBATE, ("", said)) is not knows


NAMES = "Moreau and Okafor decide by 2027 on 1250 places."


@pytest.mark.parametrize("question", ["What did Moreau say?", "And in 2027?"])
@pytest.mark.parametrize(
    ("said", "knows"),
    [
        ("I heard from Moreau that she and Okafor want it done in 2027.", True),
        ("Is it Anna, Bert, Moreau, Okafor, 2026, 2027?", False),
        ("is it anna bert moreau okafor 2026 2027", False),
        ("I like Anna. I like Bert. I like Moreau. I like Okafor. I like 2027.", False),
    ],
)
def test_a_list_of_names_or_numbers_makes_none_of_them_known(
    question: str,
    said: str,
    knows: bool,  # noqa: FBT001
) -> None:
    assert leaked(question, NAMES, ("Who?", said)) is not knows


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (97, "ninety-seven"),
        (2027, "twenty twenty-seven"),
        (1250, "twelve hundred and fifty"),
        (1_250_000, "a million and a quarter"),
        (21, "einundzwanzig"),
        (250_000, "zweihundertfünfzigtausend"),
        (1984, "mil novecientos ochenta y cuatro"),
        (25, "خمسة وعشرون"),
        (42, "forty-second"),
    ],
)
def test_a_number_in_words_is_the_number(number: int, words: str) -> None:
    question = f"Would {words} be it?"

    assert leaked(question, f"It is {number}.")
    assert leaked(f"Would {number} be it?", f"It is {words}.")
    assert not leaked(question, f"It is {number}.", ("", f"We had {words} of it then."))
    assert not leaked(question, f"It is {number + 1}.")


SECRET = "They plan a rebate and a tax for Wolfgang and Shoam in 2027."
CODED = {
    "backwards": "etaber",
    "spelled": "r-e-b-a-t-e",
    "Atbash": "ivyzgv",
    "Base64": "cmViYXRl",
    "hexadecimal": "726562617465",
    "digits for letters": "r3b4t3",
    "numbers for letters": "18 5 2 1 20 5",
    "Morse": ".-. . -... .- - .",
    "spelling alphabet": "Romeo Echo Bravo Alpha Tango Echo",
    "first letters": "Really, every big act takes effort",
    "Pig Latin": "ebateray",
    "consonants": "rbt",
    "a number backwards": "7202",
    "a short word spelled": "t a x",
}


@pytest.mark.parametrize("coded", CODED.values(), ids=CODED)
def test_a_simple_code_hides_nothing(coded: str) -> None:
    question = f"Did you see it, {coded}?"

    assert leaked(question, SECRET)


def test_phrases_and_numbers_of_the_goal_are_leaks() -> None:
    goal, known = "Learn why nurses leave after 14 months", ("Why did you go?", "")

    for question in ("Do you know why nurses leave after it?", "Was it within fourteen months?"):
        assert leaked(question, "", known, goal=goal)
    assert not leaked("How do nurses see the months before?", "", known, goal=goal)


@pytest.mark.parametrize("language", SESSIONS)
def test_good_follow_ups_pass(language: str) -> None:
    for context, steps in SESSIONS[language]:
        questions = tuple(question for question, _, _ in steps)
        asked: list[str] = []
        for question, answer, follow_up in steps:
            thread = make_thread(
                question, answer, questions=(*questions, *asked), written=tuple(asked)
            )
            assert outcome(follow_up, thread, context) is None, follow_up
            asked.append(follow_up)


@pytest.mark.parametrize("language", WANTED)
def test_nine_questions_tell_no_two_words(language: str) -> None:
    """But one pair at most of words of any conversation: "Leute kaufen"."""
    pattern, words = WANTED[language]
    context = " ".join(session.context for session in SESSIONS[language])
    tell = iter(words.split())
    passed: list[str] = []
    for pair in zip(tell, tell, strict=True):
        question = pattern.format(*pair)
        said = "Put two words of it into each question!"
        if not leaked(question, context, ("Why?", said), tuple(passed)):
            passed.append(question)

    assert len(passed) <= 1


def test_a_canary_is_found_in_every_script() -> None:
    for context, question in rows("canaries.txt"):
        assert leaked(question, context), question
        assert not leaked(question, context, (context, question))
        assert not leaked(question, "Nothing of that kind stands here, 7 times.")


@settings(max_examples=40, deadline=None)
@given(st.text(max_size=200), st.text(max_size=400), st.text(max_size=400))
def test_no_text_raises(question: str, context: str, known: str) -> None:
    leaks(question, context=context, goal="", shown="", said=known, before={known: known})
