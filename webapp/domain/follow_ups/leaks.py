"""Whether a question gives away words that only the private context has.

Texts are compared folded, so spelling does not hide a word. What this cannot see: a paraphrase or a
translation, a hint, numbers in words, names in scripts without capitals when they are shorter than
a run, and ciphers (a reversed text is seen).
"""

import re
from collections.abc import Iterable, Iterator
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

from webapp.domain.follow_ups.common_words import is_common
from webapp.domain.follow_ups.text_folding import (
    UNSPACED_LETTERS,
    folded,
    spaced,
    stripped,
    word_matches,
    words,
)

RUN_WORDS = 4
RUN_LETTERS = 12
RUN_UNSPACED = 6  # letters of scripts that do not space words
SPELLED_MIN = 3  # single letters in a row
SPLIT_NAME_MIN = 6  # letters of a name that is looked for across words: "in a" is no Ina
JOINED_MAX = 40  # letters of a name
PARTS_MAX = 12  # words that a name may be divided into
STEM_MIN = 5  # letters that an inflected name shares with its other forms
ENDING_MAX = 3

NUMBER = re.compile("[0-9]+")
SENTENCE_END = re.compile("[.!?…。！？\n]")
TITLE_MAX_CHARS = 3  # of "Dr." and "St.", whose full stop ends no sentence


class Leak(StrEnum):
    """What was found in the question."""

    WORDS = "words"
    LETTERS = "letters"
    NUMBER = "number"
    CODE = "code"
    NAME = "name"


class Text:
    """A text, and what of it is compared."""

    def __init__(self, text: str) -> None:
        self.raw = text

    @cached_property
    def words(self) -> list[str]:
        return words(folded(self.raw))

    @cached_property
    def spaced(self) -> str:
        return spaced(self.words)

    @cached_property
    def letters(self) -> str:
        return "".join(self.words)

    @cached_property
    def _word_of_letter(self) -> list[int]:
        return [at for at, word in enumerate(self.words) for _ in word]

    def words_at(self, start: int, end: int) -> list[str]:
        """The words that have these letters."""
        return self.words[self._word_of_letter[start] : self._word_of_letter[end - 1] + 1]

    @cached_property
    def numbers(self) -> set[str]:
        """Each run of digits, also one that spaces, punctuation or pictures divide."""
        return {*NUMBER.findall(self.spaced), *NUMBER.findall(self.letters)}

    @cached_property
    def names(self) -> tuple["Name", ...]:
        return tuple(_names(self.raw))

    @cached_property
    def lower_words(self) -> set[str]:
        lower = {word for word in words(stripped(self.raw)) if word == word.lower()}
        return set(words(folded(" ".join(lower))))


class Name(NamedTuple):
    """A folded word that had a capital, and whether the sentence alone may have given it that."""

    word: str
    begins_sentence: bool


def leak(question: str, *, context: str, known: Iterable[str]) -> Leak | None:
    """What the question has from the context and not from the texts known to the respondent."""
    asked, private, public = Text(question), Text(context), Text("\n".join(known))
    if _has_private_run(asked, private, public):
        return Leak.WORDS
    if _has_private_letters(asked, private, public):
        return Leak.LETTERS
    if any(number not in public.numbers for number in asked.numbers & private.numbers):
        return Leak.NUMBER
    if any(_is_coded(word) and f" {word} " not in public.spaced for word in asked.words):
        return Leak.CODE
    return Leak.NAME if _has_private_name(asked, private, public) else None


def _has_private_run(asked: Text, private: Text, public: Text) -> bool:
    last = len(asked.words) - RUN_WORDS + 1
    runs = (spaced(asked.words[start : start + RUN_WORDS]) for start in range(last))
    return any(run in private.spaced and run not in public.spaced for run in runs)


def _has_private_letters(asked: Text, private: Text, public: Text) -> bool:
    """Whether a run of letters is private, of words that are not all common, or read backwards."""
    runs = {
        run
        for start, run in _letter_runs(asked.letters)
        if not _are_common(asked.words_at(start, start + len(run)))
    }
    runs |= {run for _, run in _letter_runs(asked.letters[::-1])}
    return any(run in private.letters and run not in public.letters for run in runs)


def _letter_runs(letters: str) -> Iterator[tuple[int, str]]:
    for start in range(len(letters) - RUN_UNSPACED + 1):
        short = letters[start : start + RUN_UNSPACED]
        if UNSPACED_LETTERS.fullmatch(short):
            yield start, short
        if start <= len(letters) - RUN_LETTERS:
            yield start, letters[start : start + RUN_LETTERS]


def _are_common(tokens: list[str]) -> bool:
    """Whether fewer words than make a run are all common: "vor der Entscheidung"."""
    return len(tokens) < RUN_WORDS and all(is_common(word) for word in tokens)


def _is_coded(word: str) -> bool:
    """Letters and digits in one word: a code, or digits that stand for letters."""
    letters = UNSPACED_LETTERS.sub("", word)
    return any(char.isdigit() for char in word) and any(char.isalpha() for char in letters)


def _has_private_name(asked: Text, private: Text, public: Text) -> bool:
    found = _named(asked, private)
    return any(f" {word} " not in public.spaced and not is_common(word) for word in found)


def _named(asked: Text, private: Text) -> set[str]:
    """Words of the question that are names in the context, however they are spelled."""
    names = {name.word for name in private.names}
    # a word that only begins sentences may be any word: it has to look like a name in the question
    sure = {name.word for name in private.names if not name.begins_sentence} - private.lower_words
    capitals = {
        name.word
        for name in asked.names
        if not (name.begins_sentence and name.word in private.lower_words)
    }
    inflected = {word for word in capitals if any(_is_inflected(word, name) for name in sure)}
    plain = capitals & names | sure & {*asked.words}
    together = _joined(asked.words) & sure | _compounds(private.words, names, sure) & {*asked.words}
    return plain | inflected | _spelled(asked.words) & names | together


def _names(text: str) -> Iterator[Name]:
    """Words with a capital, and whether it is no more than the beginning of a sentence."""
    plain = stripped(text)
    before, end = "", 0
    for found in word_matches(plain):
        word, between = found[0], plain[end : found.start()]
        begins = not before or _ends_sentence(before, between)
        if len(word) > 1 and word != word.lower():
            yield Name(folded(word), begins and not _has_inner_capital(word))
        before, end = word, found.end()


def _ends_sentence(before: str, between: str) -> bool:
    is_title = between == ". " and len(before) <= TITLE_MAX_CHARS and before[0].isupper()
    return SENTENCE_END.search(between) is not None and not is_title


def _has_inner_capital(word: str) -> bool:
    return word[1:] != word[1:].lower()


def _is_inflected(word: str, name: str) -> bool:
    """Whether the two share their beginning and differ in an ending: Martin, Martins."""
    shared = next(
        (at for at, (one, other) in enumerate(zip(word, name, strict=False)) if one != other),
        min(len(word), len(name)),
    )
    return shared >= STEM_MIN and max(len(word), len(name)) - shared <= ENDING_MAX


def _compounds(tokens: list[str], names: set[str], sure: set[str]) -> set[str]:
    """What a name and a sure one after it are together: Jean-Luc, Jeanluc."""
    pairs = zip(tokens, tokens[1:], strict=False)
    return {one + other for one, other in pairs if one in names and other in sure}


def _spelled(tokens: list[str]) -> set[str]:
    """What single letters in a row spell."""
    runs = "".join(token if len(token) == 1 else " " for token in tokens).split()
    return {
        run[start:end]
        for run in runs
        for start in range(len(run))
        for end in range(start + SPELLED_MIN, min(len(run), start + JOINED_MAX) + 1)
    }


def _joined(tokens: list[str]) -> set[str]:
    """What neighbouring words are together."""
    found = ("".join(tokens[start:end]) for start, end in _stretches(len(tokens)))
    return {word for word in found if SPLIT_NAME_MIN <= len(word) <= JOINED_MAX}


def _stretches(count: int) -> Iterator[tuple[int, int]]:
    for start in range(count):
        for end in range(start + 2, min(count, start + PARTS_MAX) + 1):
            yield start, end
