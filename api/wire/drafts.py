"""Private drafts, their prepared follow-ups and reviews, as agents read them."""

from typing import Literal, NotRequired

from api.wire import forms
from api.wire.types import Body, ItemPage, Uri
from webapp.base.vocabulary import DraftStatus, FollowUpAuthor, FollowUpCondition, ReviewState
from webapp.drafts.reviews import creator_changes
from webapp.records.drafts import Draft
from webapp.records.forms import FormRow

CHANGE_SHOWN_CHARS = 500  # of each text that a creator changed
IDEMPOTENCY_KEY_MAX_CHARS = 255  # the limit of Stripe

Confirmation = Literal["none", "current", "stale", "returned"]


class FormDraft(Body):
    """A private draft. The private context is never returned."""

    draftId: str
    status: DraftStatus
    title: str
    goal: str | None
    questions: list[forms.OutputQuestion]
    settings: forms.FormSettings
    publishedFormId: str | None
    shareUrl: Uri | None


def form_draft(draft: Draft, form: FormRow | None = None) -> FormDraft:
    """Return a draft; `form` is the form that it became if it is published."""
    return {
        "draftId": draft.id,
        "status": draft.status,
        "title": draft.title,
        "goal": draft.goal,
        "questions": forms.shown_questions(draft),
        "settings": forms.form_settings(draft),
        "publishedFormId": form.id if form else None,
        "shareUrl": forms.share_url(form.share_token) if form else None,
    }


class PreparedFollowUp(Body):
    """A follow-up to one question, written before anybody answers."""

    text: str
    when: FollowUpCondition
    preparedBy: FollowUpAuthor


class DraftFollowUps(Body):
    """The prepared follow-ups of a draft. It can be sent back as it is."""

    draftId: str
    followUps: dict[str, list[PreparedFollowUp]]


def draft_follow_ups(draft: Draft) -> DraftFollowUps:
    """Return the prepared follow-ups of a draft, in the order of its questions."""
    return {
        "draftId": draft.id,
        "followUps": {
            row["id"]: [
                {"text": each["text"], "when": each["condition"], "preparedBy": each["prepared_by"]}
                for each in row["follow_ups"]
            ]
            for row in draft.questions
            if "follow_ups" in row
        },
    }


class ReviewChange(Body):
    """A part of a draft that its creator changed."""

    kind: str
    questionId: str | None
    before: str | None
    after: str | None


class DraftReview(Body):
    """How far the creator's review of a draft has come, and what they said."""

    draftId: str
    revision: int
    state: ReviewState
    note: str | None
    reviewUrl: Uri
    changes: list[ReviewChange]


def draft_review(draft: Draft, state: ReviewState, review_url: str) -> DraftReview:
    """Return the review of a draft, with the changes that its creator made."""
    return {
        "draftId": draft.id,
        "revision": draft.revision,
        "state": state,
        "note": draft.discard_note if draft.deleted_at else draft.return_note,
        "reviewUrl": review_url,
        "changes": [
            {
                "kind": each.kind,
                "questionId": each.question_id,
                "before": each.before and each.before[:CHANGE_SHOWN_CHARS],
                "after": each.after and each.after[:CHANGE_SHOWN_CHARS],
            }
            for each in creator_changes(draft)
        ],
    }


class QuestionFollowUps(Body):
    """The prepared follow-ups to one question."""

    question: str
    prepared: list[PreparedFollowUp]


class ReviewedDraft(FormDraft, ItemPage):
    """A private draft with a page of its questions, and with where its creator reviews it."""

    followUps: NotRequired[list[QuestionFollowUps]]

    revision: int
    reviewUrl: Uri


class WatchedDraft(ReviewedDraft):
    """A private draft, and what its creator says of it."""

    confirmation: Confirmation
    state: ReviewState
    note: str | None
    changes: list[ReviewChange]
    timedOut: bool
    retryAfterMs: NotRequired[int]


class ReviewedForm(forms.PublishedForm):
    """What a draft became."""

    reviewUrl: Uri
