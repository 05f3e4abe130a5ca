"""Normalization takes time linear in the length of the text."""

import time
import unicodedata

import pytest

from webapp.base.text import JOINER, MARKS_MAX, Form, normalized

CHARS = 20_000
TIE = "\u0301\u0323"  # two marks in the wrong order of their classes
RUNS = {
    "two classes": "a" + TIE * (CHARS // 2),
    "one mark": "a" + "\u0301" * CHARS,
    "marks that become two": "\u0344" * CHARS,
    "Tibetan vowels": "\u0f73\u0f71\u0f72" * (CHARS // 3),
    "halfwidth voicing": "\uff76\uff9e\uff9f" * (CHARS // 3),
    "marks of two planes": "a\u0323\U0001e8d0\u0301" * (CHARS // 4),
    "planes in one run": "a" + "\u0323\U0001d165\u0301\U0001e8d0" * (CHARS // 4),
    "runs just short enough": ("a" + TIE * (MARKS_MAX // 2)) * (CHARS // (MARKS_MAX + 1)),
    "a phrase in one character": "\ufdfa" * CHARS,
    "music": "\U0001d160" * CHARS,
    "Hangul": "\u1100\u1161\u11a8" * (CHARS // 3),
    "unbroken": "漢" * CHARS,
}
FORMS: tuple[Form, ...] = ("NFC", "NFKC", "NFKD")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("text", RUNS.values(), ids=RUNS)
def test_normalization_time_is_linear(text: str, form: Form) -> None:
    assert min(seconds(text, form) for _ in range(3)) < 1  # the square takes 3 s


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "text",
    ["", "Zoe\u0308", "Zo\xeb", "ﬁn ⅷ", "한국어", "a" + TIE * (MARKS_MAX // 2), "\ufb1d\u0f77"],
)
def test_other_text_is_normalized_as_by_unicodedata(text: str, form: Form) -> None:
    assert normalized(form, text) == unicodedata.normalize(form, text)


def test_a_joiner_is_inserted_after_thirty_marks() -> None:
    found = normalized("NFC", "x" + "\u0323" * (2 * MARKS_MAX + 1))

    run = "\u0323" * MARKS_MAX
    assert found == f"x{run}{JOINER}{run}{JOINER}\u0323"


def seconds(text: str, form: Form) -> float:
    """Of the processor, whatever else the machine does."""
    begin = time.thread_time()
    normalized(form, text)
    return time.thread_time() - begin
