"""Signs in an answer by which rules decide, grave ones included."""

import re
from collections.abc import Iterator
from functools import cached_property

from webapp.follow_ups.lexicon import (
    Lexicon,
    asks_for_more,
    asks_yes_or_no,
    gravity,
    lexicons,
    score,
)
from webapp.follow_ups.text import (
    MARK,
    Reading,
    WordList,
    fold,
    framed,
    read,
    tokens,
    tokens_and_marks,
)

SHORT_WORDS = 5
REFUSAL_WORDS = 14  # in longer answers the same words rarely refuse
LIKE_REFUSAL = -0.3  # log-odds
ITEM_WORDS = 4  # of a list within a sentence
BEGINNING_WORDS = 8
MIXED_TOKENS = 4  # "yes and no"
NUMBER_WORDS = 3  # "12 km"

_JUNK_FROM_WORDS = 4
_JUNK_SHARE = 0.34  # of the words are different ones
_JUNK_WORDS = 100  # the longer a text, the more of its words come again
_JUNK_CHARS = 4
_CONSONANTS = re.compile("[bcdfghjklmnpqrstvwxz]{5,}")
_KEYBOARD_RUNS = ("asdf", "sdfg", "dfgh", "qwer", "hjkl", "zxcv", "yxcv")
_IN_NUMBER = re.compile(r"(?<=\d)[.,:/](?=\d)")
_AND_THE = re.compile(r"\bو(?=ال)")  # Arabic writes "and" onto the next word
_ASKS_BACK = ("?", "؟")
_BREAKS = re.compile(r"[;\n•]|(?:^|\s)\(?\d\)")


class Signals:
    """What is found in an answer that is not empty, each sign once it is asked for.

    language  of the question, "" if it is not known
    """

    def __init__(self, question: str, text: str, language: str) -> None:
        self._question, self._language = question, language
        self._answer = read(text)

    @cached_property
    def silent(self) -> bool:
        """It is no answer: "none", "I do not know"."""
        return is_silent(self._answer) and not self._is_choice

    @cached_property
    def unknown(self) -> bool:
        """It says "I do not know"."""
        return is_silent(self._answer) and not _is_one_of(self._answer, "flat")

    @property
    def yes(self) -> bool:
        """It begins so."""
        return self._choice[0] and not self.unknown

    @property
    def no(self) -> bool:
        """It begins so."""
        return self._choice[1] and not self.unknown

    @property
    def short(self) -> bool:
        """A few words."""
        return len(self._answer.units) <= SHORT_WORDS

    @property
    def bare_number(self) -> bool:
        """A number with its unit."""
        few = len(self._answer.units) <= NUMBER_WORDS
        return few and any(map(str.isdigit, self._answer.folded))

    @cached_property
    def several(self) -> bool:
        """It names several things."""
        return _names_several(self._answer.folded)

    @cached_property
    def _choice(self) -> tuple[bool, bool]:
        return _begins_with_yes_or_no(self._answer)

    @property
    def _is_choice(self) -> bool:
        return (self.yes or self.no) and asks_yes_or_no(self._question, self._language)


def is_empty(answer: str) -> bool:
    """Neither a letter nor a digit."""
    return not any(map(str.isalnum, answer))


def is_junk(answer: Reading) -> bool:
    """Keys that were hit at random, or a few words again and again."""
    found = answer.units[:_JUNK_WORDS]
    signs = {sign for word in found for sign in word}
    if len(signs) == 1 and sum(map(len, found)) >= _JUNK_CHARS:
        return True
    if len(found) == 1:
        run = any(keys in found[0] for keys in _KEYBOARD_RUNS)
        return run or bool(_CONSONANTS.fullmatch(found[0]))
    return len(found) >= _JUNK_FROM_WORDS and len(set(found)) / len(found) < _JUNK_SHARE


def refuses(question: str, answer: Reading) -> bool:
    """Whether a short answer asks to stop or asks back, or has nothing to add where that was the
    question.
    """
    if _is_long(answer):
        return False
    if answer.folded.endswith(_ASKS_BACK):
        return True
    known = lexicons().values()
    stops = any(
        lexicon.stops.is_in(framed(form))
        for lexicon in known
        for form in (answer.tokens, _without_fillers(answer.tokens, lexicon))
    )
    return (
        stops
        or score("refusal", answer.folded) > LIKE_REFUSAL
        or (is_silent(answer) and any(asks_for_more(question, lexicon) for lexicon in known))
    )


def is_silent(answer: Reading) -> bool:
    """Whether it says that there is no answer: "none", "I do not know"."""
    return _is_one_of(answer, "non_answers", "flat")


def _is_long(answer: Reading) -> bool:
    """Longer than what refuses, or one word of very many parts."""
    return len(answer.units) > REFUSAL_WORDS or len(answer.tokens) > 2 * REFUSAL_WORDS


def _is_one_of(answer: Reading, *lists: str) -> bool:
    """Whether the answer is made of one of these lists of any language, among fillers or not."""
    if _is_long(answer):
        return False
    return any(
        _is_made_of(answer.tokens, getattr(lexicon, name), lexicon.fillers)
        for lexicon in lexicons().values()
        for name in lists
    )


def _is_made_of(found: list[str], phrases: WordList, fillers: WordList) -> bool:
    """Whether the tokens are one or more phrases of a list, among fillers: "no, sorry, none"."""
    only_fillers, with_phrase = {0}, set[int]()
    for at in range(len(found)):
        if at in only_fillers:
            only_fillers.update(fillers.ends(found, at))
        if at in only_fillers or at in with_phrase:
            with_phrase.update(phrases.ends(found, at))
        if at in with_phrase:
            with_phrase.update(fillers.ends(found, at))
    return len(found) in with_phrase


def _without_fillers(found: list[str], lexicon: Lexicon) -> list[str]:
    """The answer without "sorry", "well" and the like around it."""
    kept = [not any(lexicon.fillers.ends([token], 0)) for token in found]
    if True not in kept:
        return []
    return found[kept.index(True) : len(kept) - kept[::-1].index(True)]


def _begins_with_yes_or_no(answer: Reading) -> tuple[bool, bool]:
    """Both and neither are (False, False)."""
    beginning = tokens_and_marks(answer.folded)[:BEGINNING_WORDS]
    yes = no = False
    for lexicon in lexicons().values():
        for form in (beginning, _without_first_fillers(beginning, lexicon)):
            said, last = framed(form), framed(form[-1:] if len(form) <= MIXED_TOKENS else [])
            yes = yes or lexicon.yes.is_in(said)
            no = no or lexicon.no.is_in(said) or lexicon.no.is_in(last)
    return yes and not no, no and not yes


def _without_first_fillers(found: list[str], lexicon: Lexicon) -> list[str]:
    while found and (found[0] == MARK or any(lexicon.fillers.ends(found[:1], 0))):
        found = found[1:]
    return found


def _names_several(folded: str) -> bool:
    """Whether two parts or more could be items of a list: few words, and no clause.

    Parts between semicolons, bullets and line ends may be longer.
    """
    text = _AND_THE.sub("و ", _IN_NUMBER.sub("", folded))
    if sum(_is_item(tokens(part)) for part in _BREAKS.split(text)) > 1:
        return True
    parts: list[list[str]] = [[]]
    for token in tokens_and_marks(text):
        if token == MARK or _stands_in("joiners", [token]):
            parts.append([])
        else:
            parts[-1].append(token)
    return sum(len(part) <= ITEM_WORDS and _is_item(part) for part in parts) > 1


def _is_item(part: list[str]) -> bool:
    said = framed(part)
    is_other = any(_stands_in(name, said) for name in ("yes", "no", "clauses"))
    fillers = (_is_made_of(part, each.fillers, each.fillers) for each in lexicons().values())
    return bool(part) and not is_other and not any(fillers)


def _stands_in(name: str, found: list[str]) -> bool:
    return any(getattr(lexicon, name).is_in(found) for lexicon in lexicons().values())


# in log-odds, by which one in six figures of speech of an unseen set is taken literally
LIKE_GRAVE = -1.0
PERHAPS_GRAVE = -1.6  # enough where a word of the lists says so


def is_sensitive(text: str) -> bool:
    """Whether it is like grave answers, or a word of any of the six languages says so.

    A sensitive answer is neither followed up nor sent to a model. Figures of speech that are not
    known are taken literally, which costs one question.
    """
    found = gravity(text)
    return found > LIKE_GRAVE or (found > PERHAPS_GRAVE and _has_grave_words(text))


def _has_grave_words(text: str) -> bool:
    found = framed(tokens(fold(text, at_most=len(text))))
    known = lexicons().values()
    grave = [span for lexicon in known for span in _grave(lexicon, found)]
    if not grave:
        return False
    figurative = {at for lexicon in known for span in lexicon.idioms.find(found) for at in span}
    return any(figurative.isdisjoint(span) for span in grave)


def _grave(lexicon: Lexicon, text: list[str]) -> Iterator[range]:
    yield from (range(at, at + 1) for at in lexicon.sensitive_parts.find(text))
    yield from lexicon.sensitive.find(text)
