"""Scripts of letters, as far as the names of characters tell them."""

import unicodedata

# letters and marks that do not begin with the name of their script
SHARED = {
    "IDEOGRAPHIC": "CJK",
    "KATAKANA-HIRAGANA": "KATAKANA",
    "FEMININE": "LATIN",
    "MASCULINE": "LATIN",
}
# Unicode Technical Standard 39, section 5.2, "highly restrictive": scripts written together
TOGETHER = (
    frozenset({"LATIN", "CJK", "HIRAGANA", "KATAKANA"}),
    frozenset({"LATIN", "CJK", "BOPOMOFO"}),
    frozenset({"LATIN", "CJK", "HANGUL"}),
)


def script_of(letter: str) -> str:
    """The first word of the letter's name, which is its script, in capitals."""
    first = unicodedata.name(letter, "UNKNOWN").split()[0]
    return SHARED.get(first, first)
