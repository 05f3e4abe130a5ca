"""Threads, replies, questions and sessions for the tests of the guard."""

import json
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

from webapp.base.vocabulary import FollowUpMode
from webapp.follow_ups.guard import Unusable, checked
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
) -> str | None:
    return outcome_of(reply(question), thread, context, title)


def outcome_of(
    text: str, thread: Thread = ENGLISH.thread, context: str = "", title: str = ""
) -> str | None:
    try:
        checked(text, thread, Brief(title, None, context))
    except Unusable as unusable:
        return unusable.outcome
    return None


class Session(NamedTuple):
    """A form with its private context; of each step the question, the answer and the follow-up."""

    context: str
    steps: tuple[tuple[str, ...], ...]


def _read(file: Path) -> list[Session]:
    """A paragraph each: a line for the context, then one for each step."""
    found = []
    for paragraph in file.read_text().split("\n\n"):
        context, *steps = paragraph.strip().split("\n")
        found.append(Session(context, tuple(tuple(step.split(" | ")) for step in steps)))
    return found


SESSIONS = {file.stem: _read(file) for file in sorted(FOLDER.glob("sessions/*.txt"))}

# nine questions with two words each, as a respondent may have a model write them
WANTED = {language: (question, words) for language, question, words in rows("wanted.txt")}
