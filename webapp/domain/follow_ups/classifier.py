"""How much an answer is like a grave one, or like a refusal: logistic regression over its words.

The weights are data, made by `tests/domain/follow_ups/train.py` from the examples beside it, in six
languages. Nothing is understood: what is far from the examples is not recognised.
"""

import math
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from webapp.domain.follow_ups.text import fold, tokens

WORDS_MAX = 40  # of a sentence
SENTENCES_MAX = 60
LETTERS = (4, 5)
NAMES = ("grave", "refusal")
FOLDER = Path(__file__).parent / "weights"

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
    lines = (FOLDER / f"{name}.tsv").read_text("utf-8").splitlines()
    rows = [line.split("\t") for line in lines]
    weights = {feature: int(weight) / 100 for weight, *found in rows for feature in found}
    return weights.pop(""), weights
