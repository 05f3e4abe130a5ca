"""Lists of words and phrases, and what of a text stands in them."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import product
from typing import NamedTuple

from webapp.domain.follow_ups.text import fold, tokens

START, END, ANY = "^", "$", "…"


class Found(NamedTuple):
    """A phrase of a list in a text: its first token, the one after it, and its spelling."""

    start: int
    end: int
    phrase: str


class WordList:
    """Phrases of one kind, found in time that grows with the text alone.

    Written with commas or line ends between them: `a/b c` is two phrases, `…` any word, `^` and
    `$` the beginning and the end of the text. A text of `framed` tokens has both.
    """

    __slots__ = ("_root", "phrases")

    def __init__(self, *lists: str) -> None:
        written = ",".join(lists).replace("\n", ",").split(",")
        self.phrases = tuple(phrase for item in written for phrase in _alternatives(item))
        self._root = _Node({}, "")
        for phrase in self.phrases:
            self._root.add(_pattern(phrase), phrase)

    def find(self, text: Sequence[str]) -> Iterator[Found]:
        """Each phrase in the tokens, in the order of their beginnings."""
        known = self._root.then
        for start, token in enumerate(text):
            if token in known:
                for end, phrase in self._root.read(text, start):
                    yield Found(start, end, phrase)

    def is_in(self, text: Sequence[str]) -> bool:
        """Whether any of its phrases is in the tokens."""
        return next(self.find(text), None) is not None

    def ends(self, text: Sequence[str], start: int) -> Iterator[int]:
        """The token after each of its phrases that begins at this one."""
        return (end for end, _ in self._root.read(text, start))

    def __bool__(self) -> bool:
        return bool(self.phrases)


class WordParts:
    """Parts of words: `suicid-` is how one begins, `-krebs` how one ends, `-x-` is anywhere."""

    __slots__ = ("_beginnings", "_endings", "_inner")

    def __init__(self, written: str) -> None:
        parts = written.split()
        self._beginnings = _folded(part for part in parts if part[0] != "-" and part[-1] == "-")
        self._endings = _folded(part for part in parts if part[0] == "-" and part[-1] != "-")
        self._inner = _folded(part for part in parts if part[0] == "-" and part[-1] == "-")

    def find(self, text: Sequence[str]) -> Iterator[int]:
        """Where the words are that have one of the parts."""
        joined = " ".join(text)
        beginnings, endings, inner = (
            tuple(part for part in parts if part in joined)
            for parts in (self._beginnings, self._endings, self._inner)
        )
        if not (beginnings or endings or inner):
            return
        for at, word in enumerate(text):
            has_inner = any(part in word for part in inner)
            if has_inner or word.startswith(beginnings) or word.endswith(endings):
                yield at


class _Node(NamedTuple):
    """Where the phrases that begin alike part; `phrase` is "" where none ends."""

    then: dict[str, "_Node"]
    phrase: str

    def add(self, pattern: list[str], phrase: str) -> None:
        *before, last = pattern
        node = self
        for token in before:
            node = node.then.setdefault(token, _Node({}, ""))
        node.then[last] = _Node(node.then[last].then if last in node.then else {}, phrase)

    def read(self, text: Sequence[str], at: int) -> Iterator[tuple[int, str]]:
        """The phrases from here on, with the token after each."""
        if self.phrase:
            yield at, self.phrase
        if at < len(text):
            for token in (text[at], ANY):
                if token in self.then:
                    yield from self.then[token].read(text, at + 1)


def framed(text: list[str]) -> list[str]:
    """The tokens with marks for their beginning and end."""
    return [START, *text, END]


def _folded(parts: Iterable[str]) -> tuple[str, ...]:
    return tuple(fold(part.strip("-")) for part in parts)


def _alternatives(spelled: str) -> Iterator[str]:
    chosen = [token.split("/") for token in spelled.split()]
    return (" ".join(choice) for choice in product(*chosen) if choice)


def _pattern(phrase: str) -> list[str]:
    return [token for part in phrase.split() for token in _tokens_of(part)]


@cache  # a word is in many phrases, and folding it is most of what reading a list costs
def _tokens_of(part: str) -> list[str]:
    return [part] if part in {START, END, ANY} else tokens(fold(part))
