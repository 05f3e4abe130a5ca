"""Which words of an answer were used in sentences, and which were only listed."""

import re
from collections.abc import Iterator

from webapp.domain.follow_ups.common_words import is_ordinary
from webapp.domain.follow_ups.text_folding import UNSPACED_LETTERS, words

ITEM_WORDS = 3
ROW_MIN = 4  # words in a row that no sentence holds together
BREAK = re.compile(
    r"[;:!?؟…|/•·()\[\]\n\r\t،؛。、，！？]+|[.,]+(?!\d)|(?<!\d)[.,]+|\s[-–—]+\s"  # noqa: RUF001
    r"|\b(?:and|or|und|oder|y|o|ni|et|ou|e|nor|و|أو|او)\b"
)


def prose(text: str, *, items: int) -> list[str]:
    """The words of a folded text without its lists of `items` or more.

    An item is a short piece without an ordinary word, a piece that repeats half of the one before
    or after it, or one of several words in a row of which none is ordinary.
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
    """For each piece whether it is part of a list, or next to one and short."""
    sets = [set(piece) for piece in pieces]
    alike = [_are_alike(one, other) for one, other in zip(sets, sets[1:], strict=False)]
    listed = [
        bare or before or after
        for bare, before, after in zip(
            (_is_bare(piece, ordinary) for piece in pieces),
            [False, *alike],
            [*alike, False],
            strict=False,
        )
    ]
    found = [False] * len(pieces)
    for start, end in _stretches(listed):
        first = start - 1 if start and len(pieces[start - 1]) <= 2 * ITEM_WORDS else start
        last = end + 1 if end < len(pieces) and len(pieces[end]) <= 2 * ITEM_WORDS else end
        if end > start + 1 and last - first >= items:
            found[first:last] = [True] * (last - first)
    return found


def _stretches(marks: list[bool]) -> Iterator[tuple[int, int]]:
    start = 0
    for at, mark in enumerate([*marks, False]):
        if not mark:
            if at > start:
                yield start, at
            start = at + 1


def _is_bare(piece: list[str], ordinary: set[str]) -> bool:
    return _size(piece) <= ITEM_WORDS and ordinary.isdisjoint(piece)


def _size(piece: list[str]) -> int:
    """In words; two letters of a script that does not space them make one."""
    return sum(len(word) // 2 or 1 if UNSPACED_LETTERS.search(word) else 1 for word in piece)


def _are_alike(one: set[str], other: set[str]) -> bool:
    return 2 * len(one & other) >= max(len(one), len(other))


def _without_rows(sentence: str, row_min: int, ordinary: set[str]) -> Iterator[str]:
    """Without rows of words that are not ordinary; 1.250.000 counts as one word."""
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
