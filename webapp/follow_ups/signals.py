"""Signs in questions and answers on which the rules decide, including grave content."""

import math
import re
from collections.abc import Iterator
from functools import cache, cached_property
from itertools import dropwhile
from pathlib import Path

from webapp.follow_ups.lexicon import START, Lexicon, WordList, framed, lexicons
from webapp.follow_ups.text import MARK, Reading, fold, read, tokens, tokens_and_marks

SHORT_WORDS = 5
REFUSAL_WORDS = 14  # in longer answers these words rarely refuse
LIKE_REFUSAL = -0.3  # log-odds
ITEM_WORDS = 4  # in an item of a list within a sentence
BEGINNING_WORDS = 8
MIXED_TOKENS = 4  # "yes and no"
NUMBER_WORDS = 3  # "12 km"

_JUNK_FROM_WORDS = 4
_JUNK_SHARE = 0.34  # share of distinct words; below it is junk
_JUNK_WORDS = 100  # longer texts repeat more words
_JUNK_CHARS = 4
_CONSONANTS = re.compile("[bcdfghjklmnpqrstvwxz]{5,}")
_KEYBOARD_RUNS = ("asdf", "sdfg", "dfgh", "qwer", "hjkl", "zxcv", "yxcv")
_IN_NUMBER = re.compile(r"(?<=\d)[.,:/](?=\d)")
_AND_THE = re.compile(r"\bو(?=ال)")  # Arabic writes "and" onto the next word
_MARKS = ("?", "؟")
_BREAKS = re.compile(r"[;\n•]|(?:^|\s)\(?\d\)")


class Signs:
    """Signs of a non-empty answer.

    silent   the answer is a non-answer: "none", "I do not know"; `unknown` is only the latter
    yes, no  the answer begins with yes or no
    short    the answer has few words; `bare_number` is a number with its unit
    several  the answer names several things
    """

    def __init__(self, question: str, text: str, language: str) -> None:
        self._question, self._language = question, language  # language "" if unknown
        self._answer = read(text)
        folded, words = self._answer.folded, len(self._answer.units)
        self.short = words <= SHORT_WORDS
        self.bare_number = words <= NUMBER_WORDS and any(map(str.isdigit, folded))

    @cached_property
    def silent(self) -> bool:
        if not is_silent(self._answer):
            return False
        is_choice = (self.yes or self.no) and asks_yes_or_no(self._question, self._language)
        return not is_choice

    @cached_property
    def unknown(self) -> bool:
        return is_silent(self._answer) and not _is_one_of(self._answer, "flat")

    @property
    def yes(self) -> bool:
        return self._begins == {"yes"} and not self.unknown

    @property
    def no(self) -> bool:
        return self._begins == {"no"} and not self.unknown

    @property
    def several(self) -> bool:
        """Whether two or more parts look like items of a list: few words, and no clause.

        Parts between semicolons, bullets and line ends may be longer.
        """
        text = _AND_THE.sub("و ", _IN_NUMBER.sub("", self._answer.folded))
        if sum(_is_item(tokens(part)) for part in _BREAKS.split(text)) > 1:
            return True
        parts: list[list[str]] = [[]]
        for token in tokens_and_marks(text):
            if token == MARK or _stands_in("joiners", [token]):
                parts.append([])
            else:
                parts[-1].append(token)
        return sum(len(part) <= ITEM_WORDS and _is_item(part) for part in parts) > 1

    @cached_property
    def _begins(self) -> set[str]:
        """The words that the answer begins with: "yes", "no", or both."""
        found, beginning = set(), tokens_and_marks(self._answer.folded)[:BEGINNING_WORDS]
        for lexicon in lexicons().values():
            for form in (beginning, _without_first_fillers(beginning, lexicon)):
                said, last = framed(form), framed(form[-1:] if len(form) <= MIXED_TOKENS else [])
                if lexicon["yes"].is_in(said):
                    found.add("yes")
                if lexicon["no"].is_in(said) or lexicon["no"].is_in(last):
                    found.add("no")
        return found


def is_junk(answer: Reading) -> bool:
    """Return whether the answer is random keys, or a few words repeated."""
    found = answer.units[:_JUNK_WORDS]
    signs = {sign for word in found for sign in word}
    if len(signs) == 1 and sum(map(len, found)) >= _JUNK_CHARS:
        return True
    if len(found) == 1:
        run = any(keys in found[0] for keys in _KEYBOARD_RUNS)
        return run or bool(_CONSONANTS.fullmatch(found[0]))
    return len(found) >= _JUNK_FROM_WORDS and len(set(found)) / len(found) < _JUNK_SHARE


def refuses(question: str, answer: Reading) -> bool:
    """Return whether a short answer asks to stop, asks back, or has nothing more to add."""
    if _is_long(answer):
        return False
    if answer.folded.endswith(_MARKS):
        return True
    known = lexicons().values()
    stops = any(
        lexicon["stops"].is_in(framed(form))
        for lexicon in known
        for form in (answer.tokens, _without_fillers(answer.tokens, lexicon))
    )
    return (
        stops
        or score("refusal", answer.folded) > LIKE_REFUSAL
        or (is_silent(answer) and any(asks_for_more(question, lexicon) for lexicon in known))
    )


def is_silent(answer: Reading) -> bool:
    """Return whether the answer is a non-answer: "none", "I do not know"."""
    return _is_one_of(answer, "non_answers", "flat")


def _is_long(answer: Reading) -> bool:
    """Return whether the answer is too long for a refusal, or one word of very many parts."""
    return len(answer.units) > REFUSAL_WORDS or len(answer.tokens) > 2 * REFUSAL_WORDS


def _is_one_of(answer: Reading, *lists: str) -> bool:
    """Return whether the answer consists of phrases of these lists in any language, and fillers."""
    if _is_long(answer):
        return False
    return any(
        _is_made_of(answer.tokens, lexicon[name], lexicon["fillers"])
        for lexicon in lexicons().values()
        for name in lists
    )


def _is_made_of(found: list[str], phrases: WordList, fillers: WordList) -> bool:
    """Return whether the tokens are phrases of a list, among fillers: "no, sorry, none"."""
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
    """Return the answer without "sorry", "well" and the like at both ends."""
    return _without_first_fillers(_without_first_fillers(found, lexicon)[::-1], lexicon)[::-1]


def _without_first_fillers(found: list[str], lexicon: Lexicon) -> list[str]:
    fillers = lexicon["fillers"]
    return [*dropwhile(lambda item: item == MARK or any(fillers.ends([item], 0)), found)]


def _is_item(part: list[str]) -> bool:
    said = framed(part)
    is_other = any(_stands_in(name, said) for name in ("yes", "no", "clauses"))
    fillers = (_is_made_of(part, each["fillers"], each["fillers"]) for each in lexicons().values())
    return bool(part) and not is_other and not any(fillers)


def _stands_in(name: str, found: list[str]) -> bool:
    return any(lexicon[name].is_in(found) for lexicon in lexicons().values())


LABEL_WORDS = 3  # "Your role", "Name"
_BEGINS = re.compile("[.!?؟:] |[\n¿]")


def leaves_room(question: str, language: str) -> bool:
    """Return whether a question in one of the six languages allows asking for more."""
    lexicon, folded = lexicons()[language], fold(question)
    said = framed(tokens(folded))
    return not (
        lexicon["asks_reason"].is_in(said)
        or lexicon["heard"].is_in(said)
        or _asks_for_fact(folded, lexicon)
        or asks_yes_or_no(question, language)
        or asks_for_more(question, lexicon)
    )


def asks_yes_or_no(question: str, language: str) -> bool:
    """Return whether the question takes yes or no as an answer; False in an unknown language."""
    lexicon = lexicons().get(language)
    if lexicon is None:
        return False
    sentence = _last_sentence(fold(question))
    if "yes_no_starts" in lexicon:
        return lexicon["yes_no_starts"].is_in(framed(tokens(sentence)))
    # a clause after a comma may be the question: "In your opinion, what …"
    clauses = [START if item == MARK else item for item in tokens_and_marks(sentence)]
    asked = any(mark in question for mark in _MARKS)
    return asked and not lexicon["interrogatives"].is_in([START, *clauses])


def asks_for_more(question: str, lexicon: Lexicon) -> bool:
    """Return whether the question asks if there is anything to add."""
    return lexicon["invitations"].is_in(framed(tokens(_last_sentence(fold(question)))))


def _asks_for_fact(folded: str, lexicon: Lexicon) -> bool:
    """Return whether the question asks only for a number, time, place, person or name."""
    every, last = tokens(folded), tokens(_last_sentence(folded))
    if lexicon["asks_more"].is_in(framed(every)) or lexicon["asks_more"].is_in(framed(last)):
        return False
    is_label = len(every) <= LABEL_WORDS and not any(mark in folded for mark in _MARKS)
    return is_label or lexicon["facts"].is_in(framed(last))


def _last_sentence(folded: str) -> str:
    """Return the last sentence with a question mark, or the whole text if there is none."""
    end = max(map(folded.rfind, _MARKS))
    return _BEGINS.split(folded[:end])[-1] if end >= 0 else folded


# in log-odds; takes one in six figures of speech of an unseen set literally
LIKE_GRAVE = -1.0
PERHAPS_GRAVE = -1.6  # enough if the text has a word of the lists


def is_sensitive(text: str) -> bool:
    """Return whether the text is like grave answers, or nearly so and with a grave word in it.

    A sensitive answer gets no follow-up and is not sent to a model. Unknown figures of speech are
    taken literally, at the cost of one question.
    """
    folded = fold(text)
    sentences = [folded, *_SENTENCE_END.split(folded)][:SENTENCES_MAX]
    found = max(score("grave", each) for each in sentences)
    return found > LIKE_GRAVE or (found > PERHAPS_GRAVE and _has_grave_words(text))


def _has_grave_words(text: str) -> bool:
    found = framed(tokens(fold(text, at_most=len(text))))
    known = lexicons().values()
    grave = [span for lexicon in known for span in lexicon["sensitive"].find(found)]
    if not grave:
        return False
    figurative = {at for lexicon in known for span in lexicon["idioms"].find(found) for at in span}
    return any(figurative.isdisjoint(span) for span in grave)


WORDS_MAX = 40  # of a sentence
SENTENCES_MAX = 60
LETTERS = (4, 5)
NAMES = ("grave", "refusal")
WEIGHTS_FOLDER = Path(__file__).parent / "weights"

_SENTENCE_END = re.compile(r"[.!?؟;\n]+")


def score(name: str, folded: str) -> float:
    """Return the log-odds of a folded text, without the prior frequency of such answers."""
    found = set(features(folded))
    if not found:
        return -math.inf
    bias, weights = _model(name)
    return bias + sum(weights.get(each, 0.0) for each in found) / math.sqrt(len(found))


def features(folded: str) -> Iterator[str]:
    """Yield words, word pairs with and without a gap of one, runs of letters, and both ends."""
    words = tokens(folded)[:WORDS_MAX]
    yield from words
    for joined, further in ((" ", words[1:]), (" * ", words[2:])):
        yield from map(joined.join, zip(words, further, strict=False))
    for word in words:
        framed = f"_{word}_"
        for size in LETTERS:
            yield from (f"#{framed[at : at + size]}" for at in range(len(framed) - size + 1))
    if words:
        yield from (f"^{words[0]}", f"{words[-1]}$", f"^{' '.join(words[:2])}")


@cache
def _model(name: str) -> tuple[float, dict[str, float]]:
    """Load the bias and the weight of each feature on first use; a line has a weight in hundredths
    and the features with it.
    """
    lines = (WEIGHTS_FOLDER / f"{name}.tsv").read_text("utf-8").splitlines()
    rows = [line.split("\t") for line in lines]
    weights = {feature: int(weight) / 100 for weight, *found in rows for feature in found}
    return weights.pop(""), weights
