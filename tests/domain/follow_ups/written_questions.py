"""Threads, replies and harmless questions for the tests of the guard."""

import json
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

from webapp.base.vocabulary import FollowUpMode
from webapp.follow_ups.guard import Check, Unusable, checked
from webapp.follow_ups.messages import Brief
from webapp.follow_ups.rules import Exchange, Technique, Thread

FOLDER = Path(__file__).parent


def make_thread(question: str, answer: str, **changed: Any) -> Thread:
    fields: dict[str, Any] = {
        "mode": FollowUpMode.SMART,
        "exchanges": (Exchange(question, answer),),
        "questions": (question,),
    }
    return Thread(**fields | changed)


def reply(question: str, technique: str = Technique.WHY, action: str = "ask") -> str:
    fields = {"action": action, "prepared": 0, "technique": technique, "question": question}
    return json.dumps(fields)


class Interview(NamedTuple):
    """A form with a realistic private context, an answer, and what may be asked about it."""

    context: str
    questions: tuple[str, ...]
    answer: str
    harmless: tuple[str, ...]

    @property
    def thread(self) -> Thread:
        return make_thread(self.questions[0], self.answer, questions=self.questions)


INTERVIEWS = {
    language: Interview(
        each["context"], tuple(each["questions"]), each["answer"], tuple(each["harmless"])
    )
    for language, each in tomllib.loads((FOLDER / "interviews.toml").read_text("utf-8")).items()
}
ENGLISH = INTERVIEWS["en"]


def rows(file: str) -> list[tuple[str, ...]]:
    """The lines after the first one, which says what they have."""
    lines = (FOLDER / file).read_text("utf-8").splitlines()[1:]
    return [tuple(line.split(" | ")) for line in lines]


def outcome(
    question: str, thread: Thread = ENGLISH.thread, context: str = "", title: str = ""
) -> Check | None:
    return outcome_of(reply(question), thread, context, title)


def outcome_of(
    text: str, thread: Thread = ENGLISH.thread, context: str = "", title: str = ""
) -> Check | None:
    try:
        checked(text, thread, Brief(title, None, context))
    except Unusable as unusable:
        return unusable.outcome
    return None
