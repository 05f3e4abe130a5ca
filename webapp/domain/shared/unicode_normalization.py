"""Unicode normalization in linear time, whatever the text holds.

The algorithm of the standard sorts each run of combining marks, and CPython's takes the square of
the run's length. UAX #15 section 13 (stream-safe text) bounds the runs; no module normalizes text
in any other way.
"""

import re
import unicodedata
from collections.abc import Iterable
from functools import cache
from typing import Literal

MARKS_MAX = 30  # in a row, UAX15-D3
JOINER = "\u034f"  # COMBINING GRAPHEME JOINER: invisible, and no mark is sorted across it

Form = Literal["NFC", "NFKC", "NFKD"]

_BEYOND_BMP = re.compile("[\U00010000-\U0010ffff]")


def normalized(form: Form, text: str) -> str:
    """The text in this form; runs of more than 30 marks are split by a joiner before."""
    if text.isascii():
        return text
    short, all_marks = _long_runs()
    # a class without characters beyond the BMP is one table and ten times as fast
    runs = all_marks if _BEYOND_BMP.search(text) else short
    return unicodedata.normalize(form, runs.sub(rf"\g<0>{JOINER}", text))


@cache
def _long_runs() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """What a joiner has to follow: in text of the Basic Multilingual Plane, and in any text."""
    marks = [char for char in map(chr, range(_LAST_MARK + 1)) if _is_mark(char)]
    return _run_of(char for char in marks if ord(char) <= 0xFFFF), _run_of(marks)


# no plane beyond the first one holds marks; the test of this module looks at all of them
_LAST_MARK = 0x1FFFF


def _is_mark(char: str) -> bool:
    """Whether the character, decomposed, begins with one that is sorted."""
    return unicodedata.combining(unicodedata.normalize("NFKD", char)[0]) > 0


def _run_of(marks: Iterable[str]) -> re.Pattern[str]:
    kind = f"[{''.join(marks)}]"
    return re.compile(f"{kind}{{{MARKS_MAX}}}(?={kind})")
