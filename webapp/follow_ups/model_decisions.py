"""Asking the model whether one more question follows from an answer, while somebody waits."""

import logging

from webapp.base.config import settings
from webapp.follow_ups.messages import Brief, messages_for
from webapp.follow_ups.model_breaker import MODEL_SECONDS, ModelFailed, model_breaker
from webapp.follow_ups.rules import Decision, Technique, Thread
from webapp.records.follow_ups import ModelOutcome

log = logging.getLogger("askback.follow_ups")


def decision_of_model(
    thread: Thread, brief: Brief, *, remaining: int, seconds: float = MODEL_SECONDS
) -> tuple[Decision | None, str]:
    """What the model decided about the last answer of the thread, None where that is of no use;
    with a `ModelOutcome`, the check that refused what the model wrote, or "" if it was not asked.

    A slot of webapp/web/wakeups.py is to be held, and no connection.
    remaining  how many follow-ups may still be asked, this one with them
    seconds    how long it may take
    """
    from webapp.follow_ups.guard import Unusable, checked
    from webapp.follow_ups.model_exchange import ask_model

    try:
        with model_breaker().call():
            messages = messages_for(thread, brief, remaining=remaining)
            reply = ask_model(messages, config=settings(), seconds=seconds)
        decision = checked(reply, thread, brief)
    except (ModelFailed, Unusable) as error:
        log.warning("no follow-up of the model: %s %s", type(error).__name__, error)
        return None, error.outcome
    if decision.technique is None:
        return decision, ModelOutcome.SILENT
    picked = decision.technique is Technique.PREPARED
    return decision, ModelOutcome.PICKED if picked else ModelOutcome.WROTE
