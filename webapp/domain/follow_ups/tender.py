"""Answers about death, grave illness, violence or self-harm: nobody probes them."""

from collections.abc import Iterator

from webapp.domain.follow_ups.lexicon import Lexicon, lexicons
from webapp.domain.follow_ups.text import fold, tokens
from webapp.domain.follow_ups.word_list import framed


def is_tender(text: str) -> bool:
    """Whether a word of any of the six languages says so, anywhere in the text.

    A tender answer is neither followed up nor sent to a model. Words are all that is looked at:
    what is only hinted at is not recognised. A phone that died is known by an idiom; figures of
    speech that are not known are taken literally, which costs one question.
    """
    found = framed(tokens(fold(text, at_most=len(text))))
    known = lexicons().values()
    grave = [span for lexicon in known for span in _grave(lexicon, found)]
    if not grave:
        return False
    figurative = {at for lexicon in known for span in lexicon.idioms.find(found) for at in span}
    return any(figurative.isdisjoint(span) for span in grave)


def _grave(lexicon: Lexicon, text: list[str]) -> Iterator[range]:
    yield from (range(at, at + 1) for at in lexicon.tender_parts.find(text))
    yield from lexicon.tender.find(text)
