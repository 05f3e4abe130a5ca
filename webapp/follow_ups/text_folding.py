"""Text without the differences that hide a word from a comparison.

Two texts are compared after both were folded. What folding merges in one script (b and β) it merges
on both sides, so texts of any script keep their words apart well enough.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import cache

from webapp.base.text import normalized

GROWTH_MAX = 3  # Hangul takes three letters for one; single characters become up to eighteen

# what is invisible and neither a format character nor a mark that is sorted: Hangul fillers, the
# grapheme joiner, selectors of variants, tags
IGNORABLE = (0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, *range(0x180B, 0x1810), *range(0xFE00, 0xFE10))
TAGS = range(0xE0000, 0xE1000)

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
    return normalized("NFKD", text)[:bound].translate(_dropped())


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
    return _word().finditer(text.replace("_", " "))


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
_SCRIPTS_END = 0x20000  # beyond are Han alone, and signs


@cache
def _dropped() -> dict[int, None]:
    """Format characters, enclosing marks, and marks that are sorted: no vowel sign is."""
    return dict.fromkeys([*(ord(char) for char in _marks() if _is_accent(char)), *IGNORABLE, *TAGS])


@cache
def _word() -> re.Pattern[str]:
    """Letters, digits and vowel signs. Those beyond the BMP, which would make this many times as
    slow, divide words of a few ancient scripts.
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
