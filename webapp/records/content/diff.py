"""The differences between two contents of a draft, word by word. Pure."""

import hashlib
import re
import threading
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import Match, SequenceMatcher
from enum import StrEnum
from itertools import accumulate
from typing import NamedTuple

import orjson

from webapp.records.content.model import (
    DRAFT_SETTINGS,
    Content,
    PreparedFollowUp,
    QuestionRow,
    snapshot,
)

SAME_QUESTION_RATIO = 0.6  # with half of its words it still counts as the same question
COMPARED_CHARS, COMPARED_WORDS = 600, 300  # bounds the matching of questions that lost their ids
# of one comparison; texts that need more are shown as replaced
STEPS, STEPS_AT_ONCE = 200_000, 100_000  # some 0.1 µs each
REMEMBERED = 32  # comparisons kept, at most a megabyte each
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


@dataclass(frozen=True, slots=True)
class Change:
    """One difference.

    part       a content column, or `question` / `hint` / `follow_ups` of a question
    position   from 1, in the later content (REMOVED: in the earlier one); None outside questions
    runs       the words in reading order for REWORDED, ADDED and REMOVED; empty for MOVED
    was, now   values of a setting for CHANGED, positions from 1 for MOVED
    follow_ups of a question, added and removed ones too: each that differs, with its place among
               them as `position`, and its conditions as `was` and `now`; MOVED if it only moved
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
        """True for a change of a question that the later content has."""
        gone = self.part == "question" and self.kind is Kind.REMOVED
        return self.question_id is not None and not gone

    @property
    def key(self) -> str:
        """Names the change in an address, wherever its question is in the list: 16 hex digits."""
        said = self.part, self.kind, self.question_id, self.runs, self.was, self.now
        return hashlib.sha256(repr((*said, self.follow_ups)).encode()).hexdigest()[:16]


class TooCostly(Exception):
    """The comparison of these texts would exceed the budget."""


class Effort:
    """The steps that are left of one comparison: the same on every machine."""

    def __init__(self) -> None:
        self.steps = STEPS

    def spend(self, steps: int) -> None:
        """Subtract steps. Raises TooCostly, and subtracts nothing, if too few are left."""
        if steps > min(self.steps, STEPS_AT_ONCE):
            raise TooCostly
        self.steps -= steps


def differences(before: Content, after: Content) -> list[Change]:
    """Every difference in reading order of the review page: title, goal, questions, settings.

    Results are cached: each view of a page compares the same two immutable contents.
    """
    key = orjson.dumps([snapshot(before), snapshot(after)])
    name = hashlib.sha256(key).digest()
    with _remembering:
        found = _remembered.pop(name, None)
    if found is None:
        found = _differences(before, after)
    with _remembering:
        _remembered[name] = found
        if len(_remembered) > REMEMBERED:
            del _remembered[next(iter(_remembered))]
    return list(found)


_remembered: dict[bytes, list[Change]] = {}
_remembering = threading.Lock()


def _differences(before: Content, after: Content) -> list[Change]:
    effort = Effort()
    found = [
        *_text_change("title", before.title, after.title, effort),
        *_text_change("public_reason", before.public_reason, after.public_reason, effort),
        *_text_change("goal", before.goal, after.goal, effort),
        *_question_changes(before.questions, after.questions, effort),
    ]
    for name in (setting.column for setting in DRAFT_SETTINGS):
        was, now = getattr(before, name), getattr(after, name)
        if was != now:
            found.append(Change(name, Kind.CHANGED, was=was, now=now))
    contexts = before.private_context, after.private_context
    found.extend(_text_change("private_context", *contexts, effort))
    return found


def word_runs(before: str, after: str, effort: Effort) -> tuple[Run, ...]:
    """Both texts as one sequence of unchanged, removed and added words.

    Unchanged words have the blanks of the later text, so its runs, joined, are that text.
    """
    try:
        effort.spend(len(before) + len(after))
        old, new = _WORD.findall(before), _WORD.findall(after)
        effort.spend(2 * (len(old) + len(new)))  # where each character is a word
        return tuple(_runs(old, new, effort))
    except TooCostly:
        return (Run(Kind.REMOVED, _apart(before)), Run(Kind.ADDED, after))


def origins(before: Sequence[QuestionRow], after: Sequence[QuestionRow]) -> list[int | None]:
    """For each later question the index of the earlier one it came from: by id, else by text."""
    places = {question["id"]: place for place, question in enumerate(before)}
    found = [places.get(question["id"]) for question in after]
    free = [place for place in range(len(before)) if place not in found]
    _find_unchanged(before, after, found, free)
    known = {place: _bare_words(before[place]["text"]) for place in free}
    for place, question in enumerate(after):
        if found[place] is None and free:
            words = _bare_words(question["text"])
            likeness, closest = max((_likeness(known[old], words), -old) for old in free)
            if likeness >= SAME_QUESTION_RATIO:
                found[place] = -closest
                free.remove(-closest)
    return found


def _find_unchanged(
    before: Sequence[QuestionRow],
    after: Sequence[QuestionRow],
    found: list[int | None],
    free: list[int],
) -> None:
    """Match questions of identical text first, so that no similar one takes their index."""
    for place, question in enumerate(after):
        same = (old for old in free if before[old]["text"] == question["text"])
        if found[place] is None and (origin := next(same, None)) is not None:
            found[place] = origin
            free.remove(origin)


def longest_rising(places: Sequence[int]) -> set[int]:
    """The largest set of indexes in increasing order; questions outside of it were moved."""
    tails: list[int] = []
    chains: list[list[int]] = []
    for place in places:
        at = bisect_left(tails, place)
        chain = [*(chains[at - 1] if at else []), place]
        tails[at:] = [place, *tails[at + 1 :]]
        chains[at:] = [chain, *chains[at + 1 :]]
    return set(chains[-1]) if chains else set()


class _Matcher(SequenceMatcher[str]):
    """difflib's matcher with a budget: its steps grow with the cube of repeated words."""

    def __init__(self, old: list[str], new: list[str], effort: Effort) -> None:
        super().__init__(None, old, new, autojunk=False)
        self._effort = effort
        again = Counter(new)
        self._steps_before = [0, *accumulate(1 + again[word] for word in old)]

    def find_longest_match(
        self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None
    ) -> Match:
        """As difflib's. Raises TooCostly."""
        before = self._steps_before
        self._effort.spend(before[-1 if ahi is None else ahi] - before[alo])
        return super().find_longest_match(alo, ahi, blo, bhi)


def _runs(old: list[str], new: list[str], effort: Effort) -> Iterator[Run]:
    """Words compare equal whatever blanks follow: the last one of a text has none."""
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
    """With a blank before the words that take its place, as between any two words."""
    is_apart = removed[-1:].isspace() or re.match(f"[{_UNSPACED}]", removed[-1:])
    return removed if is_apart else f"{removed} "


def _text_change(
    part: str,
    before: str | None,
    after: str | None,
    effort: Effort,
    position: int | None = None,
    question_id: str | None = None,
) -> Iterator[Change]:
    was, now = before or "", after or ""
    if was == now:
        return
    if was and now:
        kind, runs = Kind.REWORDED, word_runs(was, now, effort)
    else:
        kind = Kind.ADDED if now else Kind.REMOVED
        runs = (Run(kind, now or was),)
    yield Change(part, kind, position, runs, question_id=question_id)


def _question_changes(
    before: Sequence[QuestionRow], after: Sequence[QuestionRow], effort: Effort
) -> Iterator[Change]:
    came_from = origins(before, after)
    stayed = longest_rising([origin for origin in came_from if origin is not None])
    for place, (question, origin) in enumerate(zip(after, came_from, strict=True), start=1):
        key = question["id"]
        if origin is None:
            runs = (Run(Kind.ADDED, question["text"]),)
            prepared = _prepared_changes({}, question, effort)
            yield Change("question", Kind.ADDED, place, runs, follow_ups=prepared, question_id=key)
            continue
        earlier = before[origin]
        if origin not in stayed:
            was, now = origin + 1, place
            yield Change("question", Kind.MOVED, place, was=was, now=now, question_id=key)
        yield from _text_change("question", earlier["text"], question["text"], effort, place, key)
        hints = earlier.get("context"), question.get("context")
        yield from _text_change("hint", *hints, effort, place, key)
        if prepared := _prepared_changes(earlier, question, effort):
            kind = Kind.CHANGED
            yield Change("follow_ups", kind, place, follow_ups=prepared, question_id=key)
    for place, question in enumerate(before, start=1):
        if place - 1 not in came_from:
            runs, key = (Run(Kind.REMOVED, question["text"]),), question["id"]
            prepared = _prepared_changes(question, {}, effort)
            kind = Kind.REMOVED
            yield Change("question", kind, place, runs, follow_ups=prepared, question_id=key)


def _prepared_changes(
    before: QuestionRow, after: QuestionRow, effort: Effort
) -> tuple[Change, ...]:
    """The prepared follow-ups of one question that differ, the removed ones last."""
    old, new = before.get("follow_ups", []), after.get("follow_ups", [])
    came_from = origins(_as_rows(old, "old"), _as_rows(new, "new"))
    stayed = longest_rising([origin for origin in came_from if origin is not None])
    found = []
    for place, (now, origin) in enumerate(zip(new, came_from, strict=True), start=1):
        was = None if origin is None else old[origin]
        if _differ(was, now) or origin not in stayed:
            found.append(_prepared_change(place, was, now, effort))
    gone = (place for place in range(len(old)) if place not in came_from)
    found.extend(_prepared_change(place + 1, old[place], None, effort) for place in gone)
    return tuple(found)


def _differ(was: PreparedFollowUp | None, now: PreparedFollowUp) -> bool:
    return was is None or (was["text"], was["condition"]) != (now["text"], now["condition"])


def _prepared_change(
    place: int, was: PreparedFollowUp | None, now: PreparedFollowUp | None, effort: Effort
) -> Change:
    if was is None or now is None:
        kind = Kind.REMOVED if now is None else Kind.ADDED
    elif was["text"] != now["text"]:
        kind = Kind.REWORDED
    else:
        kind = Kind.CHANGED if _differ(was, now) else Kind.MOVED
    texts = was["text"] if was else "", now["text"] if now else ""
    runs = (Run(None, texts[1]),) if texts[0] == texts[1] else word_runs(*texts, effort)
    conditions = was and was["condition"], now and now["condition"]
    return Change("follow_up", kind, place, runs, *conditions)


def _as_rows(prepared: Sequence[PreparedFollowUp], prefix: str) -> list[QuestionRow]:
    """As questions, of which none has the id of one of the other list."""
    return [
        QuestionRow(id=f"{prefix} {place}", text=each["text"])
        for place, each in enumerate(prepared)
    ]


def _likeness(one: Counter[str], other: Counter[str]) -> float:
    """The share of common words in any order, from 0 to 1."""
    total = one.total() + other.total()
    return 2 * (one & other).total() / total if total else 1.0


def _bare_words(text: str) -> Counter[str]:
    """The words for comparison: without punctuation and case, at most as many as are compared."""
    return Counter(_BARE_WORD.findall(text[:COMPARED_CHARS].lower())[:COMPARED_WORDS])
