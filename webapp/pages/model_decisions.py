"""Asking the model whether one more question follows from an answer, while somebody waits."""

import logging
from typing import NamedTuple

from webapp.base.config import settings
from webapp.follow_ups.messages import Brief, messages_for
from webapp.follow_ups.model_breaker import (
    MODEL_SECONDS,
    ModelFailed,
    ModelLate,
    ModelResting,
    model_breaker,
)
from webapp.follow_ups.rules import Decision, Technique, Thread
from webapp.records.follow_ups import ModelOutcome

log = logging.getLogger("askback.follow_ups")


class FromModel(NamedTuple):
    """A `ModelOutcome`, the check that refused what the model wrote, or "" if it was not asked;
    and its decision, None where it is of no use.
    """

    outcome: str
    decision: Decision | None = None


def decision_of_model(
    thread: Thread, brief: Brief, *, remaining: int, seconds: float = MODEL_SECONDS
) -> FromModel:
    """What the model decided about the last answer of the thread.

    A slot of webapp/web/wakeups.py is to be held, and no connection.
    remaining  how many follow-ups may still be asked, this one with them
    seconds    how long it may take
    """
    from webapp.follow_ups.guard import Unusable, checked
    from webapp.follow_ups.model_exchange import ask_model

    context = brief.private_context or ""
    messages = messages_for(
        thread, context=context, goal=brief.goal, title=brief.title, remaining=remaining
    )
    try:
        with model_breaker().call():
            reply = ask_model(messages, config=settings(), seconds=seconds)
        goal = brief.goal or ""
        decision = checked(reply, thread, context=context, title=brief.title, goal=goal)
    except (ModelFailed, Unusable) as error:
        log.warning("no follow-up of the model: %s %s", type(error).__name__, error)
        return FromModel(error.check if isinstance(error, Unusable) else _failed(error))
    if decision.technique is None:
        return FromModel(ModelOutcome.SILENT, decision)
    picked = decision.technique is Technique.PREPARED
    return FromModel(ModelOutcome.PICKED if picked else ModelOutcome.WROTE, decision)


def _failed(error: ModelFailed) -> str:
    if isinstance(error, ModelResting):
        return ""
    return ModelOutcome.LATE if isinstance(error, ModelLate) else ModelOutcome.FAILED
