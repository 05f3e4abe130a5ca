"""The language of a text: one of six that there are phrases in, or none of them."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache

from webapp.domain.content.model import QuestionRow
from webapp.domain.shared.unicode_normalization import normalized

PHRASED = ("en", "es", "de", "fr", "pt-BR", "ar")
OTHER = "und"  # BCP 47: undetermined; a language, but none of those that are known here

_BY_PRIMARY = {tag.partition("-")[0]: tag for tag in PHRASED}
_QUESTION_CHARS = 500
_TEXT_CHARS = 5000
_WORD = re.compile(r"\w+")
_LATIN = re.compile("[a-z\u00df-\u024f\u1e00-\u1eff]")
_ARABIC = re.compile("[\u0621-\u063a\u0641-\u064a]")
# Persian, Urdu, Kurdish, Pashto and others: letters that Arabic does not have
_ARABIC_OF_OTHERS = re.compile("[\u0671-\u06d5\u06ee-\u06ff\u0750-\u077f]")
_OTHERS_SHARE = 0.03  # of the letters: a loanword of an Arabic text stays below
_ENOUGH_SHARE = 0.2  # of the words, where a single one is known
_FEW_WORDS = 3
FORMS_KEPT = 64


def language_of(tag: str, questions: Iterable[str]) -> str:
    """The language to ask in: of the form's tag, else of its questions; "" without phrases."""
    if tag:
        return _BY_PRIMARY.get(tag.replace("_", "-").partition("-")[0].lower(), "")
    found = recognise("\n".join(question[:_QUESTION_CHARS] for question in questions))
    return found if found in PHRASED else ""


@lru_cache(maxsize=FORMS_KEPT)
def language_of_form(*questions: str) -> str:
    """The language to ask in after the questions of a form; "" without phrases.

    Kept for the forms asked for last: recognised anew, it takes a third of a decision by the rules.
    """
    return language_of("", questions)


def has_phrases(questions: Iterable[QuestionRow]) -> bool:
    """True if the rules can ask in the language of these questions."""
    return bool(language_of_form(*(question["text"] for question in questions)))


def most_asked(most: int, questions: Sequence[QuestionRow], *, writer: str) -> int:
    """How many of at most `most` questions there really may be; only the scripted ones where the
    rules write (`writer` "") and have no phrases.
    """
    can_ask = most > len(questions) and (writer or has_phrases(questions))
    return most if can_ask else len(questions)


def recognise(text: str) -> str:
    """The tag of the language of a text, OTHER if it is none of those known, "" if it may be any.

    By script, frequent words and telling letters: reliable for sentences, not for single nouns.
    """
    plain = normalized("NFKC", text[:_TEXT_CHARS])[:_TEXT_CHARS].lower()
    latin, arabic = len(_LATIN.findall(plain)), len(_ARABIC.findall(plain))
    others = len(_ARABIC_OF_OTHERS.findall(plain))
    letters = sum(map(str.isalpha, plain))
    if 2 * (arabic + others) > letters:
        return "ar" if others < _OTHERS_SHARE * letters else OTHER
    if 2 * latin > letters:
        return _of_latin(plain)
    return OTHER if letters else ""


def _of_latin(plain: str) -> str:
    words = _WORD.findall(plain)
    frequent, telling = _known()
    hits = Counter(tag for word in words for tag in frequent.get(word, ()))
    hits.update(tag for letter in set(plain) for tag in telling.get(letter, ()))
    (best, most), (_, second) = [*hits.most_common(2), ("", 0), ("", 0)][:2]
    enough = most > 1 or len(words) <= _FEW_WORDS or most > _ENOUGH_SHARE * len(words)
    return best if enough and most > second else ""


@cache
def _known() -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """The languages of each frequent word and of each telling letter; read on the first use."""
    from webapp.domain.follow_ups.frequent_words import FREQUENT_WORDS, TELLING_LETTERS

    return _turned(FREQUENT_WORDS), _turned(TELLING_LETTERS)


def _turned(of_languages: dict[str, frozenset[str]]) -> dict[str, list[str]]:
    languages: defaultdict[str, list[str]] = defaultdict(list)
    for tag, items in of_languages.items():
        for item in items:
            languages[item].append(tag)
    return dict(languages)
