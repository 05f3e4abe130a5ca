"""What came of asking the model, as counts: no text of anybody."""

from datetime import datetime
from enum import StrEnum

from sqlalchemy import func, select

from webapp.database import db
from webapp.domain.follow_ups.models import FollowUp


class ModelOutcome(StrEnum):
    """What a model did, if no check refused it."""

    WROTE = "wrote"
    PICKED = "picked"  # a prepared question
    SILENT = "silent"
    LATE = "late"
    FAILED = "failed"  # an error, a refusal of the service, nothing complete


def count_outcomes(
    *, form_id: str | None = None, since: datetime | None = None
) -> tuple[dict[ModelOutcome, int], dict[str, int]]:
    """How often each came, and how often each check refused what the model wrote."""
    outcome, count = FollowUp.model_outcome, func.count()
    counted = select(outcome, count).where(outcome.is_not(None)).group_by(outcome)
    if form_id is not None:
        counted = counted.where(FollowUp.form_id == form_id)
    if since is not None:
        counted = counted.where(FollowUp.created_at >= since)
    rows = db.session.execute(counted.order_by(count.desc(), outcome)).all()
    known = set(ModelOutcome)
    return (
        {ModelOutcome(name): times for name, times in rows if name in known},
        {str(name): times for name, times in rows if name not in known},
    )
