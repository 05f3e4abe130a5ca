"""What a written question may hold."""

import pytest

from tests.domain.follow_ups.written_questions import INTERVIEWS, outcome
from webapp.follow_ups.guard import Check

FILLER = "What about the following matters, one by one and slowly"


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("", Check.REPLY),
        ("   ", Check.REPLY),
        (f"{FILLER} {'o' * (198 - len(FILLER))}?", None),
        (f"{FILLER} {'o' * (199 - len(FILLER))}?", Check.LENGTH),
        ("What was slow?\nWhat else", Check.LINES),
        ("What was slow\u2028then?", Check.LINES),
        ("What was slow\x0bthen?", Check.LINES),
        ("  What was slow then?\n", None),
        ("What was\tslow then?", Check.CHARACTERS),
        ("What was\x00 slow then?", Check.CHARACTERS),
        ("What was \u202eslow then?", Check.CHARACTERS),
        ("What was \u2066slow then?", Check.CHARACTERS),
        ("What was \u061cslow then?", Check.CHARACTERS),
        ("What was sl\u200bow then?", Check.CHARACTERS),
        ("What was sl\u200dow then?", Check.CHARACTERS),
        ("What was sl\u00adow then?", Check.CHARACTERS),
        ("What was sl\ufe0fow then?", Check.CHARACTERS),
        ("What was sl\ufeffow then?", Check.CHARACTERS),
        ("What was slow then \ud800?", Check.CHARACTERS),
        ("What was slow then \ue000?", Check.CHARACTERS),
        ("What was slow then 🙂?", Check.CHARACTERS),
        ("What was <b>slow</b> then?", Check.CHARACTERS),
        ("What was **slow** then?", Check.CHARACTERS),
        ("What was _slow_ then?", Check.CHARACTERS),
        ("What was `slow` then?", Check.CHARACTERS),
        ("What was [slow] then?", Check.CHARACTERS),
        ("# What was slow then?", Check.CHARACTERS),
        ("What was {slow} then?", Check.CHARACTERS),
        ("What was C:\\slow then?", Check.CHARACTERS),
        ("What is slow = then?", Check.CHARACTERS),
        ("What cost 50 € or 60 % more then, and/or less?", None),
    ],
)
def test_length_lines_and_characters(question: str, expected: Check | None) -> None:
    assert outcome(question) is expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Tell me more.", Check.ONE_QUESTION),
        ("What was slow? And why?", Check.ONE_QUESTION),
        ("What was slow??", Check.ONE_QUESTION),
        ("What was slow⁇", Check.CHARACTERS),
        ("What was slow? Please tell.", Check.ONE_QUESTION),
        ("What was slow？ And why?", Check.ONE_QUESTION),
        ("What was slow; and why;", Check.ONE_QUESTION),
        ("That is fine. What comes to mind?", None),
        ("What was slow then (if anything?)", None),
    ],
)
def test_exactly_one_question(question: str, expected: Check | None) -> None:
    assert outcome(question) is expected


@pytest.mark.parametrize(
    ("language", "question", "expected"),
    [
        ("es", "¿Qué pasó? ¿Y por qué?", Check.ONE_QUESTION),
        ("es", "¿Qué pasó, ¿por qué?", Check.ONE_QUESTION),
        ("ar", "ماذا حدث؟ ولماذا؟", Check.ONE_QUESTION),
        ("ar", "ماذا\u200cحدث بعد ذلك؟", None),  # joiners belong to the spelling of some languages
        ("el", "Τι έγινε; Και γιατί;", Check.ONE_QUESTION),
        ("el", "Τι έγινε μετά\u037e", None),
        ("el", "Τι έγινε μετά?", None),
        ("ja", "それはいつでしたか？なぜですか？", Check.ONE_QUESTION),
        ("ja", "それはいつでしたか", Check.ONE_QUESTION),
        ("hi", "फिर क्या हुआ?", None),
    ],
)
def test_exactly_one_question_in_any_script(
    language: str, question: str, expected: Check | None
) -> None:
    assert outcome(question, INTERVIEWS[language].thread) is expected


@pytest.mark.parametrize(
    "question",
    [
        "Could you look at https://example.com/a then?",
        "Could you look at www.example then?",
        "Could you look at example.com then?",
        "Could you look at Example.Rocks then?",
        "Could you look at example dot com then?",
        "Could you look at example．com then?",
        "Could you look at 10.0.0.1 then?",
        "Could you call +49 (151) 234-5678 then?",
        "Could you run /etc/passwd then?",
        "Could you use mailto:somebody then?",
        "Could you look at t.me/somebody then?",
        "Could you write to somebody (at) example (dot) rocks then?",
    ],
)
def test_addresses_are_refused(question: str) -> None:
    assert outcome(question) is Check.ADDRESS


def test_mail_addresses_are_refused() -> None:
    assert outcome("Could you write to me@example.com then?") is Check.CHARACTERS


@pytest.mark.parametrize(
    "question",
    [
        "- What was slow then?",
        "1. What was slow then?",
        "What was &lt;slow then?",
        "What was slow // then?",
        "What was slow -- then?",
        "What does print() do then?",
        "What does print(context) do then?",
    ],
)
def test_markup_and_code_are_refused(question: str) -> None:
    assert outcome(question) is Check.MARKUP
