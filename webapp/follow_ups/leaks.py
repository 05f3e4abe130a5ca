"""Whether a question gives away words that only the private context has.

Both texts are folded and read in several ways, then compared, so spelling does not hide a word. A
name, a number, a phrase or a word in disguise is a leak by itself, any other word that is not
ordinary from the second one on that a respondent gets to read. What this cannot see: a paraphrase
or a translation, a hint, one such word in each of several sessions, shorter words of scripts that
do not space them, irregular ordinals, Roman numerals, and codes beyond those of `codings`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

from webapp.follow_ups import leak_words
from webapp.follow_ups.leak_words import forms, is_common, is_ordinary, prose, spoken_numbers
from webapp.follow_ups.text_folding import (
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
WORD_MIN = 3  # letters of a word that counts: "tax"
WORD_MIN_UNLISTED = 5  # the same in scripts without a list of ordinary words
WORD_STEM_MIN = 4
HIDDEN_MIN = 5  # letters of a word that is looked for in disguise
HIDDEN_NAME_MIN = 4
BACKWARDS_MIN = 6
MISSPELT_MIN = 6
DIGITS_MIN = 3  # of a number that is read backwards
CONSONANTS_MIN = 3
NAMED_ITEMS = 3  # of a list, so that its names and numbers are guesses
DUMPED_ITEMS = 9  # so that all its words are
NEW_NUMBERS_MAX = 2  # in a question; more may stand for letters

NUMBER = re.compile("[0-9]+")
ARABIC = re.compile("[\u0600-\u06ff]")
SENTENCE_END = re.compile("[.!?…。！？\n]")
TITLE_MAX_CHARS = 3  # of "Dr." and "St.", whose full stop ends no sentence


class Leak(StrEnum):
    """What was found in the question."""

    WORDS = "words"
    LETTERS = "letters"
    NUMBER = "number"
    CODE = "code"
    NAME = "name"
    WORD = "word"


class Text:
    """A text, and what of it is compared."""

    def __init__(self, text: str, found: list[str] | None = None) -> None:
        self.raw = text
        self.words = words(folded(text)) if found is None else found

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
        """Each run of digits, also divided by spaces, punctuation or pictures, or in words."""
        written = {*NUMBER.findall(self.spaced), *NUMBER.findall(self.letters)}
        return written | spoken_numbers(self.words)

    @cached_property
    def names(self) -> tuple["Name", ...]:
        return tuple(_names(self.raw))

    @cached_property
    def sure_names(self) -> set[str]:
        """Names without words that have a capital only at the beginning of a sentence."""
        return {each.word for each in self.names if not each.begins_sentence} - self.lower_words

    @cached_property
    def lower_words(self) -> set[str]:
        lower = {word for word in words(stripped(self.raw)) if word == word.lower()}
        return set(words(folded(" ".join(lower))))


class Secrets:
    """Words of a context that are neither ordinary nor known."""

    def __init__(self, private: Text, known: Iterable[str]) -> None:
        self._known = {form for word in {*known} for form in forms(word, WORD_STEM_MIN)}
        found = {*private.words}
        unlisted = sum(not word.isascii() and not ARABIC.match(word) for word in found)
        self._shortest = WORD_MIN_UNLISTED if 2 * unlisted > len(found) else WORD_MIN
        self._words = {word for word in found if self._counts(word)}
        self._forms = {form for word in self._words for form in forms(word, WORD_STEM_MIN)}
        names = {word for word in private.sure_names if self._is_new(word) and not is_common(word)}
        self._hidden = {word for word in self._words if len(word) >= HIDDEN_MIN}
        self._hidden |= {word for word in names if len(word) >= HIDDEN_NAME_MIN}
        self._misspelt = {each: word for word in self._hidden for each in _misspelt(word)}

    def used(self, tokens: Iterable[str]) -> set[str]:
        """The secrets among the tokens, each as the beginning that its inflected forms share."""
        return {each for word in {*tokens} if self._counts(word) for each in self._meant(word)}

    def _meant(self, word: str) -> set[str]:
        if shared := forms(word, WORD_STEM_MIN) & self._forms:
            return {min(shared, key=len)}
        misspelt = _misspelt(word) & self._misspelt.keys()
        return {*self._inside(word), *(self._misspelt[each] for each in misspelt)}

    def are_hidden_in(self, asked: Text) -> bool:
        """Whether one is in the text in pieces, in other letters or in another order."""
        strange = {word for word in asked.words if self._counts(word)}
        plain = {word for word in strange if forms(word, WORD_STEM_MIN) & self._forms}
        return (
            any(
                not self._hidden.isdisjoint(found)
                for found in (
                    (each for word in strange - plain for each in leak_words.shifted(word)),
                    (word[::-1] for word in strange - plain),
                    (word for text in leak_words.decoded(asked.raw) for word in words(text)),
                    _joined(asked.words),
                    self._across(asked),
                )
            )
            or self._is_rewritten(strange - plain)
            or not self._words.isdisjoint(_spelled(asked.words))
        )

    def is_strange(self, word: str) -> bool:
        """Whether it is neither ordinary nor known."""
        return self._is_new(word) and not is_ordinary(word)

    def _counts(self, word: str) -> bool:
        return len(word) >= self._shortest and self.is_strange(word)

    def _is_new(self, word: str) -> bool:
        plain = not NUMBER.search(word) and not UNSPACED_LETTERS.search(word)
        return plain and self._known.isdisjoint(forms(word, WORD_STEM_MIN))

    def _inside(self, text: str, shortest: int = HIDDEN_MIN) -> Iterator[str]:
        lengths = {len(word) for word in self._hidden if len(word) >= shortest}
        for length in lengths:
            for start in range(len(text) - length + 1):
                if text[start : start + length] in self._hidden:
                    yield text[start : start + length]

    def _across(self, asked: Text) -> Iterator[str]:
        for text in leak_words.read_across(asked.raw, asked.words):
            yield from self._inside(text, HIDDEN_NAME_MIN)
        yield from self._inside(asked.letters[::-1], BACKWARDS_MIN)

    def _is_rewritten(self, strange: set[str]) -> bool:
        mixed = {"".join(sorted(word)) for word in self._hidden}
        bare = {leak_words.without_vowels(word) for word in self._hidden}
        return any(
            not mixed.isdisjoint(leak_words.letters_of(word))
            or (len(word) >= CONSONANTS_MIN and word == leak_words.without_vowels(word) in bare)
            for word in strange
        )


class Name(NamedTuple):
    """A folded word that had a capital, and whether the sentence alone may have given it that."""

    word: str
    begins_sentence: bool


def leak(
    question: str,
    *,
    context: str,
    goal: str = "",
    shown: Iterable[str] = (),
    said: Iterable[str] = (),
    before: Mapping[str, str] | None = None,
) -> Leak | None:
    """What the question takes from the context that the respondent does not know.

    goal    private, too, but most questions are about it: its phrases and numbers count alone
    shown   what every respondent reads
    said    what this one wrote: its sentences count, its lists of guesses do not
    before  what a model asked this one before, each with what this one had written by then: who
            repeats a word of a question did not know it
    """
    read, answers = words(folded("\n".join(shown))), folded("\n".join(said))
    asked, private = Text(question), Text(context)
    public = Text("", read + prose(answers, items=NAMED_ITEMS))
    hidden = private, Text(goal)
    if any(_has_private_run(asked, each, public) for each in hidden):
        return Leak.WORDS
    secrets = Secrets(private, read + prose(answers, items=DUMPED_ITEMS))
    if _has_private_letters(asked, private, public, secrets):
        return Leak.LETTERS
    if any(_has_private_number(asked, each, public) for each in hidden):
        return Leak.NUMBER
    if _has_code(asked, public):
        return Leak.CODE
    if _has_private_name(asked, private, public):
        return Leak.NAME
    if secrets.are_hidden_in(asked):
        return Leak.CODE
    used = secrets.used(asked.words)
    is_second = used and len(used.union(*_given_before(before or {}, private, read))) > 1
    return Leak.WORD if is_second else None


def _given_before(before: Mapping[str, str], private: Text, read: list[str]) -> Iterator[set[str]]:
    for answers in {*before.values()}:
        secrets = Secrets(private, read + prose(folded(answers), items=DUMPED_ITEMS))
        asked = (question for question, by_then in before.items() if by_then == answers)
        yield secrets.used(words(folded("\n".join(asked))))


def _has_private_run(asked: Text, private: Text, public: Text) -> bool:
    last = len(asked.words) - RUN_WORDS + 1
    runs = (spaced(asked.words[start : start + RUN_WORDS]) for start in range(last))
    return any(run in private.spaced and run not in public.spaced for run in runs)


def _has_private_letters(asked: Text, private: Text, public: Text, secrets: Secrets) -> bool:
    """Whether a run of letters with two strange words, or one read backwards, is private."""
    strange = {word for word in asked.words if secrets.is_strange(word)}
    runs = {
        run
        for start, run in _letter_runs(asked.letters)
        if UNSPACED_LETTERS.fullmatch(run)
        or sum(word in strange for word in asked.words_at(start, start + len(run))) > 1
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


def _has_private_number(asked: Text, private: Text, public: Text) -> bool:
    """Also read backwards."""
    new = asked.numbers - public.numbers
    new |= {number[::-1] for number in new if len(number) >= DIGITS_MIN}
    return not (private.numbers - public.numbers).isdisjoint(new)


def _has_code(asked: Text, public: Text) -> bool:
    mixed = any(_is_coded(word) and f" {word} " not in public.spaced for word in asked.words)
    new = {word for word in asked.words if NUMBER.fullmatch(word)} - public.numbers
    return mixed or len(new) > NEW_NUMBERS_MAX or bool(leak_words.MORSE.search(asked.raw))


def _is_coded(word: str) -> bool:
    """Letters and digits in one word: a code, or digits in place of letters."""
    letters = UNSPACED_LETTERS.sub("", word)
    return any(char.isdigit() for char in word) and any(char.isalpha() for char in letters)


def _has_private_name(asked: Text, private: Text, public: Text) -> bool:
    found = _named(asked, private)
    return any(f" {word} " not in public.spaced and not is_common(word) for word in found)


def _named(asked: Text, private: Text) -> set[str]:
    """Words of the question that are names in the context, however they are spelled."""
    names, sure = {name.word for name in private.names}, private.sure_names
    capitals = {
        name.word
        for name in asked.names
        if not (name.begins_sentence and name.word in private.lower_words)
    }
    stems = {form for name in sure for form in forms(name, STEM_MIN)}
    inflected = {word for word in capitals if stems & forms(word, STEM_MIN)}
    plain = capitals & names | sure & {*asked.words}
    together = _compounds(private.words, names, sure) & {*asked.words}
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


def _misspelt(word: str) -> set[str]:
    """Keys; words that differ in one letter, or in the order of two, share some."""
    if not MISSPELT_MIN <= len(word) <= JOINED_MAX:
        return set()
    return {word, *(word[:at] + word[at + 1 :] for at in range(len(word)))}


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
    """What neighbouring words are together, unless all of them are common."""
    found = (tokens[start:end] for start, end in _stretches(len(tokens)))
    together = {"".join(part) for part in found if not all(map(is_common, part))}
    return {word for word in together if SPLIT_NAME_MIN <= len(word) <= JOINED_MAX}


def _stretches(count: int) -> Iterator[tuple[int, int]]:
    for start in range(count):
        for end in range(start + 2, min(count, start + PARTS_MAX) + 1):
            yield start, end
