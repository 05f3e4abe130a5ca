"""How the rules do on labelled threads, and what a decision costs."""

import time
from collections.abc import Callable
from statistics import median

import pytest

from tests.bench.figures import Table
from tests.domain.follow_ups.threads import Labelled, read_threads
from webapp.domain.follow_ups.thread import Decision

pytestmark = pytest.mark.bench

CHARS_MAX = 200

Scored = tuple[Labelled, Decision]
SCORES: dict[str, Callable[[Scored], bool]] = {
    "one question": lambda scored: _marks(scored[1].question) <= 1,
    "at most 200 characters": lambda scored: len(scored[1].question) <= CHARS_MAX,
    "not asked before": lambda scored: scored[1].question not in scored[0].thread.questions,
    "technique not used before": lambda scored: scored[1].technique not in scored[0].thread.used,
    "asks or stops as labelled": lambda scored: bool(scored[1].question) is scored[0].asks,
    "technique and reason as labelled": lambda scored: scored[0].fits(scored[1]),
    "nothing of the private context": lambda scored: not _leaks(*scored),
}


def test_scores_of_the_rules() -> None:
    scored = [(labelled, labelled.decide()) for labelled in read_threads()]
    table = Table("rules")
    for name, holds in SCORES.items():
        reached = sum(map(holds, scored))
        table.add(
            f"follow-ups: {name}", f"{100 * reached / len(scored):.0f} %", "100 %", _of(scored)
        )


def test_time_of_a_decision() -> None:
    taken = sorted(_milliseconds(labelled) for labelled in read_threads())
    detail = f"p50 {median(taken):.2f} ms, {len(taken)} threads"
    Table("rules").add("follow-ups: slowest decision", f"{taken[-1]:.2f} ms", "≤ 25 ms", detail)


def _milliseconds(labelled: Labelled) -> float:
    labelled.decide()
    began = time.thread_time()
    labelled.decide()
    return (time.thread_time() - began) * 1000


def _of(scored: list[Scored]) -> str:
    asked = sum(bool(decision.question) for _, decision in scored)
    return f"{len(scored)} threads, {asked} questions"


def _marks(question: str) -> int:
    return question.count("?") + question.count("؟")


def _leaks(labelled: Labelled, decision: Decision) -> set[str]:
    public = {word for exchange in labelled.thread.exchanges for word in str(exchange).split()}
    return {word for word in labelled.context.split() if len(word) > 4 and word not in public} & {
        *decision.question.split()
    }
