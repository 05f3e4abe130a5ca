"""What no written question may hold: signs of markup and code, addresses."""

import re
import unicodedata

from webapp.domain.shared.unicode_normalization import normalized

PLAIN = {"Lu", "Ll", "Lt", "Lo", "Lm", "Mn", "Mc", "Nd", "Sc", "Po", "Pd", "Ps", "Pe", "Pi", "Pf"}
BLANKS = " \u00a0\u202f\u3000"  # French and East Asian punctuation has its own
NOT_PLAIN = frozenset("#*@\\_[]{}⁇⁈⁉‽′″‴‵‶")  # punctuation by its category
SIGNS = frozenset("+°")
JOINERS = "\u200c\u200d"  # Persian and Indic spelling has them
JOINED = re.compile(f"(?<=[\u0600-\u0dff])[{JOINERS}](?=[\u0600-\u0dff])")
# a variation selector, a grapheme joiner and Hangul fillers are marks and letters nobody sees
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


def has_one_line(question: str) -> bool:
    """Whether no character of any script begins another line."""
    return len(question.splitlines()) == 1


def is_plain(question: str) -> bool:
    """No character but letters, digits and punctuation: no control, bidi or format character."""
    shown = JOINED.sub("", question)
    return not UNSEEN.search(shown) and all(_is_plain(char) for char in shown)


def asks_one_question(question: str, *, is_greek: bool) -> bool:
    """Whether it ends with its only question mark, that of any script."""
    marks = [*(GREEK_QUESTION_MARKS if is_greek else QUESTION_MARKS).finditer(question)]
    one = len(marks) == 1 and question.count("¿") <= 1
    return one and CLOSING.fullmatch(question, marks[0].end()) is not None


def has_address(question: str) -> bool:
    """Whether it names a site, a mailbox, a machine, a file or a telephone number."""
    return ADDRESS.search(normalized("NFKC", question).casefold()) is not None


def has_markup(question: str, *, is_greek: bool) -> bool:
    """Whether it has lists, entities, calls or other signs of HTML, Markdown and code."""
    return MARKUP.search(question.rstrip(";") if is_greek else question) is not None


def _is_plain(char: str) -> bool:
    if char in NOT_PLAIN:
        return False
    return char in SIGNS or char in BLANKS or unicodedata.category(char) in PLAIN
