"""How far the review of a draft has come, put together here alone."""

from webapp.domain.drafts.models import Draft
from webapp.domain.drafts.reviews import CreatorChange, creator_changes, review_note
from webapp.domain.shared.limits import CHANGE_SHOWN_CHARS
from webapp.domain.shared.vocabulary import ReviewState
from webapp.wire.review_types import DraftReview, ReviewChange


def draft_review(draft: Draft, state: ReviewState, review_url: str) -> DraftReview:
    """The review of a draft, and what its creator changed."""
    return {
        "draftId": draft.id,
        "revision": draft.revision,
        "state": state,
        "note": review_note(draft, state),
        "reviewUrl": review_url,
        "changes": [_change(change) for change in creator_changes(draft)],
    }


def _change(change: CreatorChange) -> ReviewChange:
    return {
        "kind": change.kind,
        "questionId": change.question_id,
        "before": _cut(change.before),
        "after": _cut(change.after),
    }


def _cut(text: str | None) -> str | None:
    return None if text is None else text[:CHANGE_SHOWN_CHARS]
