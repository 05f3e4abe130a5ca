"""Word lists from files: their phrases, and the lists of each language."""

import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from webapp.follow_ups.text import MARK, fold, tokens
from webapp.records.languages import PHRASED

_FOLDER = Path(__file__).parent


def load(name: str) -> dict[str, Any]:
    """Return the lists of a file by name; `name` is a path such as `conduct/en`."""
    return tomllib.loads((_FOLDER / f"{name}.toml").read_text("utf-8"))


START, END, ANY, GAP = "^", "$", "…", "~"
GAP_WORDS = 3

Slot = frozenset[str]
_ANY, _GAP = Slot({ANY}), Slot({GAP})


class WordList:
    """Phrases of one kind, found in time that depends on the length of the text only.

    Commas or line ends separate phrases: `a/b c` is two phrases, `do_not/never` has one of two
    words, `…` is any word, `~` is up to three words, `^` and `$` are the beginning and the end of
    the text, `.` is any punctuation. `^` and `$` need `framed` tokens, `.` needs
    `tokens_and_marks`. Raises ValueError for a phrase that begins with `…` or `~`.
    """

    def __init__(self, written: str) -> None:
        self._known: defaultdict[str, list[tuple[Slot, ...]]] = defaultdict(list)
        for phrase in phrases_of(written):
            for first, *others in _patterns(phrase):
                if first & {ANY, GAP}:
                    raise ValueError(f"begins with any word: {phrase}")
                for token in first:
                    self._known[token].append(tuple(others))

    def find(self, text: Sequence[str]) -> Iterator[range]:
        """Yield the position of each phrase in the tokens, in order of their beginnings."""
        return (range(at, end) for at in range(len(text)) for end in self.ends(text, at))

    def is_in(self, text: Sequence[str]) -> bool:
        """Return whether any phrase is in the tokens."""
        return next(self.find(text), None) is not None

    def ends(self, text: Sequence[str], start: int) -> Iterator[int]:
        """Yield the index after each phrase that begins at `start`."""
        for others in self._known.get(text[start], ()):
            yield from _ends(others, text, start + 1)

    def __bool__(self) -> bool:
        return bool(self._known)


class WordParts:
    """Parts of words: `suicid-` is a beginning, `-krebs` an ending, `-x-` stands anywhere."""

    def __init__(self, written: str) -> None:
        self._parts = [  # with a blank at the beginning or end of a word
            " " * (part[0] != "-") + fold(part.strip("-")) + " " * (part[-1] != "-")
            for part in written.split()
        ]

    def find(self, text: Sequence[str]) -> Iterator[range]:
        """Yield the positions of the words that contain one of the parts."""
        joined = f" {' '.join(text)} "
        parts = [part for part in self._parts if part in joined]
        for at, word in enumerate(text if parts else ()):
            if any(part in f" {word} " for part in parts):
                yield range(at, at + 1)


def phrases_of(written: str) -> list[str]:
    """Return the phrases of a list as written, with single blanks."""
    found = (" ".join(phrase.split()) for phrase in written.replace("\n", ",").split(","))
    return [phrase for phrase in found if phrase]


def framed(text: list[str]) -> list[str]:
    """Return the tokens between a START and an END mark."""
    return [START, *text, END]


def _ends(slots: Sequence[Slot], text: Sequence[str], at: int) -> Iterator[int]:
    for number, slot in enumerate(slots):
        if slot is _GAP:
            for end in range(at, min(at + GAP_WORDS, len(text)) + 1):
                yield from _ends(slots[number + 1 :], text, end)
            return
        if at >= len(text) or (slot is not _ANY and text[at] not in slot):
            return
        at += 1
    yield at


def _patterns(phrase: str) -> Iterator[list[Slot]]:
    """Yield the tokens for each position; words of several tokens yield patterns of their own."""
    for choice in product(*map(_choices, phrase.split())):
        yield [slot for slots in choice for slot in slots]


@cache  # many phrases share sets of words, and folding is most of the cost of reading a list
def _choices(written: str) -> list[tuple[Slot, ...]]:
    if written in {ANY, GAP}:
        return [(_ANY if written == ANY else _GAP,)]
    found = [_tokens_of(part) for part in written.split("/")]
    single = Slot(part[0] for part in found if len(part) == 1)
    several = [tuple(Slot({token}) for token in part) for part in found if len(part) > 1]
    return [(single,), *several] if single else several


def _tokens_of(part: str) -> list[str]:
    return [part] if part in {START, END, MARK} else tokens(fold(part.replace("_", " ")))


_SET = re.compile(r"\{(\w+)\}")
_ATTACHED = re.compile(r"\+([^\s/,]+)")


class Lexicon(NamedTuple):
    """The words of a language. A list missing from the file is empty."""

    say_more: str  # the built-in question
    non_answers: WordList  # whole answers, apart from `fillers` at both ends
    flat: WordList  # non-answers that say "none" rather than "I do not know"
    fillers: WordList
    yes: WordList  # beginnings of answers that say yes
    no: WordList
    stops: WordList  # short answers with these ask to stop
    joiners: WordList  # and, or
    clauses: WordList  # words that begin a clause rather than an item of a list
    invitations: WordList  # questions to which "no" means nothing to add
    heard: WordList  # questions about how somebody came to know the asker
    facts: WordList
    asks_reason: WordList  # questions for a reason
    asks_more: WordList  # parts of a question that ask for more than a fact
    yes_no_starts: WordList  # beginnings of a yes-no question; in a language
    interrogatives: WordList  # without them, words that a yes-no question lacks
    sensitive: WordList  # words of grave answers,
    sensitive_parts: WordParts  # and parts that all forms of such a word share
    idioms: WordList  # harmless phrases with such a word: "bored to death"


@cache
def lexicons() -> dict[str, Lexicon]:
    """Return the lexicons by language tag; read on first use, because many processes need none.

    Raises ValueError for an unknown list or set.
    """
    return {tag: _lexicon(load(f"words/{tag}")) for tag in PHRASED}


def _lexicon(words: dict[str, Any]) -> Lexicon:
    sets = {name: re.sub(r"[\s/]+", "/", text.strip()) for name, text in words["sets"].items()}
    attached = sets.get("attached", "").split("/")

    def spelled_out(name: str) -> str:
        """Return the list with the sets that it names written out."""
        named = _SET.sub(lambda found: sets[found[1]], words["lists"].get(name, ""))
        return _ATTACHED.sub(
            lambda found: "/".join([found[1], *(each + found[1] for each in attached)]), named
        )

    if unknown := words["lists"].keys() - Lexicon._fields:
        raise ValueError(f"no such lists: {unknown}")
    kinds = Lexicon.__annotations__.items()
    lists = {name: kind(spelled_out(name)) for name, kind in kinds if kind is not str}
    return Lexicon(say_more=words["say_more"], **lists)
