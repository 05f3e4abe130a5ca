"""Folding and splitting of texts: for look-ups in word lists, and for comparisons.

`fold`, `tokens` and `units` are for look-ups; `folded`, `words` and `spaced` are for comparisons:
they take out the differences that hide a word. Compare two texts only after folding both. Whatever
`folded` merges in one script (b and β), it merges in both texts, so words of any script stay
distinct enough.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from webapp.base.text import normalized

# Signs of an answer show in its beginning; the limit bounds the time of the search.
LOOKED_AT_CHARS = 4000

# characters that decomposition keeps, and variants of Arabic keyboards
_SAME = str.maketrans(
    {
        **dict.fromkeys("’‘ʼ`", "'"),
        **{"œ": "oe", "æ": "ae", "ø": "o", "ł": "l", "ı": "i", "ة": "ه", "ى": "ي", "ی": "ي"},
        **{"ک": "ك", "ٱ": "ا", "ـ": None, "؛": ";", "،": ",", "、": ",", "。": "."},
    }
)
_WORD = re.compile(r"[\w'-]+")
_MARKS = ".,;:!?؟\n()–—/"
_WORD_OR_MARK = re.compile(rf"[\w'-]+|[{_MARKS}]")
# Thai, Lao, Burmese, Khmer, kana and Han have no blanks between words
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
MARK = "."
_INVISIBLE = frozenset(("Mn", "Mc", "Me", "Cf"))
_CHARS_PER_WORD = 1.7
_GROWS = 3  # limit of growth by decomposition: Hangul triples, some characters grow to eighteen
_ELIDED = frozenset(
    ("c", "d", "j", "l", "m", "n", "s", "t", "qu", "jusqu", "lorsqu", "puisqu", "quelqu", "aujourd")
)


class Reading(NamedTuple):
    """The beginning of a text: folded, its tokens, and its words or their estimate."""

    folded: str
    tokens: list[str]
    units: list[str]


def read(text: str) -> Reading:
    """Prepare a text for the search for signs."""
    folded = fold(text)
    return Reading(folded, tokens(folded), units(folded))


def fold(text: str, at_most: int = LOOKED_AT_CHARS) -> str:
    """Return the first `at_most` characters in lower case, without accents and invisible signs.

    Lines stay apart; other white space becomes one blank.
    """
    wide = normalized("NFKD", text[:at_most].replace("´", "'"))[: at_most * _GROWS].casefold()
    plain = _plain(wide)
    return "\n".join(" ".join(line.split()) for line in plain.splitlines())


def _plain(text: str) -> str:
    """Drop combining marks and format characters, and unify characters written in two ways."""
    if text.isascii():
        return text.replace("`", "'")
    dropped = (char for char in set(text) if unicodedata.category(char) in _INVISIBLE)
    return text.translate(dict.fromkeys(map(ord, dropped)) | _SAME)


def _words(folded: str) -> list[str]:
    """Return runs of letters and digits; an inner apostrophe or hyphen joins, as in "don't"."""
    return [word for found in _WORD.findall(folded) if (word := found.strip("'-_"))]


def tokens(folded: str) -> list[str]:
    """Return words as lists have them: no apostrophes or hyphens, French elisions separate."""
    return [token for word in _words(folded) for token in _split(word)]


def tokens_and_marks(folded: str) -> list[str]:
    """Return the tokens, with MARK for any punctuation mark and for the end of a line."""
    found = (item.strip("'-_") for item in _WORD_OR_MARK.findall(folded))
    return [
        token for item in found if item for token in ([MARK] if item in _MARKS else _split(item))
    ]


def units(folded: str) -> list[str]:
    """Return the words; in unspaced scripts, one character for each word estimated."""
    in_words = _words(folded)
    unspaced = [] if folded.isascii() else _UNSPACED.findall(folded)
    estimated = round(len(unspaced) / _CHARS_PER_WORD)
    return in_words if len(in_words) >= estimated else unspaced[:estimated]


def _split(word: str) -> list[str]:
    parts = [word] if word.isalnum() else word.split("-")
    if "'" not in word:
        return parts
    return [token for part in parts for token in _without_apostrophes(part)]


def _without_apostrophes(part: str) -> list[str]:
    before, _, after = part.partition("'")
    divided = f"{before} {after}" if before in _ELIDED else part
    return divided.replace("'", "").split()


# invisible characters other than format characters and combining marks: Hangul fillers, the
# grapheme joiner, variation selectors, tags
_IGNORABLE = frozenset(
    (0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, *range(0x180B, 0x1810), *range(0xFE00, 0xFE10))
).union(range(0xE0000, 0xE1000))

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
    found = normalized("NFKD", text)[: _GROWS * len(text)]
    dropped = (ord(each) for each in set(found) if _is_accent(each) or ord(each) in _IGNORABLE)
    return found.translate(dict.fromkeys(dropped))


def _is_accent(char: str) -> bool:
    """Return whether it is an accent, an enclosing mark or a format character, no vowel sign."""
    return unicodedata.category(char) in {"Me", "Cf"} or unicodedata.combining(char) > 0


def folded(text: str) -> str:
    """Return the stripped text in lower case, look-alikes as Latin letters, digits as 0 to 9."""
    lower = stripped(text).casefold()
    if lower.isascii():
        return lower
    plain = lower.translate(LOOK_ALIKES)
    digits = {ord(char): str(unicodedata.decimal(char)) for char in set(plain) if char.isdecimal()}
    return normalized("NFC", plain.translate(digits))


def words(text: str) -> list[str]:
    """Return runs of letters and digits, with their vowel signs."""
    return [found[0] for found in word_matches(text)]


def word_matches(text: str) -> Iterator[re.Match[str]]:
    """Yield the matches of the words, with their positions."""
    return _word().finditer(text.replace("_", " "))


def spaced(tokens: list[str]) -> str:
    """Join the words with a blank around each, so that a substring search finds whole words."""
    return f" {' '.join(tokens)} "


# Thai, Lao, Tibetan, Burmese, Khmer, Japanese, Chinese have no blanks between words
UNSPACED_LETTERS = re.compile(
    "[\u0e00-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+"
)


@cache
def _word() -> re.Pattern[str]:
    """Return the pattern of a word: letters, digits and vowel signs. Vowel signs beyond the BMP,
    which would make it many times slower, divide words of a few ancient scripts.
    """
    marks = (char for char in map(chr, range(0x10000)) if unicodedata.category(char)[0] == "M")
    return re.compile(f"[\\w{''.join(char for char in marks if not _is_accent(char))}]+")
