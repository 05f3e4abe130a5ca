"""Answers about death, grave illness, violence or self-harm: nobody probes them."""

from collections.abc import Iterator

from webapp.domain.follow_ups.classifier import gravity
from webapp.domain.follow_ups.lexicon import Lexicon, lexicons
from webapp.domain.follow_ups.text import fold, tokens
from webapp.domain.follow_ups.word_list import framed

# in log-odds, by which one in six figures of speech of an unseen set is taken literally
LIKE_GRAVE = -1.0
PERHAPS_GRAVE = -1.6  # enough where a word of the lists says so


def is_tender(text: str) -> bool:
    """Whether it is like grave answers, or a word of any of the six languages says so.

    A tender answer is neither followed up nor sent to a model. Figures of speech that are not
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
    yield from (range(at, at + 1) for at in lexicon.tender_parts.find(text))
    yield from lexicon.tender.find(text)
