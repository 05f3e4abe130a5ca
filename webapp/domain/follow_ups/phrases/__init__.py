"""The words of follow-up questions: several phrasings of each technique, in each language."""

from collections.abc import Collection, Sequence
from functools import cache
from hashlib import blake2b
from typing import NamedTuple

from webapp.domain.follow_ups.thread import Technique


class Phrasings(NamedTuple):
    """What each technique asks; `quoting` asks to specify one vague word of the answer."""

    by_technique: dict[Technique, tuple[str, ...]]
    quoting: tuple[str, ...]


@cache
def phrasings() -> dict[str, Phrasings]:
    """By language tag; read on the first use, because many processes never need them."""
    from webapp.domain.follow_ups.phrases import ar, de, en, es, fr, pt_br

    return {
        language: Phrasings(module.BY_TECHNIQUE, module.QUOTING)
        for language, module in (
            ("en", en),
            ("es", es),
            ("de", de),
            ("fr", fr),
            ("pt-BR", pt_br),
            ("ar", ar),
        )
    }


def phrase(
    language: str, technique: Technique, *, seed: str, word: str = "", asked: Collection[str] = ()
) -> str:
    """A question of this technique, the same for a seed; none of `asked` if there are others.

    word  a vague word of the answer, which a question to specify quotes
    """
    known = phrasings()[language]
    if word and technique is Technique.SPECIFY:
        return _choose(known.quoting, seed, technique, asked).format(word=word)
    return _choose(known.by_technique[technique], seed, technique, asked)


def _choose(choices: Sequence[str], seed: str, technique: Technique, asked: Collection[str]) -> str:
    digest = blake2b(f"{seed} {technique}".encode("utf-8", "replace"), digest_size=4).digest()
    first = int.from_bytes(digest) % len(choices)
    turned = (*choices[first:], *choices[:first])
    return next((choice for choice in turned if choice not in asked), turned[0])
