"""Normalization is that of the standard library, but for runs of marks that are cut."""

import unicodedata

import pytest

from webapp.base.text import JOINER, MARKS_MAX, Form, normalized

TIE = "\u0301\u0323"  # two marks in the wrong order of their classes
FORMS: tuple[Form, ...] = ("NFC", "NFKC", "NFKD")


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
