"""Recognise the language of a text: one of six with built-in phrases, or another one."""

import re
import tomllib
from collections import Counter
from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path

from sqlalchemy import bindparam, select

from webapp.base.database import read_rows
from webapp.base.text import normalized
from webapp.records.content.model import Content, QuestionRow
from webapp.records.forms import Form, form_of, shared_form

PHRASED = ("en", "es", "de", "fr", "pt-BR", "ar")
OTHER = "und"  # BCP 47: undetermined; here, a language that is not recognised

_BY_PRIMARY = {tag.partition("-")[0]: tag for tag in PHRASED}
_QUESTION_CHARS = 500
_TEXT_CHARS = 5000
_WORD = re.compile(r"\w+")
_LATIN = re.compile("[a-z\u00df-\u024f\u1e00-\u1eff]")
_ARABIC = re.compile("[\u0621-\u063a\u0641-\u064a]")
# Persian, Urdu, Kurdish, Pashto and others: letters that Arabic does not have
_ARABIC_OF_OTHERS = re.compile("[\u0671-\u06d5\u06ee-\u06ff\u0750-\u077f]")
_OTHERS_SHARE = 0.03  # of the letters: loanwords in an Arabic text stay below it
_ENOUGH_SHARE = 0.2  # of the words, if only one word is known
_FEW_WORDS = 3
FORMS_KEPT = 64

_FURTHER = select(
    Form.questions, Form.title, Form.spoken_language, Form.goal, Form.private_context
).where(shared_form(bindparam("share_token")))


def language_of_tag(tag: str) -> str:
    """Return one of PHRASED for a tag, OTHER for another language, "" without a tag."""
    return _BY_PRIMARY.get(tag.replace("_", "-").partition("-")[0].lower(), OTHER) if tag else ""


def language_of_questions(questions: Sequence[QuestionRow]) -> str:
    """Return the language of questions, cached; "" for a single word, such as "Team?"."""
    return _recognised(*(each["text"] for each in questions))


def language_of_content(content: Content) -> str:
    """Return the language of the questions of a draft or a form, or else of its other texts."""
    asked = [each["text"] for each in content.questions]
    hints = [each.get("context", "") for each in content.questions]
    shown = [*asked, content.title, *hints]
    goal, context = content.goal or "", content.private_context or ""
    return (
        language_of_questions(content.questions)
        or _recognised(*shown)
        or language_of_tag(getattr(content, "spoken_language", ""))  # drafts have none
        or _recognised(*shown, goal)
        or _recognised(*shown, goal, context)
    )


def has_phrases(content: Content) -> bool:
    """Return False if the content is in a language that the built-in question does not have."""
    return language_of_content(content) in {"", *PHRASED}


def language_of_shared(share_token: str, questions: Sequence[QuestionRow]) -> str:
    """Return the language of a shared form; read its other texts if the questions leave it open."""
    if found := language_of_questions(questions):
        return found
    forms = read_rows(_FURTHER, share_token=share_token)
    return language_of_content(form_of(forms[0])) if forms else ""


def language_to_ask_in(of_form: str, of_page: str) -> str:
    """Return the language of the form, or else of the page; "" if it is not in PHRASED."""
    found = of_form or language_of_tag(of_page)
    return found if found in PHRASED else ""


@lru_cache(maxsize=FORMS_KEPT)
def _recognised(*texts: str) -> str:
    said = "\n".join(text[:_QUESTION_CHARS] for text in texts)
    return recognise(said) if len(said.split()) > 1 else ""


def recognise(text: str) -> str:
    """Return the language tag of a text, OTHER if it is unknown, "" if it may be any."""
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
def frequent_words() -> dict[str, frozenset[str]]:
    """Return frequent words by language tag, including languages without phrases, whose words
    would otherwise count for another language.
    """
    return {tag: frozenset(words.split()) for tag, words in _frequent()["words"].items()}


def _frequent() -> dict[str, dict[str, str]]:
    return tomllib.loads(Path(__file__).with_name("frequent_words.toml").read_text("utf-8"))


@cache
def _known() -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    letters = {tag: frozenset(letters) for tag, letters in _frequent()["letters"].items()}
    return _turned(frequent_words()), _turned(letters)


def _turned(of_languages: dict[str, frozenset[str]]) -> dict[str, list[str]]:
    every = frozenset[str]().union(*of_languages.values())
    return {item: [tag for tag, items in of_languages.items() if item in items] for item in every}
