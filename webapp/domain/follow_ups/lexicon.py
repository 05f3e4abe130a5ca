"""What is known of one language: the words by which answers and questions are told apart.

They are data, one file a language in `words/`. Its `[sets]` are words that its lists share: `{kin}`
stands for the set of that name. In Arabic, `+` before a word is the word with and without what is
written onto its beginning.
"""

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple, TypedDict, cast

from webapp.domain.follow_ups.languages import PHRASED
from webapp.domain.follow_ups.word_files import load
from webapp.domain.follow_ups.word_list import WordList, WordParts

FOLDER = Path(__file__).parent / "words"
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
    tender       words of grave answers, `tender_parts` what all forms of one have in common
    idioms       phrases with a word of `tender` that mean nothing of the kind: "bored to death"
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
    tender: WordList
    tender_parts: WordParts
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
        say_more=words["say_more"], tender_parts=WordParts(lists["tender_parts"]), **made
    )


def _spelled_out(written: str, sets: dict[str, str]) -> str:
    """With the words of the sets it names. Raises KeyError for a set that is not there."""
    attached = sets.get("attached", "").split("/")
    named = _SET.sub(lambda found: sets[found[1]], written)
    return _ATTACHED.sub(
        lambda found: "/".join([found[1], *(each + found[1] for each in attached)]), named
    )
