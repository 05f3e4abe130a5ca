"""Compare two contents of a draft word by word, without side effects."""

import hashlib
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import Match, SequenceMatcher
from enum import StrEnum
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

import orjson

from webapp.records.content.model import DRAFT_SETTINGS, Content, PreparedFollowUp, QuestionRow

SAME_QUESTION_RATIO = 0.6  # a question cut to half of its words counts as the same
COMPARED_CHARS, COMPARED_WORDS = 600, 300  # bounds the matching of questions that lost their ids
STEPS = 100_000  # of about 0.1 µs; two texts that need more are shown as replaced
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


@dataclass(frozen=True)
class Change:
    """One difference between two contents.

    part       a content column, or `question` / `hint` / `follow_ups` of a question
    position   from 1, in the later content (REMOVED: in the earlier one); None outside questions
    was, now   texts, None where there is none; values of a setting; positions from 1 for MOVED
    follow_ups of a question: the changes of its prepared follow-ups, each with its place as
               `position` and its conditions as `was` and `now`; MOVED if only the place changed
    question_id  of the later content (REMOVED: of the earlier one); None outside questions
    texts      the texts, of prepared follow-ups as well; None for settings and moved questions
    """

    part: str
    kind: Kind
    position: int | None = None
    was: object = None
    now: object = None
    follow_ups: tuple["Change", ...] = ()
    question_id: str | None = None
    texts: tuple[str, str] | None = None

    @cached_property
    def runs(self) -> tuple[Run, ...]:
        return word_runs(*self.texts) if self.texts else ()

    @property
    def is_of_question(self) -> bool:
        gone = self.part == "question" and self.kind is Kind.REMOVED
        return self.question_id is not None and not gone

    @property
    def key(self) -> str:
        """Return 16 hex digits that name the change in an address, wherever its question is."""
        follow_ups = [(each.kind, each.was, each.now, each.texts) for each in self.follow_ups]
        said = self.part, self.kind, self.question_id, self.was, self.now, follow_ups
        return hashlib.sha256(orjson.dumps(said)).hexdigest()[:16]


def differences(before: Content, after: Content) -> list[Change]:
    """Return every difference in the order of the review page: title, goal, questions, settings."""
    return list(compare(before, after, origins(before.questions, after.questions)))


def compare(
    before: Content, after: Content, came_from: Sequence[int | None] | None = None
) -> Iterator[Change]:
    """Yield every difference; without `came_from`, questions with equal ids are the same."""
    for name in ("title", "public_reason", "goal"):
        yield from _text_change(name, getattr(before, name), getattr(after, name))
    if came_from is None:
        came_from = _by_id(before.questions, after.questions)
    yield from _question_changes(before.questions, after.questions, came_from)
    for name in (setting.column for setting in DRAFT_SETTINGS):
        was, now = getattr(before, name), getattr(after, name)
        if was != now:
            yield Change(name, Kind.CHANGED, was=was, now=now)
    yield from _text_change("private_context", before.private_context, after.private_context)


def _text_change(
    part: str,
    before: str | None,
    after: str | None,
    position: int | None = None,
    question_id: str | None = None,
) -> Iterator[Change]:
    was, now = before or None, after or None
    if was == now:
        return
    kind = Kind.ADDED if was is None else Kind.REMOVED if now is None else Kind.REWORDED
    if part == "question":  # the question exists even if its text is empty
        kind = Kind.REWORDED
    texts = was or "", now or ""
    yield Change(part, kind, position, was, now, question_id=question_id, texts=texts)


def _question_changes(
    before: Sequence[QuestionRow], after: Sequence[QuestionRow], came_from: Sequence[int | None]
) -> Iterator[Change]:
    stayed = longest_rising(came_from)
    for place, (question, origin) in enumerate(zip(after, came_from, strict=True), start=1):
        if origin is None:
            yield _whole_question(Kind.ADDED, place, question)
            continue
        key, earlier = question["id"], before[origin]
        if origin not in stayed:
            was = origin + 1
            yield Change("question", Kind.MOVED, place, was, place, question_id=key)
        yield from _text_change("question", earlier["text"], question["text"], place, key)
        yield from _text_change("hint", earlier.get("context"), question.get("context"), place, key)
        if prepared := _prepared_changes(earlier, question):
            kind = Kind.CHANGED
            yield Change("follow_ups", kind, place, follow_ups=prepared, question_id=key)
    for place, question in enumerate(before):
        if place not in came_from:
            yield _whole_question(Kind.REMOVED, place + 1, question)


def _whole_question(kind: Kind, position: int, question: QuestionRow) -> Change:
    sides = (question, QuestionRow()) if kind is Kind.REMOVED else (QuestionRow(), question)
    was, now = (each.get("text") for each in sides)
    prepared, texts = _prepared_changes(*sides), (was or "", now or "")
    return Change("question", kind, position, was, now, prepared, question["id"], texts)


def _prepared_changes(before: QuestionRow, after: QuestionRow) -> tuple[Change, ...]:
    old, new = before.get("follow_ups", []), after.get("follow_ups", [])
    came_from = origins(_as_rows(old, "old"), _as_rows(new, "new"))
    stayed = longest_rising(came_from)
    found = []
    for place, (now, origin) in enumerate(zip(new, came_from, strict=True), start=1):
        change = _prepared_change(place, None if origin is None else old[origin], now)
        if change.kind is not Kind.MOVED or origin not in stayed:
            found.append(change)
    gone = (place for place in range(len(old)) if place not in came_from)
    found.extend(_prepared_change(place + 1, old[place], None) for place in gone)
    return tuple(found)


def _prepared_change(
    place: int, was: PreparedFollowUp | None, now: PreparedFollowUp | None
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
    return Change("follow_up", kind, place, *conditions, texts=texts)


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
    total = one.total() + other.total()
    return 2 * (one & other).total() / total if total else 1.0


def _bare_words(text: str) -> Counter[str]:
    return Counter(_BARE_WORD.findall(text[:COMPARED_CHARS].lower())[:COMPARED_WORDS])


def word_runs(before: str, after: str) -> tuple[Run, ...]:
    """Return both texts as one sequence of unchanged, removed and added words.

    Unchanged words have the blanks of the later text: joined with the added words, they give it.
    """
    if before == after:
        return (Run(None, after),)
    if not (before and after):
        return (Run(Kind.ADDED if after else Kind.REMOVED, after or before),)
    old, new = _WORD.findall(before), _WORD.findall(after)
    try:
        return tuple(_runs(old, new))
    except _TooCostly:
        return (Run(Kind.REMOVED, _apart(before)), Run(Kind.ADDED, after))


class _TooCostly(Exception):
    """The comparison of these texts would take more than STEPS."""


class _Matcher(SequenceMatcher[str]):
    """A difflib matcher with a budget, as its steps grow with the cube of repeated words."""

    def __init__(self, old: list[str], new: list[str]) -> None:
        self._left = STEPS - 2 * (len(old) + len(new))
        if self._left < 0:
            raise _TooCostly
        super().__init__(None, old, new, autojunk=False)
        again = Counter(new)
        self._steps_before = [0, *accumulate(1 + again[word] for word in old)]

    def find_longest_match(
        self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None
    ) -> Match:
        before = self._steps_before
        self._left -= before[-1 if ahi is None else ahi] - before[alo]
        if self._left < 0:
            raise _TooCostly
        return super().find_longest_match(alo, ahi, blo, bhi)


def _runs(old: list[str], new: list[str]) -> Iterator[Run]:
    """Compare words without the blanks that follow, as the last word of a text has none."""
    lost = ""  # blanks between the last unchanged word and a removed one
    bare = [word.rstrip() for word in old], [word.rstrip() for word in new]
    for operation, i, j, k, m in _Matcher(*bare).get_opcodes():
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
