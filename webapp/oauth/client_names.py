"""Self-declared names of clients: which of them may be shown to creators."""

import re
import unicodedata

from webapp.domain.shared.unicode_normalization import normalized
from webapp.domain.shared.unicode_scripts import TOGETHER, script_of

MARKS_MAX = 2  # on one letter, as in Arabic and Vietnamese
OURS = "askback"
# Characters that pass for a letter of our name, after case folding and without accents.
LOOK_ALIKES = str.maketrans(
    dict.fromkeys("аɑαᴀꭺ4@", "a")
    | dict.fromkeys("ѕꜱƨ5$", "s")
    | dict.fromkeys("кκᴋⲕҝқӄꮶ", "k")
    | dict.fromkeys("вьъβʙƅɓᏼ86", "b")
    | dict.fromkeys("сϲᴄⲥꮯҫ¢©", "c")
)
CLAIM = re.compile("verif|certif|official|approved|trusted|authentic|endorsed|[✓✔✅☑🗸🛡]")
# invisible letters: Hangul fillers
BLANK_LETTERS = frozenset("\u115f\u1160\u3164\uffa0")


def is_showable(name: str) -> bool:
    """False for a misleading name: one that imitates others, claims trust or hides its text."""
    return (
        _has_letters(name)
        and _is_of_one_writing(name)
        and not _has_stacked_marks(name)
        and OURS not in _skeleton(name)
        and not CLAIM.search(normalized("NFKC", name).casefold())
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
        if marks > MARKS_MAX or unicodedata.category(char) == "Me":
            return True
    return False


def _skeleton(name: str) -> str:
    """The name by its looks: without case, accents, blanks, signs and other scripts."""
    folded = normalized("NFKD", name).replace("ß", "b").casefold()
    return re.sub("[^a-z]", "", folded.translate(LOOK_ALIKES))
