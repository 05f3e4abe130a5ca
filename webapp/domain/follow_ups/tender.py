"""Answers about death, grave illness, violence or self-harm: nobody probes them."""

from functools import cache

from webapp.domain.follow_ups.text import fold, tokens
from webapp.domain.follow_ups.word_list import WordList, framed
from webapp.domain.follow_ups.words import lexicons


def is_tender(text: str) -> bool:
    """Whether a word of any of the six languages says so, anywhere in the text.

    A tender answer is neither followed up nor sent to a model. Words are all that is looked at:
    what is only hinted at is not recognised, and a server that died is taken for a person.
    """
    folded = fold(text, at_most=len(text))
    phrases, stems = _of_all_languages()
    found = tokens(folded)
    held = tuple(stem for stem in stems if stem in folded)
    return phrases.is_in(framed(found)) or (
        bool(held) and any(token.startswith(held) for token in found)
    )


@cache
def _of_all_languages() -> tuple[WordList, tuple[str, ...]]:
    known = lexicons().values()
    stems = (stem for lexicon in known for stem in lexicon.tender_stems)
    return WordList(*(phrase for one in known for phrase in one.tender.phrases)), tuple(stems)
