"""The signs of an answer that rules choose a follow-up question by."""

import re
from typing import NamedTuple

from webapp.domain.follow_ups.languages import recognise
from webapp.domain.follow_ups.lexicon import NO_WORDS, Lexicon
from webapp.domain.follow_ups.question_kinds import asks_for_fact, asks_for_more, asks_yes_or_no
from webapp.domain.follow_ups.text import Reading, read, tokens_and_marks
from webapp.domain.follow_ups.word_list import WordList, framed
from webapp.domain.follow_ups.words import lexicons

SHORT_WORDS = 5
REFUSAL_WORDS = 12  # in longer answers the same words rarely refuse
RICH_WORDS = 80
RICH_WITH_BOTH_WORDS = 18  # a reason and an example
VAGUE_WORDS = 40
PLAIN_WORDS = 60  # in longer answers nobody looks for a missing reason or example
EXAMPLE_FROM_WORDS = 6
CONTRAST_FROM_WORDS = 8
PARTS, PART_WORDS = 3, 3

_LANGUAGE_CHARS = 1000
_JUNK_FROM_WORDS = 4
_JUNK_SHARE = 0.34  # of the words are different ones
_JUNK_WORDS = 100  # the longer a text, the more of its words come again
_JUNK_CHARS = 4
_CONSONANTS = re.compile("[bcdfghjklmnpqrstvwxz]{5,}")
_KEYBOARD_RUNS = ("asdf", "sdfg", "dfgh", "qwer", "hjkl", "zxcv", "yxcv")


class Signals(NamedTuple):
    """What was found in an answer that is not empty.

    flat  a non-answer that says "none", not "I do not know"
    word  a vague word of it that a question may quote
    lacks_reason, lacks_example  False as well in a language whose words for them are not known
    """

    word_count: int
    non_answer: bool
    flat: bool
    yes_no: bool
    fact: bool
    hedge: bool
    vague: bool
    word: str
    lacks_reason: bool
    lacks_example: bool
    multiple: bool
    contrast: bool
    rich: bool

    @property
    def short(self) -> bool:
        """A few words, which may still be all there is to say."""
        return self.word_count <= SHORT_WORDS

    @property
    def no_reason(self) -> bool:
        """A reason is missing from a plain answer."""
        return self.lacks_reason and self.word_count <= PLAIN_WORDS

    @property
    def no_example(self) -> bool:
        """An example is missing from a plain answer."""
        return self.lacks_example and EXAMPLE_FROM_WORDS <= self.word_count <= PLAIN_WORDS


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
    """Whether a short answer asks to stop, in any of the six languages."""
    if _is_long(answer):
        return False
    known = lexicons().values()
    stops = any(
        lexicon.stops.is_in(framed(form))
        for lexicon in known
        for form in (answer.tokens, _without_fillers(answer.tokens, lexicon))
    )
    return stops or (
        _is_one_of(answer, "no") and any(asks_for_more(question, one) for one in known)
    )


def is_thin(answer: Reading) -> bool:
    """A few words, or a non-answer."""
    return len(answer.units) <= SHORT_WORDS or _is_one_of(answer, "non_answers")


def signals_of(question: str, text: str, language: str) -> Signals:
    """The signs of an answer to a question in one of the six languages."""
    answer = read(text)
    found, count = answer.tokens, len(answer.units)
    asking, lexicon = lexicons()[language], _lexicon_of(text, count, language)
    yes_no = _is_one_of(answer, "yes", "no") and asks_yes_or_no(question, asking)
    non_answer = not yes_no and _is_one_of(answer, "non_answers")
    hedge = lexicon.hedges.is_in(found)
    reason = lexicon.reasons.is_in(found)
    example = any(map(str.isdigit, answer.folded)) or lexicon.examples.is_in(found)
    return Signals(
        word_count=count,
        non_answer=non_answer,
        flat=non_answer and _is_one_of(answer, "flat"),
        yes_no=yes_no,
        fact=not non_answer and not hedge and asks_for_fact(question, asking),
        hedge=hedge,
        vague=not example and count <= VAGUE_WORDS and _is_vague(found, lexicon),
        word=_quotable(found, lexicon) if lexicon is asking else "",
        lacks_reason=not reason and bool(lexicon.reasons),
        lacks_example=not example and bool(lexicon.examples),
        multiple=_parts(answer.folded, lexicon) >= PARTS,
        contrast=count >= CONTRAST_FROM_WORDS and lexicon.contrasts.is_in(found),
        rich=count >= RICH_WORDS or (reason and example and count >= RICH_WITH_BOTH_WORDS),
    )


def _lexicon_of(answer: str, count: int, language: str) -> Lexicon:
    """The words of the answer's own language, which may be another one than the question's."""
    found = recognise(answer[:_LANGUAGE_CHARS]) if count > SHORT_WORDS else ""
    return lexicons().get(found or language, NO_WORDS)


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


def _is_vague(found: list[str], lexicon: Lexicon) -> bool:
    return lexicon.qualities.is_in(found) or lexicon.vague.is_in(found)


def _quotable(found: list[str], lexicon: Lexicon) -> str:
    """The first word that says how something is, unless it says how something is not."""
    qualities = lexicon.qualities.find(found)
    said = (
        at
        for at in qualities
        if not lexicon.negations.is_in(found[max(0, at.start - 2) : at.start])
    )
    first = next(said, None)
    return first.phrase if first else ""


def _parts(folded: str, lexicon: Lexicon) -> int:
    """How many parts of at least three words stand between semicolons, line ends, and the like."""
    stream = tokens_and_marks(folded)
    breaks = {at for item in lexicon.markers.find(stream) for at in range(item.start, item.end)}
    breaks |= {
        item.start
        for item in lexicon.joiners.find(stream)
        if stream[item.start - 1 : item.start] == [","]
    }
    sizes = [0]
    for at, item in enumerate(stream):
        if at in breaks or item in ";\n":
            sizes.append(0)
        else:
            sizes[-1] += item != ","
    return sum(size >= PART_WORDS for size in sizes)
