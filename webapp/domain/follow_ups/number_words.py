"""Numbers in words of the six languages that the rules know, ordinals of three, as digits."""

import re
from collections.abc import Iterable, Iterator

from webapp.domain.follow_ups.text_folding import folded
from webapp.domain.follow_ups.word_files import load

COUNTED_MIN = 4  # below, words for numbers are frequent: "one of the two"
WORD_MAX = 60  # letters, "neunhundertneunundneunzigtausend…"
RUN_MAX = 12  # words of one number

_JOINERS = frozenset(folded("and und y et e a و").split())
_VALUES = {
    word: float(line.split()[0])
    for line in load("numbers")["lines"].splitlines()
    for word in folded(line).split()[1:]
}
_ORDINAL = re.compile(r"(?:th|iemes?|s?te[nmrs]?)$")  # English, French and German, where regular
_LONGEST = max(map(len, _VALUES))
_SCALES = {"100", "1000", "1000000", "1000000000"}  # "por cento", "a thousand things"
_SCORE, _HUNDRED, _THOUSAND = 20, 100, 1000


def spoken_numbers(words: Iterable[str]) -> set[str]:
    """The numbers in folded words, from COUNTED_MIN on: each run of number words as their sum
    ("two hundred five") and in a row ("twenty thirty-one").
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
    """Their digits, where a ten takes the one after it: 20, 30, 1 is 2031."""
    read: list[int] = []
    for value in map(int, values):
        is_one = 0 < value < 10 and read and read[-1] >= _SCORE and not read[-1] % 10
        if is_one:
            read[-1] += value
        else:
            read.append(value)
    return "".join(map(str, read))


def _runs(words: Iterable[str]) -> Iterator[list[float]]:
    run: list[float] = []
    for word in words:
        values = _values(word)
        if values and len(run) < RUN_MAX:
            run += values
        elif not (run and word in _JOINERS):
            if run:
                yield run
            run = []
    if run:
        yield run


def _values(word: str) -> list[float]:
    """The values of the parts of a word; [] if one is no number word."""
    if word.isdecimal() and word.isascii() and len(word) < RUN_MAX:
        return [float(word)]
    if word in _VALUES:
        return [_VALUES[word]]
    cardinal = _ORDINAL.sub("", word)
    ordinal = cardinal != word and (_values(cardinal) or _values(f"{cardinal}e"))  # "quatorz-ième"
    if ordinal:
        return ordinal
    found, at = [], 0
    while at < len(word) <= WORD_MAX:
        ends = range(min(len(word), at + _LONGEST), at, -1)
        part = next((word[at:end] for end in ends if _is_part(word[at:end])), "")
        if not part:
            return []
        found += [_VALUES[part]] if part in _VALUES else []
        at += len(part)
    return found


def _is_part(text: str) -> bool:
    return text in _VALUES or text in {"und", "و"}


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
