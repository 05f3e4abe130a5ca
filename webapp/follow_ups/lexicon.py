"""Words by language, weights of words, and kinds of questions."""

import math
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple, TypedDict, cast

from webapp.follow_ups.text import (
    MARK,
    START,
    WordList,
    WordParts,
    fold,
    framed,
    load,
    tokens,
    tokens_and_marks,
)
from webapp.records.languages import PHRASED

WORDS_MAX = 40  # of a sentence
SENTENCES_MAX = 60
LETTERS = (4, 5)
NAMES = ("grave", "refusal")
WEIGHTS_FOLDER = Path(__file__).parent / "weights"

_SENTENCE_END = re.compile(r"[.!?؟;\n]+")


def gravity(text: str) -> float:
    """The log-odds of the gravest sentence, or of the whole: death, grave illness, violence, or
    self-harm.
    """
    folded = fold(text)
    sentences = [folded, *_SENTENCE_END.split(folded)][:SENTENCES_MAX]
    return max(score("grave", each) for each in sentences)


def score(name: str, folded: str) -> float:
    """The log-odds of a folded text, without regard to how often such answers come."""
    found = set(features(folded))
    if not found:
        return -math.inf
    bias, weights = _model(name)
    return bias + sum(weights.get(each, 0.0) for each in found) / math.sqrt(len(found))


def features(folded: str) -> Iterator[str]:
    """Words, pairs of words with and without one between them, runs of letters, both ends."""
    words = tokens(folded)[:WORDS_MAX]
    yield from words
    yield from (f"{one} {other}" for one, other in zip(words, words[1:], strict=False))
    yield from (f"{one} * {other}" for one, other in zip(words, words[2:], strict=False))
    for word in words:
        framed = f"_{word}_"
        for size in LETTERS:
            yield from (f"#{framed[at : at + size]}" for at in range(len(framed) - size + 1))
    if words:
        yield from (f"^{words[0]}", f"{words[-1]}$", f"^{' '.join(words[:2])}")


@cache
def _model(name: str) -> tuple[float, dict[str, float]]:
    """The bias and the weight of each feature, hundredths before the features that have them; read
    on the first use.
    """
    lines = (WEIGHTS_FOLDER / f"{name}.tsv").read_text("utf-8").splitlines()
    rows = [line.split("\t") for line in lines]
    weights = {feature: int(weight) / 100 for weight, *found in rows for feature in found}
    return weights.pop(""), weights


WORDS_FOLDER = Path(__file__).parent / "words"
_SET = re.compile(r"\{(\w+)\}")
_ATTACHED = re.compile(r"\+([^\s/,]+)")


class Words(TypedDict):
    """A file of `words/`."""

    say_more: str
    sets: dict[str, str]
    lists: dict[str, str]


class Lexicon(NamedTuple):
    """The words of a language. A list that a file leaves out is empty.

    say_more     the built-in question
    non_answers  whole answers, apart from `fillers` at both ends
    flat         those of them that say "none" rather than "I do not know"
    yes, no      how an answer begins that says so
    stops        say in a short answer that nothing more is to be asked
    joiners      and, or
    clauses      words that begin a clause, so that no item of a list follows
    invitations  questions to which "no" says that there is nothing to add
    heard        questions how somebody came to know the asker
    asks_reason  questions for a reason
    asks_more    parts of a question that ask for more than a fact
    yes_no_starts  beginnings of a question for yes or no; in a language where such questions have
                 none, `interrogatives` are what they do not hold
    sensitive    words of grave answers, `sensitive_parts` what all forms of one have in common
    idioms       phrases with a word of `sensitive` that mean nothing of the kind: "bored to death"
    """

    say_more: str
    non_answers: WordList
    flat: WordList
    fillers: WordList
    yes: WordList
    no: WordList
    stops: WordList
    joiners: WordList
    clauses: WordList
    invitations: WordList
    heard: WordList
    facts: WordList
    asks_reason: WordList
    asks_more: WordList
    yes_no_starts: WordList
    interrogatives: WordList
    sensitive: WordList
    sensitive_parts: WordParts
    idioms: WordList


@cache
def lexicons() -> dict[str, Lexicon]:
    """By language tag; read on the first use, because many processes never need them.

    Raises ValueError for a list or a set that is not known.
    """
    return {tag: _lexicon(read_words(tag)) for tag in PHRASED}


def read_words(tag: str) -> Words:
    """The file of a language."""
    return cast(Words, load(f"words/{tag}"))


def _lexicon(words: Words) -> Lexicon:
    sets = {name: re.sub(r"[\s/]+", "/", text.strip()) for name, text in words["sets"].items()}
    lists = words["lists"]
    if unknown := lists.keys() - Lexicon._fields:
        raise ValueError(f"no such lists: {unknown}")
    made: dict[str, WordList] = {
        name: WordList(_spelled_out(lists.get(name, ""), sets))
        for name, kind in Lexicon.__annotations__.items()
        if kind is WordList
    }
    return Lexicon(
        say_more=words["say_more"], sensitive_parts=WordParts(lists["sensitive_parts"]), **made
    )


def _spelled_out(written: str, sets: dict[str, str]) -> str:
    """With the words of the sets it names. Raises KeyError for a set that is not there."""
    attached = sets.get("attached", "").split("/")
    named = _SET.sub(lambda found: sets[found[1]], written)
    return _ATTACHED.sub(
        lambda found: "/".join([found[1], *(each + found[1] for each in attached)]), named
    )


LABEL_WORDS = 3  # "Your role", "Name"
_MARKS = ("?", "؟")
_BEGINS = re.compile("[.!?؟:] |[\n¿]")


def leaves_room(question: str, language: str) -> bool:
    """Whether somebody who was asked it in one of the six languages may be asked to say more."""
    lexicon, folded = lexicons()[language], fold(question)
    said = framed(tokens(folded))
    return not (
        lexicon.asks_reason.is_in(said)
        or lexicon.heard.is_in(said)
        or _asks_for_fact(folded, lexicon)
        or asks_yes_or_no(question, language)
        or asks_for_more(question, lexicon)
    )


def asks_yes_or_no(question: str, language: str) -> bool:
    """Whether it can be answered with yes or no; False in a language that is not known."""
    lexicon = lexicons().get(language)
    if lexicon is None:
        return False
    sentence = _last_sentence(fold(question))
    if lexicon.yes_no_starts:
        return lexicon.yes_no_starts.is_in(framed(tokens(sentence)))
    # a clause after a comma may ask: "In your opinion, what …"
    clauses = [START if item == MARK else item for item in tokens_and_marks(sentence)]
    asked = any(mark in question for mark in _MARKS)
    return asked and not lexicon.interrogatives.is_in([START, *clauses])


def asks_for_more(question: str, lexicon: Lexicon) -> bool:
    """Whether it asks if there is anything to add."""
    return lexicon.invitations.is_in(framed(tokens(_last_sentence(fold(question)))))


def _asks_for_fact(folded: str, lexicon: Lexicon) -> bool:
    """Whether it asks for a number, time, place, person or name, and for nothing beyond."""
    every, last = tokens(folded), tokens(_last_sentence(folded))
    if lexicon.asks_more.is_in(framed(every)) or lexicon.asks_more.is_in(framed(last)):
        return False
    is_label = len(every) <= LABEL_WORDS and not any(mark in folded for mark in _MARKS)
    return is_label or lexicon.facts.is_in(framed(last))


def _last_sentence(folded: str) -> str:
    """The last one with a question mark, else all of it."""
    end = max(map(folded.rfind, _MARKS))
    return _BEGINS.split(folded[:end])[-1] if end >= 0 else folded
