"""Folding: text without the differences that hide a word from a comparison.

Compare two texts only after folding both. Whatever folding merges in one script (b and β), it
merges in both texts, so words of any script stay distinct enough.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import cache

from webapp.base.text import normalized

GROWTH_MAX = 3  # Hangul triples; some single characters grow to eighteen

# invisible characters other than format characters and combining marks: Hangul fillers, the
# grapheme joiner, variation selectors, tags
IGNORABLE = (0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, *range(0x180B, 0x1810), *range(0xFE00, 0xFE10))
TAGS = range(0xE0000, 0xE1000)

# Characters that look like a Latin letter, in lower case and without accents. Unicode Technical
# Standard 39 lists thousands; these are the ones on keyboards.
LOOK_ALIKES = str.maketrans(
    dict(zip("авԁеһніјкӏмпорԛгсѕтѵѡԝхуүь", "abdehhijklmnopqrcstvwwxyyb", strict=True))
    | dict(zip("αβϲεηιϳκμνορςτυχγωζ", "abcenijkmvopstuxywz", strict=True))
    | dict(zip("օոսհցզռյլ", "onuhgqnjl", strict=True))
    | dict(zip("ıɑɡłøđħŧɩ", "iaglodhti", strict=True))
    | dict(zip("ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ", "abcdefghijklmnoprstuvwyz", strict=True))
    | {"æ": "ae", "œ": "oe"}
    # enclosed letters and regional indicators
    | {chr(first + n): chr(97 + n) for first in (0x1F1E6, 0x1F150, 0x1F170) for n in range(26)}
)


def stripped(text: str) -> str:
    """Return the text without accents and invisible characters, in its original case."""
    if text.isascii():
        return text
    bound = GROWTH_MAX * len(text)
    return normalized("NFKD", text)[:bound].translate(_dropped())


def folded(text: str) -> str:
    """Return the stripped text in lower case, look-alikes as Latin letters, digits as 0 to 9."""
    lower = stripped(text).casefold()
    if lower.isascii():
        return lower
    return normalized("NFC", lower.translate(LOOK_ALIKES).translate(_digits()))


def words(text: str) -> list[str]:
    """Return runs of letters and digits, with their vowel signs."""
    return [found[0] for found in word_matches(text)]


def word_matches(text: str) -> Iterator[re.Match[str]]:
    """Yield the matches of the words, with their positions."""
    return _word().finditer(text.replace("_", " "))


def spaced(tokens: list[str]) -> str:
    """Join the words with a blank around each, so that a substring search finds whole words."""
    return f" {' '.join(tokens)} "


UNSPACED = (
    "\u0e00-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
# Thai, Lao, Tibetan, Burmese, Khmer, Japanese, Chinese have no blanks between words
UNSPACED_LETTERS = re.compile(f"[{UNSPACED}]+")


_SCRIPTS_END = 0x20000  # beyond: only Han and symbols


@cache
def _dropped() -> dict[int, None]:
    """Return format characters, enclosing marks and combining accents, but no vowel signs."""
    return dict.fromkeys([*(ord(char) for char in _marks() if _is_accent(char)), *IGNORABLE, *TAGS])


@cache
def _word() -> re.Pattern[str]:
    """Return the pattern of a word: letters, digits and vowel signs. Vowel signs beyond the BMP,
    which would make it many times slower, divide words of a few ancient scripts.
    """
    signs = "".join(char for char in _marks() if char <= "\uffff" and not _is_accent(char))
    return re.compile(f"[\\w{re.escape(signs)}]+")


@cache
def _digits() -> dict[int, str]:
    every = map(chr, range(0x80, _SCRIPTS_END))
    return {ord(char): str(unicodedata.decimal(char)) for char in every if char.isdecimal()}


def _marks() -> Iterator[str]:
    every = map(chr, range(_SCRIPTS_END))
    return (char for char in every if unicodedata.category(char) in {"Mn", "Mc", "Me", "Cf"})


def _is_accent(char: str) -> bool:
    kind = unicodedata.category(char)
    return kind in {"Me", "Cf"} or unicodedata.combining(char) > 0
