"""Threads of questions and answers with what may be asked next, one JSON object a line."""

import json
from pathlib import Path
from typing import Any, NamedTuple

from webapp.domain.follow_ups.rules import decide
from webapp.domain.follow_ups.thread import Decision, Exchange, Reason, Technique, Thread
from webapp.domain.shared.vocabulary import FollowUpMode


class Labelled(NamedTuple):
    """A thread, the private context of its form, and what is expected of a decision about it.

    language  of the questions; the thread does not tell it, it has to be recognised
    """

    id: str
    language: str
    thread: Thread
    context: str
    asks: bool
    techniques: frozenset[Technique]
    reason: Reason | None

    def decide(self) -> Decision:
        return decide(self.thread)

    def fits(self, decision: Decision) -> bool:
        """Whether the decision is one of those expected."""
        allowed = self.techniques if self.asks else {None}
        return decision.technique in allowed and self.reason in (None, decision.reason)


def read_threads() -> list[Labelled]:
    """All of them, in the order of their files."""
    files = sorted(Path(__file__).parent.glob("*.jsonl"))
    lines = (line for file in files for line in file.read_text().splitlines())
    return [_labelled(json.loads(line)) for line in lines]


def _labelled(line: dict[str, Any]) -> Labelled:
    expected = line["expect"]
    return Labelled(
        line["id"],
        line["language"],
        _thread(line),
        line.get("context", ""),
        expected["asks"],
        frozenset(map(Technique, expected["techniques"])),
        Reason(expected["reason"]) if "reason" in expected else None,
    )


def _thread(line: dict[str, Any]) -> Thread:
    exchanges = tuple(
        Exchange(one["question"], one["answer"], Technique(one["technique"]))
        if "technique" in one
        else Exchange(one["question"], one["answer"])
        for one in line["exchanges"]
    )
    return Thread(
        FollowUpMode(line["mode"]),
        exchanges,
        tuple(exchange.question for exchange in exchanges),
        len(exchanges) - 1,
        frozenset(one.technique for one in exchanges if one.technique),
        seed=line["id"],
    )
