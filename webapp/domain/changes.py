"""What changed between two contents of a draft, in words a person can check. Pure."""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from typing import Any, NamedTuple

from webapp.domain.content import Content, QuestionRow

SAME_QUESTION_RATIO = 0.6  # our choice: half the words kept still reads as the same question
COMPARED_CHARS, COMPARED_WORDS = 600, 300  # bounds the matching of questions that lost their ids
COMPARED_PAIRS = 50_000  # of equal words: with more of them, texts are shown as replaced
# scripts that put no spaces between words: each character counts as one
_UNSPACED = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_UNSPACED}]\s*|[^\s{_UNSPACED}]+\s*|\s+")
_BARE_WORD = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+")


class Kind(StrEnum):
    """What happened to a part."""

    ADDED = "added"
    REMOVED = "removed"
    MOVED = "moved"
    REWORDED = "reworded"
    CHANGED = "changed"


class Run(NamedTuple):
    """Words that stayed (None), came (ADDED) or went (REMOVED)."""

    kind: Kind | None
    text: str


@dataclass(frozen=True, slots=True)
class Change:
    """One difference.

    part      a content column, or `question` / `hint` for a question and its helping line
    position  from 1, in the later content (REMOVED: in the earlier one); None outside questions
    runs      the words in reading order for REWORDED, ADDED and REMOVED; empty for MOVED
    was, now  values of a setting for CHANGED, positions from 1 for MOVED
    """

    part: str
    kind: Kind
    position: int | None = None
    runs: tuple[Run, ...] = ()
    was: Any = None
    now: Any = None


TEXTS = ("title", "goal", "private_context")
SETTINGS = (
    "follow_up_mode",
    "followups_given",
    "max_total_questions",
    "response_mode",
    "response_limit",
)


def differences(before: Content, after: Content) -> list[Change]:
    """Every difference in reading order of the review page: title, goal, questions, settings."""
    found = [
        *_text_change("title", before.title, after.title),
        *_text_change("goal", before.goal, after.goal),
        *_question_changes(before.questions, after.questions),
    ]
    for name in SETTINGS:
        was, now = getattr(before, name), getattr(after, name)
        if was != now:
            found.append(Change(name, Kind.CHANGED, was=was, now=now))
    found.extend(_text_change("private_context", before.private_context, after.private_context))
    return found


def word_runs(before: str, after: str) -> tuple[Run, ...]:
    """Both texts as one sequence of kept, removed and added words; joined they give both back."""
    old, new = _WORD.findall(before), _WORD.findall(after)
    if _equal_pairs(old, new) > COMPARED_PAIRS:
        return (Run(Kind.REMOVED, before), Run(Kind.ADDED, after))
    return tuple(_runs(old, new))


def origins(before: Sequence[QuestionRow], after: Sequence[QuestionRow]) -> list[int | None]:
    """For each later question the place of the earlier one it came from: by id, else by words."""
    places = {question["id"]: place for place, question in enumerate(before)}
    found = [places.get(question["id"]) for question in after]
    free = [place for place in range(len(before)) if place not in found]
    _find_unchanged(before, after, found, free)
    for place, question in enumerate(after):
        if found[place] is None and free:
            closest = max(free, key=lambda old: _likeness(before[old]["text"], question["text"]))
            if _likeness(before[closest]["text"], question["text"]) >= SAME_QUESTION_RATIO:
                found[place] = closest
                free.remove(closest)
    return found


def _find_unchanged(
    before: Sequence[QuestionRow],
    after: Sequence[QuestionRow],
    found: list[int | None],
    free: list[int],
) -> None:
    """Questions of the very same words, before a similar one can take their place."""
    for place, question in enumerate(after):
        same = (old for old in free if before[old]["text"] == question["text"])
        if found[place] is None and (origin := next(same, None)) is not None:
            found[place] = origin
            free.remove(origin)


def longest_rising(places: Sequence[int]) -> set[int]:
    """The largest set of places that kept their order; what is not in it has moved."""
    tails: list[int] = []
    chains: list[list[int]] = []
    for place in places:
        at = bisect_left(tails, place)
        chain = [*(chains[at - 1] if at else []), place]
        tails[at:] = [place, *tails[at + 1 :]]
        chains[at:] = [chain, *chains[at + 1 :]]
    return set(chains[-1]) if chains else set()


def _equal_pairs(old: list[str], new: list[str]) -> int:
    """What matching costs; a text of thousand words has some ten thousand, a hostile one all."""
    again = Counter(new)
    return sum(count * again[word] for word, count in Counter(old).items())


def _runs(old: list[str], new: list[str]) -> Iterator[Run]:
    for operation, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if operation == "equal":
            yield Run(None, "".join(old[i:j]))
            continue
        if i < j:
            yield Run(Kind.REMOVED, "".join(old[i:j]))
        if k < m:
            yield Run(Kind.ADDED, "".join(new[k:m]))


def _text_change(
    part: str, before: str | None, after: str | None, position: int | None = None
) -> Iterator[Change]:
    was, now = before or "", after or ""
    if was == now:
        return
    if not was:
        yield Change(part, Kind.ADDED, position, (Run(Kind.ADDED, now),))
    elif not now:
        yield Change(part, Kind.REMOVED, position, (Run(Kind.REMOVED, was),))
    else:
        yield Change(part, Kind.REWORDED, position, word_runs(was, now))


def _question_changes(
    before: Sequence[QuestionRow], after: Sequence[QuestionRow]
) -> Iterator[Change]:
    came_from = origins(before, after)
    stayed = longest_rising([origin for origin in came_from if origin is not None])
    for place, (question, origin) in enumerate(zip(after, came_from, strict=True)):
        if origin is None:
            runs = (Run(Kind.ADDED, question["text"]),)
            yield Change("question", Kind.ADDED, place + 1, runs)
            continue
        earlier = before[origin]
        if origin not in stayed:
            yield Change("question", Kind.MOVED, place + 1, was=origin + 1, now=place + 1)
        yield from _text_change("question", earlier["text"], question["text"], place + 1)
        yield from _text_change("hint", earlier.get("context"), question.get("context"), place + 1)
    for place, question in enumerate(before):
        if place not in came_from:
            runs = (Run(Kind.REMOVED, question["text"]),)
            yield Change("question", Kind.REMOVED, place + 1, runs)


def _likeness(one: str, other: str) -> float:
    return SequenceMatcher(None, _bare_words(one), _bare_words(other)).ratio()


def _bare_words(text: str) -> list[str]:
    """What the text is known by: no punctuation, no capitals, not more than can be compared."""
    found: list[str] = _BARE_WORD.findall(text[:COMPARED_CHARS].lower())
    return found[:COMPARED_WORDS]
