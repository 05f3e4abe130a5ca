"""Common words, numbers, codes and prose, for the detection of leaks."""

import base64
import re
from binascii import Error
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import pairwise

from webapp.follow_ups.lexicon import load
from webapp.follow_ups.text import UNSPACED_LETTERS, folded, words
from webapp.records.languages import frequent_words

ENDING_MAX = 2  # letters of difference between forms of an ordinary word
STEM_MIN = 6  # letters that two forms share,
SHORT_STEM_MIN = 4  # or that a form has before one of these endings
ENDINGS = frozenset(
    """
    s es ed d ly er r e n en em m t st te a o as os ez ee x
    ة ات ين ون ها ه ك نا ي
    """.split()  # noqa: SIM905
)
_LISTS = {
    name: frozenset(folded(" ".join(lists.values())).split())
    for name, lists in load("common").items()
}
_ENDINGS = ("", "e", "n", "en", "s", "es", "er", "ern", "se", "sen")


def is_common(word: str) -> bool:
    """Return whether the lists have the folded word, or the German noun that it inflects."""
    nouns = _LISTS["german_nouns"]
    return word in _LISTS["common"] or any(
        word.endswith(ending) and word.removesuffix(ending) in nouns for ending in _ENDINGS
    )


def is_ordinary(word: str) -> bool:
    """Return whether the folded word is common, conversational, or an inflected form of either."""
    ordinary, beginnings = _ordinary()
    bare = _ARTICLE.sub("", word)
    sizes = range(1, min(ENDING_MAX, len(bare) - SHORT_STEM_MIN) + 1)
    return (
        is_common(word)
        or not ordinary.isdisjoint({word, bare})
        or any(bare[-size:] in ENDINGS and bare[:-size] in ordinary for size in sizes)
        or not beginnings.isdisjoint(forms(word, STEM_MIN, ENDING_MAX))
    )


@cache
def _ordinary() -> tuple[frozenset[str], frozenset[str]]:
    """Return all ordinary words, and the stems of the long ones."""
    frequent = " ".join(word for words in frequent_words().values() for word in words)
    every = frozenset(folded(frequent).split()).union(*_LISTS.values())
    long = (word for word in every if len(word) >= STEM_MIN)
    return every, frozenset(form for word in long for form in forms(word, STEM_MIN, ENDING_MAX))


def forms(word: str, stem_min: int, ending_max: int = 3) -> set[str]:
    """Return the possible stems of a folded word; inflected forms of one word share a stem."""
    bare = _ARTICLE.sub("", word)
    shortest = min(len(bare), max(stem_min, len(bare) - ending_max))
    return {bare[:length] for length in range(shortest, len(bare) + 1)}


# Arabic prefixes: and, then, with, as, for, the
_ARTICLE = re.compile(folded("^[وف]?(?:بال|كال|ال|لل)?(?=[ا-ي]{3})"))


COUNTED_MIN = 4  # smaller number words are too frequent: "one of the two"
WORD_MAX = 60  # letters, "neunhundertneunundneunzigtausend…"
RUN_MAX = 12  # words in one number

_JOINERS = frozenset(folded("and und y et e a و").split())
_VALUES = {
    word: float(line.split()[0])
    for line in load("number_words")["lines"].splitlines()
    for word in folded(line).split()[1:]
}
_WITHIN = {"und", "و"}  # inside one word
_ORDINAL = re.compile(r"(?:th|iemes?|s?te[nmrs]?)$")  # regular ones in English, French and German
_LONGEST = max(map(len, _VALUES))
_SCALES = {"100", "1000", "1000000", "1000000000"}  # "por cento", "a thousand things"
_SCORE, _HUNDRED, _THOUSAND = 20, 100, 1000


def spoken_numbers(words: Iterable[str]) -> set[str]:
    """Return the numbers from COUNTED_MIN on in folded words: each run of number words as its sum
    ("two hundred five") and as joined digits ("twenty thirty-one").
    """
    found: set[str] = set()
    for values in _runs(words):
        total = _total(values)
        if total >= COUNTED_MIN and total == int(total):
            found.add(str(int(total)))
        if len(values) > 1 and all(value < _HUNDRED and value == int(value) for value in values):
            found.add(_in_a_row(values))
    return found - _SCALES


def _in_a_row(values: list[float]) -> str:
    """Join the digits of the values; tens absorb a following unit: 20, 30, 1 is 2031."""
    read: list[int] = []
    for value in map(int, values):
        is_one = 0 < value < 10 and read and read[-1] >= _SCORE and not read[-1] % 10
        read.append(read.pop() + value if is_one else value)
    return "".join(map(str, read))


def _runs(words: Iterable[str]) -> Iterator[list[float]]:
    run: list[float] = []
    for word in (*words, ""):
        values = _values(word)
        if values and len(run) < RUN_MAX:
            run += values
        elif run and word not in _JOINERS:
            yield run
            run = []


def _values(word: str) -> list[float]:
    """Return the values of the parts of a word; [] if a part is not a number word."""
    if word.isdecimal() and word.isascii() and len(word) < RUN_MAX:
        return [float(word)]
    if word in _VALUES:
        return [_VALUES[word]]
    cardinal = _ORDINAL.sub("", word)
    ordinal = cardinal != word and (_values(cardinal) or _values(f"{cardinal}e"))  # "quatorz-ième"
    if ordinal:
        return ordinal
    found, rest = [], word if len(word) <= WORD_MAX else ""
    while rest:
        beginnings = (rest[:end] for end in range(_LONGEST, 0, -1))
        part = next((each for each in beginnings if each in _VALUES or each in _WITHIN), "")
        if not part:
            return []
        found += [_VALUES[part]] if part in _VALUES else []
        rest = rest.removeprefix(part)
    return found


def _total(values: list[float]) -> float:
    total, current, before = 0.0, 0.0, 0.0
    for value in values:
        if value >= _THOUSAND:
            total, current = total + (current or 1) * value, 0
        elif value < 1 and before >= _THOUSAND:  # "a million and a quarter"
            total += value * before
        elif value == _HUNDRED:
            current = (current or 1) * value
        elif value in {_SCORE, 4 * _SCORE} and before == 4:  # "quatre-vingt"
            current += 4 * _SCORE - 4
        else:
            current += value
        before = value
    return total + current


LETTERS = "abcdefghijklmnopqrstuvwxyz"
SHIFTS = [  # each Caesar cipher, and Atbash
    str.maketrans(LETTERS, alphabet)
    for alphabet in (LETTERS[::-1], *(LETTERS[by:] + LETTERS[:by] for by in range(1, 26)))
]
SUFFIX = re.compile("(?:way|yay|ay)$")  # of Pig Latin
CODED = re.compile("[A-Za-z0-9+/=]{6,}")
# groups of dots and dashes, as in Morse code
MORSE = re.compile(r"(?:(?:^|[\s/|])[.·•‧\-‐-―−]{1,6}(?=[\s/|]|$)){3,}")  # noqa: RUF001


def decoded(text: str) -> Iterator[str]:
    """Yield the folded plain text of words in hexadecimal, Base32 and Base64."""
    for found in CODED.findall(text):
        for decode in _DECODERS:
            try:
                yield folded(decode(found).decode())
            except (ValueError, Error):
                continue


_DECODERS: tuple[Callable[[str], bytes], ...] = (
    bytes.fromhex,
    lambda word: base64.b32decode(word.rstrip("=").upper() + "=" * (-len(word.rstrip("=")) % 8)),
    lambda word: base64.b64decode(word.rstrip("=") + "=" * (-len(word.rstrip("=")) % 4)),
)


ITEM_WORDS = 3
ROW_MIN = 4  # words in a row without a sentence
BREAK = re.compile(
    r"[;:!?؟…|/•·()\[\]\n\r\t،؛。、，！？]+|[.,]+(?!\d)|(?<!\d)[.,]+|\s[-–—]+\s"  # noqa: RUF001
    r"|\b(?:and|or|und|oder|y|o|ni|et|ou|e|nor|و|أو|او)\b"
)


def prose(text: str, *, items: int) -> list[str]:
    """Return the words of a folded text outside lists of `items` or more items.

    An item is a short piece without an ordinary word, a piece that repeats half of a neighbour, or
    one of several words in a row that are not ordinary.
    """
    pieces = [piece for piece in BREAK.split(text) if words(piece)]
    ordinary = {word for word in set(words(text)) if is_ordinary(word)}
    listed = _listed([words(piece) for piece in pieces], items, ordinary)
    sentences = [piece for piece, is_listed in zip(pieces, listed, strict=True) if not is_listed]
    return [
        word
        for sentence in sentences
        for word in _without_rows(sentence, max(items, ROW_MIN), ordinary)
    ]


def _listed(pieces: list[list[str]], items: int, ordinary: set[str]) -> list[bool]:
    """Mark each piece that is part of a list, or short and next to one."""
    alike = [
        2 * len({*one} & {*other}) >= max(len({*one}), len({*other}))
        for one, other in pairwise(pieces)
    ]
    repeats = [before or after for before, after in pairwise([False, *alike, False])]
    sizes = [sum(map(_size, piece)) for piece in pieces]
    listed = [
        repeated or (size <= ITEM_WORDS and ordinary.isdisjoint(piece))
        for piece, size, repeated in zip(pieces, sizes, repeats, strict=False)
    ]
    found = [False] * len(pieces)
    for start, end in _stretches(listed):
        first = start - 1 if start and len(pieces[start - 1]) <= 2 * ITEM_WORDS else start
        last = end + 1 if end < len(pieces) and len(pieces[end]) <= 2 * ITEM_WORDS else end
        if end > start + 1 and last - first >= items:
            found[first:last] = [True] * (last - first)
    return found


def _size(word: str) -> int:
    """Return the length in words; two letters of an unspaced script count as one."""
    return len(word) // 2 or 1 if UNSPACED_LETTERS.search(word) else 1


def _stretches(marks: list[bool]) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each run of set marks."""
    edges = [at for at, (one, other) in enumerate(pairwise([False, *marks, False])) if one != other]
    return zip(edges[::2], edges[1::2], strict=True)


def _without_rows(sentence: str, row_min: int, ordinary: set[str]) -> Iterator[str]:
    """Yield the words outside rows of uncommon words; 1.250.000 counts as one word."""
    chunks = [words(chunk) for chunk in sentence.split()]
    marks = [
        not any(word in ordinary or UNSPACED_LETTERS.search(word) for word in chunk)
        for chunk in chunks
    ]
    for start, end in _stretches(marks):
        if end - start >= row_min:
            chunks[start:end] = [[]] * (end - start)
    for chunk in chunks:
        yield from chunk
