"""Folding and splitting of texts whose words are looked up in lists."""

import re
import unicodedata
from typing import NamedTuple

from webapp.base.text import normalized

# Signs of an answer show in its beginning, and what is looked at bounds the time it takes.
LOOKED_AT_CHARS = 4000

# what decomposition leaves as it is, and what Arabic keyboards write in two ways
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
# Thai, Lao, Burmese, Khmer, kana and Han: their words are not spaced
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
MARK = "."
_INVISIBLE = frozenset(("Mn", "Mc", "Me", "Cf"))
_CHARS_PER_WORD = 1.7
_GROWS = 3  # times at most, by decomposition: Hangul; some signs become eighteen letters
_ELIDED = frozenset(
    ("c", "d", "j", "l", "m", "n", "s", "t", "qu", "jusqu", "lorsqu", "puisqu", "quelqu", "aujourd")
)


class Reading(NamedTuple):
    """The beginning of a text: folded, its tokens, and its words or what replaces them."""

    folded: str
    tokens: list[str]
    units: list[str]


def read(text: str) -> Reading:
    """What the signs of a text are looked for in."""
    folded = fold(text)
    return Reading(folded, tokens(folded), units(folded))


def fold(text: str, at_most: int = LOOKED_AT_CHARS) -> str:
    """Its first characters in lower case, without accents and invisible signs.

    Lines stay apart, other white space is one blank.
    """
    wide = normalized("NFKD", text[:at_most].replace("´", "'"))[: at_most * _GROWS].casefold()
    plain = _plain(wide)
    return "\n".join(" ".join(line.split()) for line in plain.splitlines())


def _plain(text: str) -> str:
    """Without combining marks and signs that only format; what is written in two ways in one."""
    if text.isascii():
        return text.replace("`", "'")
    dropped = (char for char in set(text) if unicodedata.category(char) in _INVISIBLE)
    return text.translate(dict.fromkeys(map(ord, dropped)) | _SAME)


def words(folded: str) -> list[str]:
    """Runs of letters and digits; an apostrophe or hyphen inside joins, as in "don't"."""
    return [word for found in _WORD.findall(folded) if (word := found.strip("'-_"))]


def tokens(folded: str) -> list[str]:
    """Words as lists know them: without apostrophes and hyphens, French elisions apart."""
    return [token for word in words(folded) for token in _split(word)]


def tokens_and_marks(folded: str) -> list[str]:
    """The same with MARK for any punctuation and for the end of a line."""
    found = (item.strip("'-_") for item in _WORD_OR_MARK.findall(folded))
    return [
        token for item in found if item for token in ([MARK] if item in _MARKS else _split(item))
    ]


def units(folded: str) -> list[str]:
    """The words; where a script does not space them, as many signs as there may be words."""
    spaced = words(folded)
    unspaced = [] if folded.isascii() else _UNSPACED.findall(folded)
    estimated = round(len(unspaced) / _CHARS_PER_WORD)
    return spaced if len(spaced) >= estimated else unspaced[:estimated]


def _split(word: str) -> list[str]:
    parts = [word] if word.isalnum() else word.split("-")
    if "'" not in word:
        return parts
    return [token for part in parts for token in _without_apostrophes(part)]


def _without_apostrophes(part: str) -> list[str]:
    before, _, after = part.partition("'")
    spaced = f"{before} {after}" if before in _ELIDED else part
    return spaced.replace("'", "").split()
