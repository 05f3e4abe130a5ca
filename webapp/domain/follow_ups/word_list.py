"""Lists of words and phrases, and what of a text stands in them."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import product

from webapp.domain.follow_ups.text import MARK, fold, tokens

START, END, ANY, GAP = "^", "$", "…", "~"
GAP_WORDS = 3

Slot = frozenset[str]
_ANY, _GAP = Slot({ANY}), Slot({GAP})


class WordList:
    """Phrases of one kind, found in time that grows with the text alone.

    Written with commas or line ends between them: `a/b c` is two phrases, `do_not/never` has one of
    two words, `…` is any word, `~` are up to three words, `^` and `$` the beginning and the end of
    the text, `.` any punctuation. A text of `framed` tokens has the former, one of
    `tokens_and_marks` the latter. Raises ValueError for a phrase that begins with
    `…` or `~`.
    """

    __slots__ = ("_known",)

    def __init__(self, written: str) -> None:
        self._known: defaultdict[str, list[tuple[Slot, ...]]] = defaultdict(list)
        for phrase in phrases_of(written):
            for first, *others in _patterns(phrase):
                if first & {ANY, GAP}:
                    raise ValueError(f"begins with any word: {phrase}")
                for token in first:
                    self._known[token].append(tuple(others))

    def find(self, text: Sequence[str]) -> Iterator[range]:
        """Where its phrases are in the tokens, in the order of their beginnings."""
        return (range(at, end) for at in range(len(text)) for end in self.ends(text, at))

    def is_in(self, text: Sequence[str]) -> bool:
        """Whether any of its phrases is in the tokens."""
        return next(self.find(text), None) is not None

    def ends(self, text: Sequence[str], start: int) -> Iterator[int]:
        """The token after each of its phrases that begins at this one."""
        for others in self._known.get(text[start], ()):
            yield from _ends(others, text, start + 1)

    def __bool__(self) -> bool:
        return bool(self._known)


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


def phrases_of(written: str) -> list[str]:
    """The phrases of a list as they are written, each with single blanks."""
    found = (" ".join(phrase.split()) for phrase in written.replace("\n", ",").split(","))
    return [phrase for phrase in found if phrase]


def framed(text: list[str]) -> list[str]:
    """The tokens with marks for their beginning and end."""
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
    """What stands at each place; words that are several tokens make patterns of their own."""
    for choice in product(*map(_choices, phrase.split())):
        yield [slot for slots in choice for slot in slots]


@cache  # sets of words are in many phrases, and folding them is most of what reading a list costs
def _choices(written: str) -> list[tuple[Slot, ...]]:
    if written in {ANY, GAP}:
        return [(_ANY if written == ANY else _GAP,)]
    found = [_tokens_of(part) for part in written.split("/")]
    single = Slot(part[0] for part in found if len(part) == 1)
    several = [tuple(Slot({token}) for token in part) for part in found if len(part) > 1]
    return [(single,), *several] if single else several


def _tokens_of(part: str) -> list[str]:
    return [part] if part in {START, END, MARK} else tokens(fold(part.replace("_", " ")))


def _folded(parts: Iterable[str]) -> tuple[str, ...]:
    return tuple(fold(part.strip("-")) for part in parts)
