"""Where the words of a search stand in a text, so that they can be marked in it."""

import unicodedata
from itertools import chain

from webapp.domain.shared.unicode_normalization import normalized

MATCHES_MAX = 200  # of one text


def comparable(text: str) -> str:
    """Without differences of case and of Unicode spelling."""
    return normalized("NFKC", text).casefold()


def find_matches(text: str, needle: str) -> list[tuple[int, int]]:
    """First and last (excluded) positions of the comparable text `needle`, in order.

    What is spelled over the border of two letters with their marks may be missed.
    """
    if not needle:
        return []
    folded, letters = _folded(text)
    found: list[tuple[int, int]] = []
    at = folded.find(needle)
    while at >= 0 and len(found) < MATCHES_MAX:
        after, done = at + len(needle), found[-1][1] if found else 0
        found.append((max(letters[at][0], done), max(letters[after - 1][1], done)))
        at = folded.find(needle, after)
    return found


def _folded(text: str) -> tuple[str, list[tuple[int, int]]]:
    """The comparable text, and for each of its characters first and last position of its letter."""
    if text.isascii():
        return text.lower(), [(at, at + 1) for at in range(len(text))]
    borders = [at for at, char in enumerate(text) if at and not unicodedata.combining(char)]
    letters = list(zip([0, *borders], [*borders, len(text)], strict=True))
    parts = [comparable(text[start:end]) for start, end in letters]
    places = ([place] * len(part) for place, part in zip(letters, parts, strict=True))
    return "".join(parts), list(chain.from_iterable(places))
