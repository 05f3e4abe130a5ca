"""The words by which the signs of an answer are told, language by language."""

from functools import cache

from webapp.domain.follow_ups.lexicon import Lexicon


@cache
def lexicons() -> dict[str, Lexicon]:
    """By language tag; read on the first use, because many processes never need them."""
    from webapp.domain.follow_ups.words import ar, de, en, es, fr, pt_br

    return {
        "en": en.LEXICON,
        "es": es.LEXICON,
        "de": de.LEXICON,
        "fr": fr.LEXICON,
        "pt-BR": pt_br.LEXICON,
        "ar": ar.LEXICON,
    }
