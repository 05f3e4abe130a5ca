"""Sessions with good follow-ups and a private context of everyday words, in the six languages of
the rules, and words of these contexts that a respondent may ask a model for.
"""

from pathlib import Path
from typing import NamedTuple

from tests.domain.follow_ups.written_questions import rows


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


SESSIONS = {file.stem: _read(file) for file in sorted(Path(__file__).parent.glob("sessions/*.txt"))}

# nine questions with two words each, as a respondent may have a model write them
WANTED = {language: (question, words) for language, question, words in rows("wanted.txt")}
