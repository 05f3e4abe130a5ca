"""A form of twenty questions with five follow-ups to each, every one of them answered."""

from typing import Any

from tests.factories import make_answer, make_follow_up, make_follow_up_answer, make_form
from webapp.base.database import db

QUESTIONS, FOLLOW_UPS = 20, 5
LONG_WORD = "schichtplanänderungsbenachrichtigung" * 3
# as long as the settings let it be, without a place to break
WRITER = f"{'m' * 200} at {'models.' * 20}example.org:8443"
ASKED = f"What did you make of {LONG_WORD}?"[:200]


def make_mixed_form(account_id: str, questions: int = QUESTIONS) -> Any:
    """A published form, as a row of its columns; needs an application context."""
    words = [f"{number}. {ASKED}" for number in range(questions)]
    return make_form(
        account_id,
        questions=words,
        followUpMode="deep_dive",
        maxFollowupsPerQuestion=FOLLOW_UPS,
    )


def answer_all(form: Any, session_key: str, follow_ups: int = FOLLOW_UPS) -> None:
    """Every question and every follow-up; needs an application context."""
    for position in range(len(form.questions)):
        make_answer(form, session_key, position, f"{position} {LONG_WORD}")
        for depth in range(1, follow_ups + 1):
            follow(form, session_key, position, depth)


def follow(form: Any, session_key: str, position: int, depth: int) -> None:
    """One follow-up and its answer."""
    words = f"{depth}. {ASKED}"[:200]
    writer = WRITER if depth == FOLLOW_UPS else ""
    asked = make_follow_up(
        form, session_key, position, depth=depth, question_text=words, writer=writer
    )
    make_follow_up_answer(form, session_key, asked, f"{position}.{depth} {LONG_WORD}")
    db.session.commit()
