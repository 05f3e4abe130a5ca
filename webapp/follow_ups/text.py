"""Folding and splitting of texts for look-ups in word lists."""

import re
import unicodedata
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


def words(folded: str) -> list[str]:
    """Return runs of letters and digits; an inner apostrophe or hyphen joins, as in "don't"."""
    return [word for found in _WORD.findall(folded) if (word := found.strip("'-_"))]


def tokens(folded: str) -> list[str]:
    """Return words as lists have them: no apostrophes or hyphens, French elisions separate."""
    return [token for word in words(folded) for token in _split(word)]


def tokens_and_marks(folded: str) -> list[str]:
    """Return the tokens, with MARK for any punctuation mark and for the end of a line."""
    found = (item.strip("'-_") for item in _WORD_OR_MARK.findall(folded))
    return [
        token for item in found if item for token in ([MARK] if item in _MARKS else _split(item))
    ]


def units(folded: str) -> list[str]:
    """Return the words; in unspaced scripts, one character for each word estimated."""
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
