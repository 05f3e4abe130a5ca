"""Where the words of a search are marked in a text."""

import pytest

from webapp.answers.search import comparable, find_matches


def marked(text: str, words: str) -> str:
    parts, at = [], 0
    for start, end in find_matches(text, comparable(words)):
        parts.append(f"{text[at:start]}[{text[start:end]}]")
        at = end
    return "".join([*parts, text[at:]])


@pytest.mark.parametrize(
    ("text", "words", "shown"),
    [
        ("The fridge, the FRIDGE", "fridge", "The [fridge], the [FRIDGE]"),
        ("Straße und STRASSE", "strasse", "[Straße] und [STRASSE]"),
        ("cafe\u0301 and caf\u00e9", "café", "[cafe\u0301] and [caf\u00e9]"),
        ("e\u0301 e", "e", "e\u0301 [e]"),
        ("of\ufb01ce", "fi", "of[\ufb01]ce"),
        ("\ufb01\ufb01", "i", "[\ufb01][\ufb01]"),
        ("aaa", "aa", "[aa]a"),
        ("٢٠٢٦ مرحبا", "مرحبا", "٢٠٢٦ [مرحبا]"),
        ("nothing", "", "nothing"),
        ("", "x", ""),
    ],
)
def test_matches_are_whole_letters_of_the_text(text: str, words: str, shown: str) -> None:
    assert marked(text, words) == shown
