"""Self-declared names of clients: how they are stored, and which may be shown to creators."""

import re
import unicodedata

from webapp.domain.shared.limits import CLIENT_NAME_MAX_CHARS
from webapp.domain.shared.names import JOINERS
from webapp.domain.shared.unicode_normalization import normalized
from webapp.domain.shared.unicode_scripts import TOGETHER, script_of

MARKS_MAX = 2  # on one letter, as in Arabic and Vietnamese
KEYCAP = "\u20e3"  # of emoji such as 1️⃣
# Our name at the start, or behind a word that makes the app ours. Behind another name it says where
# the app connects, as in "Claude Code (askback)".
OURS = re.compile("(?:^(?:[a-z] )*|\\b(?:the|by|from|of|team) ?)" + " ?".join("askback"))
# Characters that pass for a letter of our name, after case folding and without accents.
LOOK_ALIKES = str.maketrans(
    dict.fromkeys("аɑαᴀꭺ4@", "a")
    | dict.fromkeys("ѕꜱƨ5$", "s")
    | dict.fromkeys("кκᴋⲕĸҝқӄꮶ", "k")
    | dict.fromkeys("вьъβʙƅɓᏼ86", "b")
    | dict.fromkeys("сϲᴄⲥꮯҫ¢©", "c")
)
# letters of emoji, which have no simpler form: A to Z, squared, circled and of flags
EMOJI_LETTERS = {
    first + place: letter
    for first in (0x1F150, 0x1F170, 0x1F1E6)
    for place, letter in enumerate("abcdefghijklmnopqrstuvwxyz")
}
# whole words: an authenticator and an unofficial client say what they are
CLAIM = re.compile(
    r"(?<![^\W\d_])(?:(?:ver|cert|zert)ifi(?:ed|ee?|ziert|cad[oa]|cat[oa])|official(?:ly)?|oficial"
    r"|officiel(?:le)?|ufficiale|offiziell|approved|trusted|authentic|endorsed)(?![^\W\d_])"
    "|[✓✔✅☑🗸🛡]"
)
# invisible letters: Hangul fillers
BLANK_LETTERS = frozenset("\u115f\u1160\u3164\uffa0")


def cleaned_name(name: object) -> str:
    """The name in one line, cut, without control characters and overrides of direction.

    Empty for anything that is no text.
    """
    if not isinstance(name, str):
        return ""
    kept = (char for char in name if char.isprintable() or char.isspace() or char in JOINERS)
    line = " ".join("".join(kept).split())
    return line[:CLIENT_NAME_MAX_CHARS].strip(" " + JOINERS)


def is_showable(name: str) -> bool:
    """False for a misleading name: one that imitates others, claims trust or hides its text."""
    return (
        _has_letters(name)
        and _is_of_one_writing(name)
        and not _has_stacked_marks(name)
        and not OURS.search(_skeleton(name))
        and not any(CLAIM.search(words) for words in (_words(name), _words(name.casefold())))
    )


def _has_letters(name: str) -> bool:
    letters = {char for char in name if unicodedata.category(char).startswith("L")}
    return bool(letters) and not letters & BLANK_LETTERS


def _is_of_one_writing(name: str) -> bool:
    scripts = {script_of(char) for char in normalized("NFKC", name) if char.isalpha()}
    return len(scripts) <= 1 or any(scripts <= together for together in TOGETHER)


def _has_stacked_marks(name: str) -> bool:
    marks = 0
    for char in normalized("NFC", name):
        marks = marks + 1 if unicodedata.category(char) in {"Mn", "Me"} else 0
        if marks > MARKS_MAX or (unicodedata.category(char) == "Me" and char != KEYCAP):
            return True
    return False


def _skeleton(name: str) -> str:
    """The words of the name by their looks: without case, accents, signs and other scripts."""
    folded = _words(name.replace("ß", "b")).translate(LOOK_ALIKES)
    return re.sub("[^a-z]+", " ", folded).strip()


def _words(name: str) -> str:
    """The name without case, accents and invisible characters, words in one word apart."""
    plain = normalized("NFKD", name.translate(EMOJI_LETTERS))
    apart = re.sub("(?<=[a-z])(?=[A-Z])", " ", plain)
    return "".join(char for char in apart if unicodedata.category(char)[0] not in "MC").casefold()
