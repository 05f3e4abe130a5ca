"""Folding, splitting and matching of texts, with lists of words from files."""

import re
import tomllib
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import product
from pathlib import Path
from typing import NamedTuple

from webapp.base.text import normalized

_FOLDER = Path(__file__).parent


def load(name: str) -> dict[str, str]:
    """The lists of a file by their names; `name` is `conduct/en`."""
    lists: dict[str, str] = tomllib.loads((_FOLDER / f"{name}.toml").read_text("utf-8"))
    return lists


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


START, END, ANY, GAP = "^", "$", "…", "~"
GAP_WORDS = 3

Slot = frozenset[str]
_ANY, _GAP = Slot({ANY}), Slot({GAP})


class WordList:
    """Phrases of one kind, found in time that grows with the text alone.

    Written with commas or line ends between them: `a/b c` is two phrases, `do_not/never` has one of
    two words, `…` is any word, `~` are up to three words, `^` and `$` the beginning and the end of
    the text, `.` any punctuation. A text of `framed` tokens has the former, one of
    `tokens_and_marks` the latter. Raises ValueError for a phrase that begins with
    `…` or `~`.
    """

    __slots__ = ("_known",)

    def __init__(self, written: str) -> None:
        self._known: defaultdict[str, list[tuple[Slot, ...]]] = defaultdict(list)
        for phrase in phrases_of(written):
            for first, *others in _patterns(phrase):
                if first & {ANY, GAP}:
                    raise ValueError(f"begins with any word: {phrase}")
                for token in first:
                    self._known[token].append(tuple(others))

    def find(self, text: Sequence[str]) -> Iterator[range]:
        """Where its phrases are in the tokens, in the order of their beginnings."""
        return (range(at, end) for at in range(len(text)) for end in self.ends(text, at))

    def is_in(self, text: Sequence[str]) -> bool:
        """Whether any of its phrases is in the tokens."""
        return next(self.find(text), None) is not None

    def ends(self, text: Sequence[str], start: int) -> Iterator[int]:
        """The token after each of its phrases that begins at this one."""
        for others in self._known.get(text[start], ()):
            yield from _ends(others, text, start + 1)

    def __bool__(self) -> bool:
        return bool(self._known)


class WordParts:
    """Parts of words: `suicid-` is how one begins, `-krebs` how one ends, `-x-` is anywhere."""

    __slots__ = ("_beginnings", "_endings", "_inner")

    def __init__(self, written: str) -> None:
        parts = written.split()
        self._beginnings = _folded(part for part in parts if part[0] != "-" and part[-1] == "-")
        self._endings = _folded(part for part in parts if part[0] == "-" and part[-1] != "-")
        self._inner = _folded(part for part in parts if part[0] == "-" and part[-1] == "-")

    def find(self, text: Sequence[str]) -> Iterator[int]:
        """Where the words are that have one of the parts."""
        joined = " ".join(text)
        beginnings, endings, inner = (
            tuple(part for part in parts if part in joined)
            for parts in (self._beginnings, self._endings, self._inner)
        )
        if not (beginnings or endings or inner):
            return
        for at, word in enumerate(text):
            has_inner = any(part in word for part in inner)
            if has_inner or word.startswith(beginnings) or word.endswith(endings):
                yield at


def phrases_of(written: str) -> list[str]:
    """The phrases of a list as they are written, each with single blanks."""
    found = (" ".join(phrase.split()) for phrase in written.replace("\n", ",").split(","))
    return [phrase for phrase in found if phrase]


def framed(text: list[str]) -> list[str]:
    """The tokens with marks for their beginning and end."""
    return [START, *text, END]


def _ends(slots: Sequence[Slot], text: Sequence[str], at: int) -> Iterator[int]:
    for number, slot in enumerate(slots):
        if slot is _GAP:
            for end in range(at, min(at + GAP_WORDS, len(text)) + 1):
                yield from _ends(slots[number + 1 :], text, end)
            return
        if at >= len(text) or (slot is not _ANY and text[at] not in slot):
            return
        at += 1
    yield at


def _patterns(phrase: str) -> Iterator[list[Slot]]:
    """The tokens at each position; words that are several tokens make patterns of their own."""
    for choice in product(*map(_choices, phrase.split())):
        yield [slot for slots in choice for slot in slots]


@cache  # sets of words are in many phrases, and folding them is most of what reading a list costs
def _choices(written: str) -> list[tuple[Slot, ...]]:
    if written in {ANY, GAP}:
        return [(_ANY if written == ANY else _GAP,)]
    found = [_tokens_of(part) for part in written.split("/")]
    single = Slot(part[0] for part in found if len(part) == 1)
    several = [tuple(Slot({token}) for token in part) for part in found if len(part) > 1]
    return [(single,), *several] if single else several


def _tokens_of(part: str) -> list[str]:
    return [part] if part in {START, END, MARK} else tokens(fold(part.replace("_", " ")))


def _folded(parts: Iterable[str]) -> tuple[str, ...]:
    return tuple(fold(part.strip("-")) for part in parts)
