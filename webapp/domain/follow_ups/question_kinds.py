"""What a question asks for: a fact, yes or no, or whether there is anything to add."""

import re

from webapp.domain.follow_ups.lexicon import Lexicon
from webapp.domain.follow_ups.text import fold, tokens, tokens_and_marks
from webapp.domain.follow_ups.word_list import START, framed

_MARKS = ("?", "؟")
_BEGINS = re.compile("[.!?؟:] |[\n¿]")


def asks_for_fact(question: str, lexicon: Lexicon) -> bool:
    """Whether it asks for a number, time, place, person or name, and for nothing beyond."""
    folded = fold(question)
    more = lexicon.asks_more.is_in(framed(tokens(folded)))
    last = framed(tokens(_last_sentence(folded)))
    return lexicon.facts.is_in(last) and not more and not lexicon.asks_more.is_in(last)


def asks_yes_or_no(question: str, lexicon: Lexicon) -> bool:
    """Whether it can be answered with yes or no."""
    sentence = _last_sentence(fold(question))
    if lexicon.yes_no_starts:
        return lexicon.yes_no_starts.is_in(framed(tokens(sentence)))
    # a clause after a comma may ask: "In your opinion, what …"
    clauses = [START if item == "," else item for item in tokens_and_marks(sentence)]
    asked = any(mark in question for mark in _MARKS)
    return asked and not lexicon.interrogatives.is_in([START, *clauses])


def asks_for_more(question: str, lexicon: Lexicon) -> bool:
    """Whether it asks if there is anything to add."""
    return lexicon.invitations.is_in(tokens(_last_sentence(fold(question))))


def _last_sentence(folded: str) -> str:
    """The last one with a question mark, else all of it."""
    end = max(map(folded.rfind, _MARKS))
    return _BEGINS.split(folded[:end])[-1] if end >= 0 else folded
