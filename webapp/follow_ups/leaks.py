"""Detects questions that reveal words found only in the private context.

Both texts are folded and read in several ways, then compared, so that spelling does not hide a
word. A name, number, phrase or disguised word is a leak by itself; other uncommon words are a leak
from the second one that the respondent reads. The search misses paraphrases, translations, hints,
one word per session in several sessions, short words of unspaced scripts, irregular ordinals, Roman
numerals, and codes beyond those of `leak_words`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import pairwise

from webapp.follow_ups import leak_words
from webapp.follow_ups.leak_words import forms, is_common, is_ordinary, prose, spoken_numbers
from webapp.follow_ups.text import UNSPACED_LETTERS, folded, spaced, stripped, word_matches, words

RUN_WORDS = 4
RUN_LETTERS = 12
RUN_UNSPACED = 6  # letters of unspaced scripts
SPELLED_MIN = 3  # single letters in a row
SPLIT_NAME_MIN = 6  # letters of a name sought across words: "in a" is not Ina
JOINED_MAX = 40  # letters of a name
PARTS_MAX = 12  # words into which a name may be split
STEM_MIN = 5  # letters shared by the inflected forms of a name
WORD_MIN = 3  # letters of a word that counts: "tax"
WORD_MIN_UNLISTED = 5  # the same in scripts without a word list
WORD_STEM_MIN = 4
HIDDEN_MIN = 5  # letters of a word sought in disguise
HIDDEN_NAME_MIN = 4
BACKWARDS_MIN = 6
MISSPELT_MIN = 6
DIGITS_MIN = 3  # of a number that is read in reverse
CONSONANTS_MIN = 3
NAMED_ITEMS = 3  # in a list whose names and numbers count as guesses
DUMPED_ITEMS = 9  # in a list whose words all count as guesses
NEW_NUMBERS_MAX = 2  # in a question; more may stand for letters

NUMBER = re.compile("[0-9]+")
VOWELS = re.compile("[aeiou]")
ARABIC = re.compile("[\u0600-\u06ff]")
SENTENCE_END = re.compile("[.!?…。！？\n]")
TITLE_MAX_CHARS = 3  # as in "Dr." and "St.", whose full stop ends no sentence


def leaks(
    question: str, *, context: str, goal: str, shown: str, said: str, before: Mapping[str, str]
) -> bool:
    """Return whether the question reveals parts of the context that the respondent does not know.

    goal    also private, but the usual subject of questions: only its phrases and numbers count
    shown   the text that every respondent reads
    said    the respondent's answers: sentences count as known, lists of guesses do not
    before  earlier questions of the model, each with the answers written by then: repeating a word
            of such a question does not show that the respondent knew it
    """
    read, answers = words(folded(shown)), folded(said)
    asked, private, aims = _Text(question), _Text(context), _Text(goal)
    public = _Text("", read + prose(answers, items=NAMED_ITEMS))
    secrets = _Secrets(private, read + prose(answers, items=DUMPED_ITEMS))
    return (
        any(_has_private_run(asked, text, public) for text in (private, aims))
        or any(_has_private_number(asked, text, public) for text in (private, aims))
        or _has_private_letters(asked, private, public, secrets)
        or _has_code(asked, public)
        or _has_private_name(asked, private, public)
        or secrets.are_hidden_in(asked)
        or _uses_a_second(secrets.used(asked.words), before, private, read)
    )


class _Text:
    """A text in the forms that are compared.

    names        each folded capitalised word, and whether a sentence start may explain the capital
    sure_names   names without words that have a capital only at the beginning of a sentence
    numbers      runs of digits, also if divided by spaces or symbols, or written as words
    """

    def __init__(self, text: str, found: list[str] | None = None) -> None:
        self.raw = text
        self.words = words(folded(text)) if found is None else found
        self.spaced = spaced(self.words)
        self.letters = "".join(self.words)

    @cached_property
    def numbers(self) -> set[str]:
        written = {*NUMBER.findall(self.spaced), *NUMBER.findall(self.letters)}
        return written | spoken_numbers(self.words)

    @cached_property
    def names(self) -> list[tuple[str, bool]]:
        return [*_names(self.raw)]

    @cached_property
    def sure_names(self) -> set[str]:
        return {name for name, begins_sentence in self.names if not begins_sentence} - self.lower

    @cached_property
    def lower(self) -> set[str]:
        """The words without a capital."""
        found = {word for word in words(stripped(self.raw)) if word == word.lower()}
        return set(words(folded(" ".join(found))))


class _Secrets:
    """Words of a context that are neither ordinary nor known."""

    def __init__(self, private: _Text, known: Iterable[str]) -> None:
        self._known = _forms({*known})
        found = {*private.words}
        unlisted = sum(not word.isascii() and not ARABIC.match(word) for word in found)
        self._shortest = WORD_MIN_UNLISTED if 2 * unlisted > len(found) else WORD_MIN
        self._words = {word for word in found if self._counts(word)}
        self._forms = _forms(self._words)
        names = {word for word in private.sure_names if self._is_new(word) and not is_common(word)}
        self._hidden = {word for word in self._words if len(word) >= HIDDEN_MIN}
        self._hidden |= {word for word in names if len(word) >= HIDDEN_NAME_MIN}
        self._misspelt = {each: word for word in self._hidden for each in _misspelt(word)}

    def is_strange(self, word: str) -> bool:
        """Return whether the word is neither ordinary nor known."""
        return self._is_new(word) and not is_ordinary(word)

    def used(self, tokens: Iterable[str]) -> set[str]:
        """Return the secrets among the tokens, each as the stem that its inflected forms share."""
        return {each for word in {*tokens} if self._counts(word) for each in self._meant(word)}

    def _meant(self, word: str) -> set[str]:
        if shared := _forms([word]) & self._forms:
            return {min(shared, key=len)}
        misspelt = _misspelt(word) & self._misspelt.keys()
        return {*self._inside(word), *(self._misspelt[each] for each in misspelt)}

    def are_hidden_in(self, asked: _Text) -> bool:
        """Return whether the text has a secret in pieces, in other letters or in another order."""
        strange = {
            word for word in asked.words if self._counts(word) and not _forms([word]) & self._forms
        }
        return (
            any(not self._hidden.isdisjoint(found) for found in self._readings(asked, strange))
            or self._is_rewritten(strange)
            or not self._words.isdisjoint(_spelled(asked.words))
        )

    def _readings(self, asked: _Text, strange: set[str]) -> Iterator[Iterable[str]]:
        for word in strange:
            yield (word.translate(shift) for shift in leak_words.SHIFTS)
        yield (word[::-1] for word in strange)
        yield (word for text in leak_words.decoded(asked.raw) for word in words(text))
        yield _joined(asked.words)
        capitals = folded("".join(filter(str.isupper, asked.raw)))
        for text in (*("".join(word[at] for word in asked.words) for at in (0, -1)), capitals):
            yield self._inside(text, HIDDEN_NAME_MIN)
        yield self._inside(asked.letters[::-1], BACKWARDS_MIN)

    def _is_rewritten(self, strange: set[str]) -> bool:
        mixed = {"".join(sorted(word)) for word in self._hidden}
        bare = {VOWELS.sub("", word) for word in self._hidden}
        return any(
            any("".join(sorted(each)) in mixed for each in (word, leak_words.SUFFIX.sub("", word)))
            or (len(word) >= CONSONANTS_MIN and word == VOWELS.sub("", word) in bare)
            for word in strange
        )

    def _counts(self, word: str) -> bool:
        return len(word) >= self._shortest and self.is_strange(word)

    def _is_new(self, word: str) -> bool:
        plain = not NUMBER.search(word) and not UNSPACED_LETTERS.search(word)
        return plain and self._known.isdisjoint(_forms([word]))

    def _inside(self, text: str, shortest: int = HIDDEN_MIN) -> Iterator[str]:
        for length in {len(word) for word in self._hidden if len(word) >= shortest}:
            yield from self._hidden.intersection(_runs(text, length))


def _forms(found: Iterable[str]) -> set[str]:
    return {form for word in found for form in forms(word, WORD_STEM_MIN)}


def _runs(text: str, length: int) -> list[str]:
    return [text[at : at + length] for at in range(len(text) - length + 1)]


def _uses_a_second(
    used: set[str], before: Mapping[str, str], private: _Text, read: list[str]
) -> bool:
    """Return whether the question, with earlier ones, uses two or more words of the context."""
    for answers in {*before.values()} if used else ():
        secrets = _Secrets(private, read + prose(folded(answers), items=DUMPED_ITEMS))
        asked = (question for question, by_then in before.items() if by_then == answers)
        used |= secrets.used(words(folded("\n".join(asked))))
    return len(used) > 1


def _has_private_run(asked: _Text, private: _Text, public: _Text) -> bool:
    last = len(asked.words) - RUN_WORDS + 1
    runs = (spaced(asked.words[start : start + RUN_WORDS]) for start in range(last))
    return any(run in private.spaced and run not in public.spaced for run in runs)


def _has_private_letters(asked: _Text, private: _Text, public: _Text, secrets: _Secrets) -> bool:
    """Return whether a run of letters, reversed or with two strange words, is private."""
    strange = {word for word in asked.words if secrets.is_strange(word)}
    word_of_letter = [at for at, word in enumerate(asked.words) for _ in word]
    letters, backwards = asked.letters, asked.letters[::-1]
    runs = {*_runs(backwards, RUN_LETTERS)}
    for text in (letters, backwards):
        runs |= {run for run in _runs(text, RUN_UNSPACED) if UNSPACED_LETTERS.fullmatch(run)}
    for start, run in enumerate(_runs(letters, RUN_LETTERS)):
        first, last = word_of_letter[start], word_of_letter[start + RUN_LETTERS - 1]
        several = sum(word in strange for word in asked.words[first : last + 1]) > 1
        if several or UNSPACED_LETTERS.fullmatch(run):
            runs.add(run)
    return any(run in private.letters and run not in public.letters for run in runs)


def _has_private_number(asked: _Text, private: _Text, public: _Text) -> bool:
    """Return whether a number is private, also if reversed."""
    new = asked.numbers - public.numbers
    new |= {number[::-1] for number in new if len(number) >= DIGITS_MIN}
    return not (private.numbers - public.numbers).isdisjoint(new)


def _has_code(asked: _Text, public: _Text) -> bool:
    mixed = any(_is_coded(word) and f" {word} " not in public.spaced for word in asked.words)
    new = {word for word in asked.words if NUMBER.fullmatch(word)} - public.numbers
    return mixed or len(new) > NEW_NUMBERS_MAX or bool(leak_words.MORSE.search(asked.raw))


def _is_coded(word: str) -> bool:
    """Return whether a word mixes letters and digits: a code, or digits that replace letters."""
    letters = UNSPACED_LETTERS.sub("", word)
    return any(char.isdigit() for char in word) and any(char.isalpha() for char in letters)


def _has_private_name(asked: _Text, private: _Text, public: _Text) -> bool:
    """Return whether a word of the question is a name in the context, in any spelling."""
    names, sure = {name for name, _ in private.names}, private.sure_names
    capitals = {
        name
        for name, begins_sentence in asked.names
        if not (begins_sentence and name in private.lower)
    }
    stems = {form for name in sure for form in forms(name, STEM_MIN)}
    inflected = {word for word in capitals if stems & forms(word, STEM_MIN)}
    # a name joined with a sure name after it: Jean-Luc, Jeanluc
    compounds = {
        one + other for one, other in pairwise(private.words) if one in names and other in sure
    }
    found = capitals & names | (sure | compounds) & {*asked.words} | inflected
    found |= _spelled(asked.words) & names
    return any(f" {word} " not in public.spaced and not is_common(word) for word in found)


def _names(text: str) -> Iterator[tuple[str, bool]]:
    plain = stripped(text)
    before, end = "", 0
    for found in word_matches(plain):
        word, between = found[0], plain[end : found.start()]
        is_title = between == ". " and len(before) <= TITLE_MAX_CHARS and before[:1].isupper()
        begins = not before or (bool(SENTENCE_END.search(between)) and not is_title)
        if len(word) > 1 and word != word.lower():
            has_inner_capital = word[1:] != word[1:].lower()
            yield folded(word), begins and not has_inner_capital
        before, end = word, found.end()


def _misspelt(word: str) -> set[str]:
    """Return lookup keys: words that differ in one letter, or in the order of two, share some."""
    if not MISSPELT_MIN <= len(word) <= JOINED_MAX:
        return set()
    return {word, *(word[:at] + word[at + 1 :] for at in range(len(word)))}


def _spelled(tokens: list[str]) -> set[str]:
    """Return the words that single letters in a row spell."""
    runs = "".join(token if len(token) == 1 else " " for token in tokens).split()
    lengths = range(SPELLED_MIN, JOINED_MAX + 1)
    return {part for run in runs for length in lengths for part in _runs(run, length)}


def _joined(tokens: list[str]) -> set[str]:
    """Return neighbouring words joined into one, unless all of them are common."""
    parts = (
        tokens[start:end]
        for start in range(len(tokens))
        for end in range(start + 2, min(len(tokens), start + PARTS_MAX) + 1)
    )
    together = {"".join(part) for part in parts if not all(map(is_common, part))}
    return {word for word in together if SPLIT_NAME_MIN <= len(word) <= JOINED_MAX}
