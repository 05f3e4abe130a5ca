"""Compare two contents of a draft word by word, without side effects."""

import hashlib
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import Match, SequenceMatcher
from enum import StrEnum
from functools import lru_cache
from itertools import accumulate
from types import SimpleNamespace
from typing import NamedTuple, cast

import orjson

from webapp.records.content.model import (
    DRAFT_SETTINGS,
    Content,
    PreparedFollowUp,
    QuestionRow,
    snapshot,
)

SAME_QUESTION_RATIO = 0.6  # a question cut to half of its words counts as the same
COMPARED_CHARS, COMPARED_WORDS = 600, 300  # bounds the matching of questions that lost their ids
# per comparison; texts that need more steps are shown as replaced
STEPS, STEPS_AT_ONCE = 200_000, 100_000  # about 0.1 µs each
REMEMBERED = 24  # cached comparisons, at most 1.5 MB each
# scripts that put no spaces between words: each character counts as one
_UNSPACED = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_UNSPACED}]\s*|[^\s{_UNSPACED}]+\s*|\s+")
_BARE_WORD = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+")


class Kind(StrEnum):
    """The kind of a difference."""

    ADDED = "added"
    REMOVED = "removed"
    MOVED = "moved"
    REWORDED = "reworded"
    CHANGED = "changed"


class Run(NamedTuple):
    """A run of words: unchanged (None), ADDED or REMOVED."""

    kind: Kind | None
    text: str


Words = Callable[[str, str], tuple[Run, ...]]  # turns two texts into runs


@dataclass(frozen=True, slots=True)
class Change:
    """One difference between two contents.

    part       a content column, or `question` / `hint` / `follow_ups` of a question
    position   from 1, in the later content (REMOVED: in the earlier one); None outside questions
    was, now   texts, None where there is none; values of a setting; positions from 1 for MOVED
    runs       the words of the texts in reading order
    follow_ups of a question: the changes of its prepared follow-ups, each with its place as
               `position` and its conditions as `was` and `now`; MOVED if only the place changed
    question_id  of the later content (REMOVED: of the earlier one); None outside questions
    """

    part: str
    kind: Kind
    position: int | None = None
    runs: tuple[Run, ...] = ()
    was: object = None
    now: object = None
    follow_ups: tuple["Change", ...] = ()
    question_id: str | None = None

    @property
    def is_of_question(self) -> bool:
        """Return True for a change of a question that the later content has."""
        gone = self.part == "question" and self.kind is Kind.REMOVED
        return self.question_id is not None and not gone

    @property
    def key(self) -> str:
        """Return 16 hex digits that name the change in an address, wherever its question is."""
        values = self.runs or (self.was, self.now)
        said = self.part, self.kind, self.question_id, values, self.follow_ups
        return hashlib.sha256(repr(said).encode()).hexdigest()[:16]


def differences(before: Content, after: Content) -> tuple[Change, ...]:
    """Return every difference in the order of the review page: title, goal, questions, settings.

    Results are cached: each view of a page compares the same two immutable contents.
    """
    return _remembered(orjson.dumps([snapshot(before), snapshot(after)]))


@lru_cache(maxsize=REMEMBERED)
def _remembered(contents: bytes) -> tuple[Change, ...]:
    before, after = (cast(Content, SimpleNamespace(**each)) for each in orjson.loads(contents))
    effort = Effort()
    came_from = origins(before.questions, after.questions)
    return tuple(compare(before, after, came_from, lambda was, now: word_runs(was, now, effort)))


def compare(
    before: Content,
    after: Content,
    came_from: Sequence[int | None] | None = None,
    words: Words = lambda *_: (),
) -> Iterator[Change]:
    """Yield every difference, without runs unless `words` makes them.

    came_from  see `origins`; without it, questions with equal ids are the same
    """
    for name in ("title", "public_reason", "goal"):
        yield from _text_change(name, getattr(before, name), getattr(after, name), words)
    if came_from is None:
        came_from = _by_id(before.questions, after.questions)
    yield from _question_changes(before.questions, after.questions, came_from, words)
    for name in (setting.column for setting in DRAFT_SETTINGS):
        was, now = getattr(before, name), getattr(after, name)
        if was != now:
            yield Change(name, Kind.CHANGED, was=was, now=now)
    yield from _text_change("private_context", before.private_context, after.private_context, words)


def _text_change(
    part: str,
    before: str | None,
    after: str | None,
    words: Words,
    position: int | None = None,
    question_id: str | None = None,
) -> Iterator[Change]:
    was, now = before or None, after or None
    if was == now:
        return
    kind = Kind.ADDED if was is None else Kind.REMOVED if now is None else Kind.REWORDED
    if part == "question":  # the question exists even if its text is empty
        kind = Kind.REWORDED
    runs = words(was or "", now or "")
    yield Change(part, kind, position, runs, was, now, question_id=question_id)


def _question_changes(
    before: Sequence[QuestionRow],
    after: Sequence[QuestionRow],
    came_from: Sequence[int | None],
    words: Words,
) -> Iterator[Change]:
    stayed = longest_rising(came_from)
    for place, (question, origin) in enumerate(zip(after, came_from, strict=True), start=1):
        key = question["id"]
        if origin is None:
            yield _whole_question(Kind.ADDED, place, question, words)
            continue
        earlier = before[origin]
        if origin not in stayed:
            was = origin + 1
            yield Change("question", Kind.MOVED, place, was=was, now=place, question_id=key)
        texts = earlier["text"], question["text"]
        yield from _text_change("question", *texts, words, place, key)
        hints = earlier.get("context"), question.get("context")
        yield from _text_change("hint", *hints, words, place, key)
        if prepared := _prepared_changes(earlier, question, words):
            kind = Kind.CHANGED
            yield Change("follow_ups", kind, place, follow_ups=prepared, question_id=key)
    for place, question in enumerate(before):
        if place not in came_from:
            yield _whole_question(Kind.REMOVED, place + 1, question, words)


def _whole_question(kind: Kind, position: int, question: QuestionRow, words: Words) -> Change:
    sides = (question, QuestionRow()) if kind is Kind.REMOVED else (QuestionRow(), question)
    was, now = (each.get("text") for each in sides)
    runs, prepared = words(was or "", now or ""), _prepared_changes(*sides, words)
    return Change("question", kind, position, runs, was, now, prepared, question["id"])


def _prepared_changes(before: QuestionRow, after: QuestionRow, words: Words) -> tuple[Change, ...]:
    """Return the prepared follow-ups of one question that differ, the removed ones last."""
    old, new = before.get("follow_ups", []), after.get("follow_ups", [])
    came_from = origins(_as_rows(old, "old"), _as_rows(new, "new"))
    stayed = longest_rising(came_from)
    found = []
    for place, (now, origin) in enumerate(zip(new, came_from, strict=True), start=1):
        change = _prepared_change(place, None if origin is None else old[origin], now, words)
        if change.kind is not Kind.MOVED or origin not in stayed:
            found.append(change)
    gone = (place for place in range(len(old)) if place not in came_from)
    found.extend(_prepared_change(place + 1, old[place], None, words) for place in gone)
    return tuple(found)


def _prepared_change(
    place: int, was: PreparedFollowUp | None, now: PreparedFollowUp | None, words: Words
) -> Change:
    """Return the change from `was` to `now`; MOVED if they are equal."""
    texts = was["text"] if was else "", now["text"] if now else ""
    conditions = was and was["condition"], now and now["condition"]
    if was is None or now is None:
        kind = Kind.REMOVED if now is None else Kind.ADDED
    elif texts[0] != texts[1]:
        kind = Kind.REWORDED
    else:
        kind = Kind.MOVED if conditions[0] == conditions[1] else Kind.CHANGED
    runs = (Run(None, texts[1]),) if texts[0] == texts[1] else words(*texts)
    return Change("follow_up", kind, place, runs, *conditions)


def _as_rows(prepared: Sequence[PreparedFollowUp], prefix: str) -> list[QuestionRow]:
    """Return the follow-ups as questions; `prefix` keeps the ids of two lists apart."""
    return [
        QuestionRow(id=f"{prefix} {place}", text=each["text"])
        for place, each in enumerate(prepared)
    ]


def origins(before: Sequence[QuestionRow], after: Sequence[QuestionRow]) -> list[int | None]:
    """Return the index of the earlier question that each later one came from, by id or by text."""
    found = _by_id(before, after)
    free = [place for place in range(len(before)) if place not in found]
    for place, question in enumerate(after):  # equal texts first, before similar ones take theirs
        same = (old for old in free if before[old]["text"] == question["text"])
        if found[place] is None and (origin := next(same, None)) is not None:
            found[place] = origin
            free.remove(origin)
    known = {place: _bare_words(before[place]["text"]) for place in free}
    for place, question in enumerate(after):
        if found[place] is None and free:
            words = _bare_words(question["text"])
            likeness, closest = max((_likeness(known[old], words), -old) for old in free)
            if likeness >= SAME_QUESTION_RATIO:
                found[place] = -closest
                free.remove(-closest)
    return found


def _by_id(before: Sequence[QuestionRow], after: Sequence[QuestionRow]) -> list[int | None]:
    places = {question["id"]: place for place, question in enumerate(before)}
    return [places.get(question["id"]) for question in after]


def longest_rising(came_from: Sequence[int | None]) -> set[int]:
    """Return the largest set of indexes in increasing order; questions outside it were moved."""
    tails: list[int] = []
    chains: list[list[int]] = []
    for place in came_from:
        if place is not None:
            at = bisect_left(tails, place)
            chain = [*(chains[at - 1] if at else []), place]
            tails[at:] = [place, *tails[at + 1 :]]
            chains[at:] = [chain, *chains[at + 1 :]]
    return set(chains[-1]) if chains else set()


def _likeness(one: Counter[str], other: Counter[str]) -> float:
    """Return the share of common words in any order, from 0 to 1."""
    total = one.total() + other.total()
    return 2 * (one & other).total() / total if total else 1.0


def _bare_words(text: str) -> Counter[str]:
    """Return the first COMPARED_WORDS words, without punctuation and case."""
    return Counter(_BARE_WORD.findall(text[:COMPARED_CHARS].lower())[:COMPARED_WORDS])


class TooCostly(Exception):
    """The comparison of these texts would exceed the budget."""


class Effort:
    """The number of steps left for one comparison, which is the same on every machine."""

    def __init__(self) -> None:
        self.steps = STEPS

    def spend(self, steps: int) -> None:
        """Subtract steps. Raises TooCostly, and subtracts nothing, if too few are left."""
        if steps > min(self.steps, STEPS_AT_ONCE):
            raise TooCostly
        self.steps -= steps


def word_runs(before: str, after: str, effort: Effort) -> tuple[Run, ...]:
    """Return both texts as one sequence of unchanged, removed and added words.

    Unchanged words have the blanks of the later text: joined with the added words, they give it.
    """
    if not (before and after):
        return (Run(Kind.ADDED if after else Kind.REMOVED, after or before),)
    try:
        effort.spend(len(before) + len(after))
        old, new = _WORD.findall(before), _WORD.findall(after)
        effort.spend(2 * (len(old) + len(new)))  # counts where each character is a word
        return tuple(_runs(old, new, effort))
    except TooCostly:
        return (Run(Kind.REMOVED, _apart(before)), Run(Kind.ADDED, after))


class _Matcher(SequenceMatcher[str]):
    """A difflib matcher with a budget, as its steps grow with the cube of repeated words."""

    def __init__(self, old: list[str], new: list[str], effort: Effort) -> None:
        super().__init__(None, old, new, autojunk=False)
        self._effort = effort
        again = Counter(new)
        self._steps_before = [0, *accumulate(1 + again[word] for word in old)]

    def find_longest_match(
        self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None
    ) -> Match:
        """Return difflib's match. Raises TooCostly."""
        before = self._steps_before
        self._effort.spend(before[-1 if ahi is None else ahi] - before[alo])
        return super().find_longest_match(alo, ahi, blo, bhi)


def _runs(old: list[str], new: list[str], effort: Effort) -> Iterator[Run]:
    """Compare words without the blanks that follow, as the last word of a text has none."""
    lost = ""  # blanks between the last unchanged word and a removed one
    bare = [word.rstrip() for word in old], [word.rstrip() for word in new]
    for operation, i, j, k, m in _Matcher(*bare, effort).get_opcodes():
        if operation == "equal":
            yield Run(None, "".join(new[k:m]))
            lost = "" if new[m - 1] != bare[1][m - 1] else old[j - 1][len(bare[0][j - 1]) :]
            continue
        if i < j:
            removed = lost + "".join(old[i:j])
            yield Run(Kind.REMOVED, _apart(removed) if k < m else removed)
        if k < m:
            yield Run(Kind.ADDED, "".join(new[k:m]))


def _apart(removed: str) -> str:
    """Return the removed text with a blank before the words that replace it."""
    is_apart = removed[-1:].isspace() or re.match(f"[{_UNSPACED}]", removed[-1:])
    return removed if is_apart else f"{removed} "
