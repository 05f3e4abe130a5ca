"""Asks the model whether to follow up an answer, while the respondent waits."""

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
    """Return the model's decision about the last answer of the thread, None if unusable, with a
    `ModelOutcome`, the name of the check that failed, or "" if the model was not asked.

    The caller holds a slot of webapp/web/wakeups.py and no database connection.
    remaining  the number of follow-ups that may still be asked, including this one
    seconds    the time limit
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
