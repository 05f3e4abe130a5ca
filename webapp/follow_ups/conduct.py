"""Checks on a model's question: forbidden subjects, form, and whether it is one question."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache

from webapp.base.text import JOINERS, normalized
from webapp.follow_ups.lexicon import WordList, framed, load
from webapp.follow_ups.text import fold, tokens
from webapp.records.languages import PHRASED

PLAIN = {"Lu", "Ll", "Lt", "Lo", "Lm", "Mn", "Mc", "Nd", "Sc", "Po", "Pd", "Ps", "Pe", "Pi", "Pf"}
BLANKS = " \u00a0\u202f\u3000"  # with those of French and East Asian punctuation
NOT_PLAIN = frozenset("#*@\\_[]{}⁇⁈⁉‽′″‴‵‶")  # punctuation by category, but not plain
SIGNS = frozenset("+°")
JOINED = re.compile(f"(?<=[\u0600-\u0dff])[{JOINERS}](?=[\u0600-\u0dff])")
# invisible marks and letters: variation selectors, the grapheme joiner, Hangul fillers
UNSEEN = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0]")

QUESTION_MARKS = re.compile("[?？؟՞፧]")
GREEK_QUESTION_MARKS = re.compile("[?;\u037e]")
CLOSING = re.compile("[\"'”’»›」』)）\\s]*")

ADDRESS = re.compile(
    r"""
    \w://|\bwww\d?[.。]|[^\s@]+@[^\s@]+
    | \b(?:mailto|tel|javascript|data):
    | [\w-]{2,}\.\s?(?:com|org|net)\b
    | [\w-]{2,}\.[a-z]{2,}|[a-z0-9-]{2,}。[a-z]{2,}|\b[\w-]+\.[a-z]{2,}/\w
    | \(\s?(?:at|ät|dot|punkt|punto|arroba|arobase|point|ponto)\s?\)
    | \b(?:dot|punkt|punto|point|ponto)\s+(?:com|org|net|io|de|fr|es|br)\b
    | \d+\.\d+\.\d+\.\d+
    | (?:\d[\s().\-–/]*){7,}
    | (?:^|\s)~?/\w
    """,
    re.VERBOSE,
)
MARKUP = re.compile(r"^\s*(?:[-–—•+]|\d+[.)])\s|&\w+;|//|--|\w\(\)|[A-Za-z]\([^)]{5,}|;\s*$")


def is_plain(question: str) -> bool:
    """Return whether all characters are plain: no control, bidirectional or format characters."""
    shown = JOINED.sub("", question)
    return not UNSEEN.search(shown) and all(
        char not in NOT_PLAIN
        and (char in SIGNS or char in BLANKS or unicodedata.category(char) in PLAIN)
        for char in shown
    )


def asks_one_question(question: str, *, is_greek: bool) -> bool:
    """Return whether the text ends with its only question mark, in any script."""
    marks = [*(GREEK_QUESTION_MARKS if is_greek else QUESTION_MARKS).finditer(question)]
    one = len(marks) == 1 and question.count("¿") <= 1
    return one and CLOSING.fullmatch(question, marks[0].end()) is not None


def has_address(question: str) -> bool:
    """Return whether the text contains a URL, mail address, host, path or telephone number."""
    return ADDRESS.search(normalized("NFKC", question).casefold()) is not None


def has_markup(question: str, *, is_greek: bool) -> bool:
    """Return whether the text has lists, entities, calls or other signs of markup or code."""
    return MARKUP.search(question.rstrip(";") if is_greek else question) is not None


NEVER = ("abuse", "self_harm", "sexual", "threats", "secrets", "orders")
# GDPR Art. 9; `union` is membership, `intimate` sexual life and orientation
SPECIAL = ("health", "religion", "politics", "ethnicity", "union", "intimate")
NAMES_HEALTH = "health_named"  # health care and its people, in a question of the form
ONLY_IF_SAID = "only_if_said"  # rewards and authorities

_SENTENCE_END = re.compile("[.!?؟;:…\n]+")
_ITEM = re.compile(r"[^\W_]+|[,،;:.!?؟…–—]")  # noqa: RUF001
_SPELLED = re.compile(r"(?<=\b\w) (?=\w\b)")
# Arabic prefixes: and, then, with, as, for, the
_ATTACHED = re.compile("^[وف]?(?:بال|كال|ال|لل|[بلك])?(?=[ا-ي]{3})")


def named(text: str) -> set[str]:
    """Return the names of the lists that have a word in the text."""
    readings = list(_readings(text))
    return {kind for kind, words in _lists().items() if any(map(words.is_in, readings))}


def named_first(question: str, known: Iterable[str]) -> bool:
    """Return whether the question names a reward or an authority that no known text names."""
    said = {token for text in known for token in tokens(fold(text))}
    new = (token for token in tokens(fold(question)) if token not in said)
    return any(_lists()[ONLY_IF_SAID].is_in([token]) for token in new)


def asks_twice(question: str, language: str) -> bool:
    """Return whether a sentence asks several questions; allows a short "…, and why?" at its end."""
    words = load(f"conduct/{language}")
    if WordList(words["second"]).is_in(tokens(fold(question))):
        return True
    asks, preposed = words["asks"].split(), words["preposed"].split()
    items = [*_items(question.casefold(), asks)]
    last = max((at for at, item in enumerate(items) if item.isalnum()), default=0)
    opened = subordinate = 0
    for at, item in enumerate(items[:last]):
        if item not in asks:
            continue
        before = next((n for n in range(at - 1, -1, -1) if items[n] not in preposed), -1)
        mark = items[before] if before >= 0 else "."
        if mark in {",", "،"}:
            is_clause = item in words["relatives"].split() or items[0] in words["frames"].split()
            subordinate += is_clause
            opened += not is_clause
        elif mark in words["joiners"].split():
            opened += before == 0 or items[before - 1] not in asks
        else:
            opened += not mark.isalnum()
    return opened + (subordinate > 1) > 1


def _items(question: str, asks: list[str]) -> Iterator[str]:
    """Yield words and punctuation marks; splits an Arabic prefix from a word of `asks`."""
    for item in _ITEM.findall(question):
        if item[0] in "وف" and item[1:] in asks:
            yield from (item[0], item[1:])
        else:
            yield item


def _readings(text: str) -> Iterator[list[str]]:
    """Yield each sentence, with and without its openings, and the whole text in other spellings."""
    folded = fold(text)
    openings = {
        each for tag in PHRASED for each in tokens(fold(load(f"conduct/{tag}")["openings"]))
    }
    for sentence in _SENTENCE_END.split(folded):
        found = tokens(sentence)
        for at, token in enumerate(found):
            yield framed(found[at:])
            if token not in openings:
                break
    plain = tokens(folded)
    yield [_ATTACHED.sub("", token) for token in plain]
    yield _SPELLED.sub("", " ".join(plain)).split()
    yield plain


@cache
def _lists() -> dict[str, WordList]:
    """Return the lists by name, each with the words of all languages."""

    def written(name: str, between: str) -> str:
        return between.join(load(f"conduct/{tag}").get(name, "") for tag in PHRASED)

    return {
        kind: WordList(written(kind, ","), written(f"{kind}_parts", " "))
        for kind in (*NEVER, *SPECIAL, NAMES_HEALTH, ONLY_IF_SAID)
    }
