"""What follows from an answer to a draft: decided as on the form that it becomes."""

from contextlib import suppress

from limits import parse_many

from webapp.config import settings
from webapp.database import release_connections, utc_now
from webapp.domain.drafts.models import Draft
from webapp.domain.follow_ups import rules
from webapp.domain.follow_ups.messages import Brief
from webapp.domain.follow_ups.thread import Decision, Reason, Thread
from webapp.domain.respondents import trial as trials
from webapp.domain.respondents.follow_up_decisions import HARD_STOPS
from webapp.domain.respondents.steps import Step
from webapp.domain.respondents.trial import Decided, NoRoom, Trial
from webapp.domain.responses.spending import spend_other_call
from webapp.pages.model_decisions import decision_of_model
from webapp.web.languages import page_language
from webapp.web.rate_limits.limiter import limiter
from webapp.web.wakeups import NoSlot, wakeups

MODEL_RATE = "30/minute;500/day"  # calls of one account; after them the rules decide
CALLS_AT_ONCE = 2  # of one account: the others are for respondents


def decide(trial: Trial, draft: Draft, step: Step) -> Trial:
    """With what follows from the answer that a question has; a model may take four seconds."""
    due = trials.to_decide(trial, draft, step, page_language=page_language().tag)
    if due is None:
        return trial
    if isinstance(due, NoRoom):
        return trials.decide(trial, draft, step, Decided(due), Decision(Reason.NOTHING_LEFT))
    ruled = rules.decide(due)
    asks_model = _has_model(trial) and ruled.reason not in HARD_STOPS
    made = _of_model(trial, draft, step, due) if asks_model else None
    decision = made or ruled
    came = Decided(
        decision.reason,
        asked=decision.technique is not None,
        writer=decision.writer or (trial.told if made else ""),
        unheard=asks_model and made is None,
    )
    return trials.decide(trial, draft, step, came, decision)


def _has_model(trial: Trial) -> bool:
    """Whether the model is still the one that the page named."""
    return bool(trial.told) and trial.told == settings().follow_up_writer


def _of_model(trial: Trial, draft: Draft, step: Step, thread: Thread) -> Decision | None:
    account, left = draft.account_id, trials.remaining(trial, draft, step)
    brief = Brief(draft.title, draft.goal, draft.private_context)
    release_connections()  # the draft stays as it was read
    counted = _count_call(account)
    release_connections()
    if not counted:
        return None
    with suppress(NoSlot), wakeups().slot(f"trial {account}", most=CALLS_AT_ONCE):
        return decision_of_model(thread, brief, remaining=left).decision
    return None


def _count_call(account_id: str) -> bool:
    """Count a call of the model; False if a limit is reached."""
    limits = parse_many(MODEL_RATE) if settings().write_limits else ()
    return all(
        limiter.limiter.hit(limit, "try_model", account_id) for limit in limits
    ) and spend_other_call(of_server=settings().llm_calls_per_day_total, now=utc_now())
