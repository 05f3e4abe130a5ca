"""Words with which questions are asked anywhere: a capital makes none of them a name.

German writes every noun with a capital, so the nouns of interviews are listed. The other words open
questions, or stand for people. Names that are words too (Will, May) are left out."""

import re
from collections.abc import Iterator
from functools import cache

from webapp.domain.follow_ups.languages import frequent_words
from webapp.domain.follow_ups.text_folding import folded
from webapp.domain.follow_ups.word_files import load

ENDING_MAX = 2  # letters in which forms of an ordinary word differ
STEM_MIN = 6  # letters that two of them share,
SHORT_STEM_MIN = 4  # or that one of them has before one of these endings
ENDINGS = frozenset(
    """
    s es ed d ly er r e n en em m t st te a o as os ez ee x
    ة ات ين ون ها ه ك نا ي
    """.split()  # noqa: SIM905
)
_LISTS = load("common")
_WORDS = frozenset(
    token
    for name, words in _LISTS.items()
    if name not in {"german_nouns", "arabic"} and not name.endswith("_talk")
    for token in folded(words).split()
)
_ENDINGS = ("", "e", "n", "en", "s", "es", "er", "ern", "se", "sen")
_NOUNS = frozenset(folded(_LISTS["german_nouns"]).split())


def is_common(word: str) -> bool:
    """Whether the folded word, or the German noun that has this ending, is in the lists."""
    return word in _WORDS or any(
        word.endswith(ending) and word.removesuffix(ending) in _NOUNS for ending in _ENDINGS
    )


def is_ordinary(word: str) -> bool:
    """Whether the folded word is common, or one of any conversation, or an inflected one."""
    ordinary, beginnings = _ordinary()
    return (
        is_common(word)
        or any(form in ordinary for form in _without_endings(word))
        or not beginnings.isdisjoint(forms(word, STEM_MIN, ENDING_MAX))
    )


def _without_endings(word: str) -> Iterator[str]:
    yield word
    bare = _ARTICLE.sub("", word)
    yield bare
    for size in range(1, min(ENDING_MAX, len(bare) - SHORT_STEM_MIN) + 1):
        if bare[-size:] in ENDINGS:
            yield bare[:-size]


@cache
def _ordinary() -> tuple[frozenset[str], frozenset[str]]:
    """The words, and the beginnings of the long ones."""
    talk = " ".join(_LISTS.values())
    frequent = " ".join(word for words in frequent_words().values() for word in words)
    every = frozenset((*folded(f"{talk} {frequent}").split(), *_WORDS, *_NOUNS))
    long = (word for word in every if len(word) >= STEM_MIN)
    return every, frozenset(form for word in long for form in forms(word, STEM_MIN, ENDING_MAX))


def forms(word: str, stem_min: int, ending_max: int = 3) -> set[str]:
    """Beginnings of a folded word; inflected forms of one word share one."""
    bare = _ARTICLE.sub("", word)
    shortest = min(len(bare), max(stem_min, len(bare) - ending_max))
    return {bare[:length] for length in range(shortest, len(bare) + 1)}


# what Arabic writes together with the word after it: and, then, with, as, for, the
_ARTICLE = re.compile(folded("^[وف]?(?:بال|كال|ال|لل)?(?=[ا-ي]{3})"))
