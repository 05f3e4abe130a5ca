"""A form with follow-up questions of every fate: answered, skipped, dropped and left; as rows."""

from datetime import datetime
from typing import Any

from tests.factories import make_answer, make_follow_up, make_follow_up_answer
from webapp.answers import answering
from webapp.base.database import db
from webapp.base.vocabulary import FollowUpAuthor, FollowUpCondition
from webapp.follow_ups.rules import Reason, Technique
from webapp.records.responses.models import ResponseSession

FRIDGE = {
    "title": "What the fridge was like",
    "questions": ["What did the warm fridge cost you?", "Who noticed it first?"],
    "followUpMode": "deep_dive",
}
MODEL = {"writer": "qwen3-30b-a3b-instruct at models.fernhill.example:8443"}


def make_followed(form: Any, now: datetime) -> None:
    """Four people: asked twice in two alphabets, left one, dropped and skipped one, were not asked.

    Needs an application context; commits.
    """
    make_talker(form, now)
    make_leaver(form)
    make_changer(form)
    make_answer(form, "n" * 32, text="Nothing, we were closed.")


def make_talker(form: Any, now: datetime) -> None:
    key = "t" * 32
    make_answer(form, key, text="A whole batch of dough, and a very long morning.")
    why = {"technique": Technique.EXAMPLE, "reason": Reason.NO_EXAMPLE}
    first = make_follow_up(form, key, question_text="What would be an example of that?", **why)
    make_follow_up_answer(form, key, first, "كانت العجينة كلها فاسدة.\nWe began again at five.")
    why = {"technique": Technique.IMPACT, "reason": Reason.CHOSEN_BY_MODEL} | MODEL
    second = make_follow_up(
        form, key, depth=2, question_text="What happened as you “began again”?", **why
    )
    make_follow_up_answer(form, key, second, "Two of us stayed. " * 30)
    make_answer(form, key, 1, "Mira, by the smell of it.")
    answering.complete_response(form.share_token, key, responder_name="Sam Okafor", now=now)


def make_leaver(form: Any) -> None:
    make_answer(form, "l" * 32, text="Too much")
    short = {
        "technique": Technique.PREPARED,
        "reason": FollowUpCondition.IF_SHORT,
        "writer": FollowUpAuthor.AGENT,
    }
    make_follow_up(form, "l" * 32, question_text="Could you say a bit more about that?", **short)
    db.session.commit()


def make_changer(form: Any) -> None:
    key = "c" * 32
    make_answer(form, key, text="Depends, maybe fifty crowns")
    hedged = {"technique": Technique.DEPENDS, "reason": Reason.HEDGED}
    make_follow_up(form, key, question_text="What does it depend on?", **hedged)
    db.session.commit()
    make_answer(form, key, text="Fifty crowns for the milk")
    asked = make_follow_up(form, key, depth=2)
    db.session.flush()
    session = db.session.get_one(ResponseSession, asked.session_id)
    session.skipped = [asked.id]
    db.session.commit()
