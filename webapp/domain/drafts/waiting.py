"""Which drafts wait for their creator's eyes, as a condition and of a row: one rule.

Drafts that the creator writes by hand do not, nor those that they sent back, nor those in which
nothing stands yet.
"""

from sqlalchemy import BindParameter, ColumnElement, and_, exists, func, or_

from webapp.domain.drafts.confirmations import current_confirmation
from webapp.domain.drafts.models import Draft, DraftSummaryRow, unpublished


def waiting(account_id: str | BindParameter[str]) -> ColumnElement[bool]:
    """The condition for the drafts of an account that an agent wrote, and that are neither empty
    nor sent back nor confirmed as they are.
    """
    by_agent = or_(Draft.author.is_not(None), Draft.created_by.is_not(None))
    # the length of the questions costs: last
    holds_something = or_(func.trim(Draft.title) != "", func.json_array_length(Draft.questions) > 0)
    is_confirmed = exists().where(current_confirmation())
    is_kept = Draft.returned_at.is_(None)
    return and_(unpublished(account_id), by_agent, is_kept, ~is_confirmed, holds_something)


def is_by_hand(draft: DraftSummaryRow) -> bool:
    """Whether no agent made the draft, or wrote last."""
    return draft.author is None and draft.created_by is None


def is_returned(draft: DraftSummaryRow) -> bool:
    """Whether it stands sent back."""
    return draft.returned_at is not None


def is_empty(draft: DraftSummaryRow) -> bool:
    """Whether it has neither title nor question."""
    return not draft.title.strip(" ") and not draft.question_count
