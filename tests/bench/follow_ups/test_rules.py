"""What a decision without a model costs."""

import time
from statistics import median

import pytest

from tests.bench.figures import Table
from tests.domain.follow_ups.test_held_out import HELD_OUT, split
from webapp.base.vocabulary import FollowUpAuthor, FollowUpCondition, FollowUpMode
from webapp.follow_ups import rules
from webapp.follow_ups.rules import Exchange, Thread
from webapp.records.content.model import PreparedFollowUp

pytestmark = pytest.mark.bench

HOSTILE = ("no. " * 5000, "a" * 20_000, "a-" * 10_000, "ا" * 20_000, "- " * 10_000)


def test_time_of_a_decision() -> None:
    rules.load()
    lines = (HELD_OUT / "ordinary.tsv").read_text("utf-8").splitlines()
    taken = [_milliseconds(question, answer) for _, question, answer in map(split, lines)]
    detail = f"slowest {max(taken):.2f} ms, {len(taken)} answers"
    Table("rules").add("follow-ups: a decision", f"{median(taken):.2f} ms", "≤ 0.5 ms", detail)


def test_time_of_a_hostile_answer() -> None:
    rules.load()
    slowest = max(_milliseconds("How was it?", answer) for answer in HOSTILE)
    Table("rules").add("follow-ups: slowest decision", f"{slowest:.2f} ms", "≤ 25 ms", "")


def _milliseconds(question: str, answer: str) -> float:
    prepared = PreparedFollowUp(
        text="And then?", condition=FollowUpCondition.IF_SHORT, prepared_by=FollowUpAuthor.AGENT
    )
    exchanges = (Exchange(question, answer),)
    thread = Thread(FollowUpMode.SMART, exchanges, (question,), prepared=(prepared,))
    rules.decide(thread)
    began = time.thread_time()
    rules.decide(thread)
    return (time.thread_time() - began) * 1000
