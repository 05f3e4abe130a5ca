"""What is known of one language: the words by which the signs of an answer are told."""

from typing import NamedTuple

from webapp.domain.follow_ups.word_list import WordList, WordParts

_NONE = WordList("")
_NO_PARTS = WordParts("")


class Lexicon(NamedTuple):
    """Word lists of a language.

    non_answers  whole answers, apart from `fillers` at both ends
    flat         those of them that say "none" rather than "I do not know"
    invitations  questions to which "no" says that there is nothing to add
    qualities    vague words that a question may quote, unless one of `negations` is before them
    joiners      begin another part of an answer after a comma, `markers` anywhere
    tender_parts what all forms of a tender word have in common
    idioms       phrases with a word of `tender` that mean nothing of the kind: "bored to death"
    asks_more    parts of a question that ask for more than a fact
    yes_no_starts  beginnings of a question for yes or no; in a language where such questions have
                 none, `interrogatives` are what they do not hold
    """

    non_answers: WordList = _NONE
    flat: WordList = _NONE
    fillers: WordList = _NONE
    yes: WordList = _NONE
    no: WordList = _NONE
    stops: WordList = _NONE
    invitations: WordList = _NONE
    tender: WordList = _NONE
    tender_parts: WordParts = _NO_PARTS
    idioms: WordList = _NONE
    hedges: WordList = _NONE
    qualities: WordList = _NONE
    vague: WordList = _NONE
    negations: WordList = _NONE
    reasons: WordList = _NONE
    examples: WordList = _NONE
    contrasts: WordList = _NONE
    joiners: WordList = _NONE
    markers: WordList = _NONE
    facts: WordList = _NONE
    asks_more: WordList = _NONE
    yes_no_starts: WordList = _NONE
    interrogatives: WordList = _NONE


NO_WORDS = Lexicon()  # of a language that nothing is known about
