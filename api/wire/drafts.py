"""Private drafts, their prepared follow-ups and reviews, as agents read them."""

from typing import Annotated, Literal, NotRequired

from api.wire import forms
from api.wire.types import Body, ItemPage, said
from webapp.base.vocabulary import DraftStatus, FollowUpAuthor, FollowUpCondition, ReviewState
from webapp.drafts.reviews import CreatorChange, creator_changes, review_note
from webapp.records.content import model as content
from webapp.records.drafts import Draft
from webapp.records.forms import FormLink

CHANGE_SHOWN_CHARS = 500  # of each text that a creator changed, for its agent
IDEMPOTENCY_KEY_MAX_CHARS = 255  # as Stripe


Confirmation = Literal["none", "current", "stale", "returned"]
ReviewUrl = Annotated[
    str,
    said(
        "The page where the creator reads, changes and confirms the draft. Give it to the creator.",
        format="uri",
    ),
]
State = Annotated[ReviewState, said("How far the review has come.")]
Note = Annotated[
    str | None,
    said("Why the draft was sent back or discarded, in the words of the creator; null for none."),
]
Revision = Annotated[int, said("Raised by every change of the content.")]


class FormDraft(Body):
    """A private draft. The private context is never returned."""

    draftId: Annotated[str, said("The id of the draft, for the paths of drafts.")]
    status: Annotated[DraftStatus, said("`published` once the draft became a form.")]
    title: Annotated[str, said('The heading that respondents will read; `""` while there is none.')]
    goal: forms.Goal
    questions: Annotated[
        list[forms.OutputQuestion], said("The questions in their order; `[]` while there are none.")
    ]
    settings: forms.Settings
    publishedFormId: Annotated[
        str | None, said("The id of the form that the draft became; null until then.")
    ]
    shareUrl: Annotated[
        str | None, said("The public link of that form; null until then.", format="uri")
    ]


def form_draft(draft: Draft, public_url: str, form: FormLink | None = None) -> FormDraft:
    """A draft; `form` is what it became when it is published."""
    return {
        "draftId": draft.id,
        "status": draft.status,
        "title": draft.title,
        "goal": draft.goal,
        "questions": forms.shown_questions(draft),
        "settings": forms.form_settings(draft),
        "publishedFormId": form.id if form else None,
        "shareUrl": forms.share_url(public_url, form.share_token) if form else None,
    }


class PreparedFollowUp(Body):
    """A follow-up to one question, written before anybody answers."""

    text: Annotated[str, said("What is asked.")]
    when: Annotated[FollowUpCondition, said("After which answers.")]
    preparedBy: Annotated[FollowUpAuthor, said("Who wrote it as it is.")]


class DraftFollowUps(Body):
    """The prepared follow-ups of a draft. It can be sent back as it is."""

    draftId: Annotated[str, said("As create returned it.")]
    followUps: Annotated[
        dict[str, list[PreparedFollowUp]],
        said("Those of each question that has any, by its id, in the order of asking."),
    ]


def draft_follow_ups(draft: Draft) -> DraftFollowUps:
    """The prepared follow-ups of a draft, in the order of its questions."""
    return {
        "draftId": draft.id,
        "followUps": {
            row["id"]: [_prepared(each) for each in row["follow_ups"]]
            for row in draft.questions
            if "follow_ups" in row
        },
    }


def _prepared(of: content.PreparedFollowUp) -> PreparedFollowUp:
    return {"text": of["text"], "when": of["condition"], "preparedBy": of["prepared_by"]}


class ReviewChange(Body):
    """A part of a draft that its creator changed."""

    kind: Annotated[
        str,
        said(
            "`title`, `reason` (why people are asked), `goal`, `context` or the name of a "
            "setting; of a question `question_added`, "
            "`question_removed`, `question_moved`, `question_text`, `question_context`, "
            "`question_follow_ups` (one line each, `when: text`) or `question_note`: what they ask "
            "of it, in `after`. Expect further words."
        ),
    ]
    questionId: Annotated[str | None, said("The id of the question; null for what is of none.")]
    before: Annotated[
        str | None,
        said(
            f"What it was, cut at {CHANGE_SHOWN_CHARS} code points; of a move the position, from "
            "1. null for nothing, and for the private context, which is never shown."
        ),
    ]
    after: Annotated[str | None, said("What it is now, in the same way.")]


Changes = Annotated[
    list[ReviewChange],
    said("What the creator changed since an agent wrote last: leave it as they made it."),
]


class DraftReview(Body):
    """How far the creator's review of a draft has come, and what they said."""

    draftId: Annotated[str, said("As create returned it.")]
    revision: Revision
    state: State
    note: Note
    reviewUrl: ReviewUrl
    changes: Changes


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


class QuestionFollowUps(Body):
    """The prepared follow-ups to one question."""

    question: Annotated[str, said("The id of the question.")]
    prepared: Annotated[list[PreparedFollowUp], said("In the order of asking.")]


class ReviewedDraft(FormDraft, ItemPage):
    """A private draft with a page of its questions, and with where its creator reviews it."""

    followUps: NotRequired[
        Annotated[
            list[QuestionFollowUps],
            said("The prepared follow-ups to the questions of this page that have any."),
        ]
    ]

    revision: Revision
    reviewUrl: ReviewUrl


class WatchedDraft(ReviewedDraft):
    """A private draft, and what its creator says of it."""

    confirmation: Annotated[
        Confirmation,
        said(
            "`current` when it can be published, `stale` when it changed after it was confirmed, "
            "`returned` when the creator sent it back."
        ),
    ]
    state: State
    note: Note
    changes: Changes
    timedOut: Annotated[bool, said("True when nothing happened in the time waited for.")]
    retryAfterMs: NotRequired[
        Annotated[int, said("There was no place to wait: ask again after so many milliseconds.")]
    ]


class ReviewedForm(forms.PublishedForm):
    """What a draft became."""

    reviewUrl: ReviewUrl
