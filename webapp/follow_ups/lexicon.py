"""Word lists from files: their phrases, and the lists of each language."""

import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import chain, product
from pathlib import Path
from typing import Any, TypeAlias

from webapp.follow_ups.text import MARK, fold, tokens
from webapp.records.languages import PHRASED


@cache
def load(name: str) -> dict[str, Any]:
    """Return the content of a file by name; `name` is a path such as `conduct/en`."""
    return tomllib.loads((Path(__file__).parent / f"{name}.toml").read_text("utf-8"))


START, END, ANY, GAP = "^", "$", "…", "~"
GAP_WORDS = 3

Slot = frozenset[str]
_ANY, _GAP = Slot({ANY}), Slot({GAP})


class WordList:
    """Phrases and parts of words of one kind, found in time that depends on the length of the text
    only.

    Commas or line ends separate phrases: `a/b c` is two phrases, `do_not/never` has one of two
    words, `…` is any word, `~` is up to three words, `^` and `$` are the beginning and the end of
    the text, `.` is any punctuation. `^` and `$` need `framed` tokens, `.` needs
    `tokens_and_marks`. No phrase begins with `…` or `~`.

    Blanks separate parts: `suicid-` is a beginning, `-krebs` an ending, `-x-` stands anywhere.
    """

    def __init__(self, phrases: str, parts: str = "") -> None:
        self._known: defaultdict[str, list[tuple[Slot, ...]]] = defaultdict(list)
        for phrase in filter(str.strip, re.split("[,\n]", phrases)):
            for choice in product(*map(_choices, phrase.split())):
                first, *others = chain.from_iterable(choice)
                for token in first:
                    self._known[token].append(tuple(others))
        self._parts = [  # with a blank at the beginning or end of a word
            " " * (part[0] != "-") + fold(part.strip("-")) + " " * (part[-1] != "-")
            for part in parts.split()
        ]

    def find(self, text: Sequence[str]) -> Iterator[range]:
        """Yield the position of each phrase in the tokens, and of each token with a part."""
        joined = f" {' '.join(text)} " if self._parts else ""
        parts = [part for part in self._parts if part in joined]
        for at, word in enumerate(text):
            if any(part in f" {word} " for part in parts):
                yield range(at, at + 1)
            yield from (range(at, end) for end in self.ends(text, at))

    def is_in(self, text: Sequence[str]) -> bool:
        """Return whether any phrase or part is in the tokens."""
        return next(self.find(text), None) is not None

    def ends(self, text: Sequence[str], start: int) -> Iterator[int]:
        """Yield the index after each phrase that begins at `start`."""
        for others in self._known.get(text[start], ()):
            yield from _ends(others, text, start + 1)


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


@cache  # many phrases share sets of words, and folding is most of the cost of reading a list
def _choices(written: str) -> list[tuple[Slot, ...]]:
    """Return the tokens at each position: those of all single words, and of each other word."""
    if written in {ANY, GAP}:
        return [(_ANY if written == ANY else _GAP,)]
    found = [
        [part] if part in {START, END, MARK} else tokens(fold(part.replace("_", " ")))
        for part in written.split("/")
    ]
    single = Slot(part[0] for part in found if len(part) == 1)
    several = [tuple(Slot({token}) for token in part) for part in found if len(part) > 1]
    return [(single,), *several] if single else several


_SET = re.compile(r"\{(\w+)\}")
_ATTACHED = re.compile(r"\+([^\s/,]+)")

Lexicon: TypeAlias = Mapping[str, WordList]


@cache
def lexicons() -> dict[str, Lexicon]:
    """Return the lists by name, of each language; read on first use, because many processes need
    none. `words/en.toml` explains the lists.
    """
    return {tag: _lexicon(load(f"words/{tag}")) for tag in PHRASED}


def _lexicon(words: dict[str, Any]) -> Lexicon:
    """Return the lists with the sets that they name written out."""
    sets = {name: re.sub(r"[\s/]+", "/", text.strip()) for name, text in words["sets"].items()}
    attached = ["", *sets.get("attached", "").split("/")]
    lists = {
        name: _ATTACHED.sub(
            lambda found: "/".join(each + found[1] for each in attached),
            _SET.sub(lambda found: sets[found[1]], written),
        )
        for name, written in words["lists"].items()
    }
    return {name: WordList(each, lists.get(f"{name}_parts", "")) for name, each in lists.items()}
