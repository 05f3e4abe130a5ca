"""Names in one line, hashes of tokens, and Unicode normalisation in linear time."""

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from functools import cache
from typing import Literal

JOINERS = "\u200c\u200d"  # Persian and Indic spelling needs them, and many emoji
# control characters, direction overrides, and lone surrogates, which no database stores
_DROPPED = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def in_one_line(name: str) -> str:
    """Return the name without line breaks, control characters and direction overrides.

    Returns "" if nothing visible remains. Joiners stay: many scripts need them for spelling.
    """
    name = " ".join(_DROPPED.sub("", " ".join(name.split())).split())
    return name if any(char.isprintable() and char != " " for char in name) else ""


def token_hash(token: str) -> str:
    """Return the SHA-256 of any text, also with lone surrogates, as 64 hexadecimal digits.

    For random tokens of 128 bits or more only: passwords need a slow hash.
    """
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


MARKS_MAX = 30  # in a row, UAX15-D3
JOINER = "\u034f"  # COMBINING GRAPHEME JOINER: invisible; normalisation moves no mark across it

Form = Literal["NFC", "NFKC", "NFKD"]

_BEYOND_BMP = re.compile("[\U00010000-\U0010ffff]")


def normalized(form: Form, text: str) -> str:
    """Return the text in this form, after splitting runs of more than 30 marks by joiners."""
    if text.isascii():
        return text
    short, all_marks = _long_runs()
    # a character class within the BMP is one table, and ten times as fast
    runs = all_marks if _BEYOND_BMP.search(text) else short
    return unicodedata.normalize(form, runs.sub(rf"\g<0>{JOINER}", text))


@cache
def _long_runs() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return patterns of runs that need a joiner: for texts within the BMP, and for any text."""
    marks = [char for char in map(chr, range(_LAST_MARK + 1)) if _is_mark(char)]
    return _run_of(char for char in marks if ord(char) <= 0xFFFF), _run_of(marks)


# higher code points hold no marks; a test checks all of them
_LAST_MARK = 0x1FFFF


def _is_mark(char: str) -> bool:
    """Return whether the decomposed character begins with a combining mark."""
    return unicodedata.combining(unicodedata.normalize("NFKD", char)[0]) > 0


def _run_of(marks: Iterable[str]) -> re.Pattern[str]:
    kind = f"[{''.join(marks)}]"
    return re.compile(f"{kind}{{{MARKS_MAX}}}(?={kind})")


# scripts by the first word of names that do not begin with their script
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
    """Return the script of a letter in capitals: the first word of its Unicode name."""
    first = unicodedata.name(letter, "UNKNOWN").split()[0]
    return SHARED.get(first, first)
