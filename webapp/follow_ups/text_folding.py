"""Text without the differences that hide a word from a comparison.

Two texts are compared after both were folded. What folding merges in one script (b and β) it merges
on both sides, so texts of any script keep their words apart well enough.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from webapp.base.text import normalized

GROWTH_MAX = 3  # Hangul takes three letters for one; single characters become up to eighteen

# what is invisible and neither a format character nor a mark that is sorted: Hangul fillers, the
# grapheme joiner, selectors of variants, tags
IGNORABLE = "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\ufe00-\ufe0f"
TAGS = "\U000e0000-\U000e0fff"

# Characters that pass for a Latin letter, in lower case and without accents. Unicode Technical
# Standard 39 has thousands; these are the letters of the scripts that keyboards have.
LOOK_ALIKES = str.maketrans(
    dict(zip("авԁеһніјкӏмпорԛгсѕтѵѡԝхуүь", "abdehhijklmnopqrcstvwwxyyb", strict=True))
    | dict(zip("αβϲεηιϳκμνορςτυχγωζ", "abcenijkmvopstuxywz", strict=True))
    | dict(zip("օոսհցզռյլ", "onuhgqnjl", strict=True))
    | dict(zip("ıɑɡłøđħŧɩ", "iaglodhti", strict=True))
    | dict(zip("ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ", "abcdefghijklmnoprstuvwyz", strict=True))
    | {"æ": "ae", "œ": "oe"}
    # letters in circles and squares, and those that flags are made of
    | {chr(first + n): chr(97 + n) for first in (0x1F1E6, 0x1F150, 0x1F170) for n in range(26)}
)


def stripped(text: str) -> str:
    """The text without accents and invisible characters; its case stays."""
    if text.isascii():
        return text
    bound = GROWTH_MAX * len(text)
    wide = normalized("NFKD", text)[:bound]
    return _pattern(_dropped(), wide).sub("", wide)


def folded(text: str) -> str:
    """The text without accents, invisible characters, case and look-alikes, digits as 0 to 9."""
    lower = stripped(text).casefold()
    if lower.isascii():
        return lower
    return normalized("NFC", lower.translate(LOOK_ALIKES).translate(_digits()))


def words(text: str) -> list[str]:
    """Runs of letters and digits with the vowel signs that belong to them."""
    return [found[0] for found in word_matches(text)]


def word_matches(text: str) -> Iterator[re.Match[str]]:
    """The same with their positions."""
    if text.isascii():
        return _ASCII_WORD.finditer(text)
    return _pattern(_word(), text).finditer(text.replace("_", " "))


def spaced(tokens: list[str]) -> str:
    """The words with one blank around each: whole words are found in it as substrings."""
    return f" {' '.join(tokens)} "


UNSPACED = (
    "\u0e00-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
# Thai, Lao, Tibetan, Burmese, Khmer, Japanese, Chinese: writing without blanks between words
UNSPACED_LETTERS = re.compile(f"[{UNSPACED}]+")


_ASCII_WORD = re.compile("[A-Za-z0-9]+")
_BEYOND_BMP = re.compile("[\U00010000-\U0010ffff]")


class _Patterns(NamedTuple):
    """One for text of the Basic Multilingual Plane, many times as fast, and one for any text."""

    short: re.Pattern[str]
    whole: re.Pattern[str]


def _pattern(patterns: _Patterns, text: str) -> re.Pattern[str]:
    return patterns.whole if _BEYOND_BMP.search(text) else patterns.short


@cache
def _dropped() -> _Patterns:
    """Format characters, enclosing marks, and marks that are sorted: no vowel sign is."""
    return _classes("[{}" + IGNORABLE + "]+", "[{}" + IGNORABLE + TAGS + "]+", accents=True)


@cache
def _word() -> _Patterns:
    return _classes("[\\w{}]+", "[\\w{}]+", accents=False)


@cache
def _digits() -> dict[int, str]:
    every = (chr(code) for code in range(0x80, 0x20000))
    return {ord(char): str(unicodedata.decimal(char)) for char in every if char.isdecimal()}


@cache
def _marks() -> tuple[str, ...]:
    every = (chr(code) for code in range(0x20000))
    return tuple(char for char in every if unicodedata.category(char) in {"Mn", "Mc", "Me", "Cf"})


def _is_accent(char: str) -> bool:
    kind = unicodedata.category(char)
    return kind in {"Me", "Cf"} or unicodedata.combining(char) > 0


def _classes(short: str, whole: str, *, accents: bool) -> _Patterns:
    found = [char for char in _marks() if _is_accent(char) == accents]
    low = [char for char in found if char <= "\uffff"]
    return _Patterns(
        re.compile(short.format(_ranges(low))), re.compile(whole.format(_ranges(found)))
    )


def _ranges(chars: list[str]) -> str:
    """The characters as a class of a pattern, neighbours as one range."""
    parts: list[list[str]] = []
    for char in chars:
        if parts and ord(char) == ord(parts[-1][-1]) + 1:
            parts[-1] = [parts[-1][0], char]
        else:
            parts.append([char])
    return "".join(re.escape(part[0]) + f"-{re.escape(part[-1])}" for part in parts)
