"""What a question asks for: a fact, a reason, yes or no, or whether there is anything to add."""

import re

from webapp.domain.follow_ups.lexicon import Lexicon, lexicons
from webapp.domain.follow_ups.text import MARK, fold, tokens, tokens_and_marks
from webapp.domain.follow_ups.word_list import START, framed

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
