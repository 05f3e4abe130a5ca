"""What agents are told of the review of a draft, as types."""

from typing import Annotated, Literal, NotRequired

from typing_extensions import TypedDict

from webapp.domain.shared.limits import CHANGE_SHOWN_CHARS
from webapp.domain.shared.vocabulary import ReviewState
from webapp.wire.extension_types import ItemPage, PreparedFollowUp
from webapp.wire.types import FormDraft, PublishedForm, exactly, said

Confirmation = Literal["none", "current", "stale", "returned"]
ReviewUrl = Annotated[
    str,
    said(
        "The page where the creator reads, changes and confirms the draft. Give it to the creator.",
        format="uri",
    ),
]


State = Annotated[
    ReviewState,
    said("How far the review has come."),
]
Note = Annotated[
    str | None,
    said("Why the draft was sent back or discarded, in the words of the creator; null for none."),
]
Revision = Annotated[int, said("Raised by every change of the content.")]


@exactly
class ReviewChange(TypedDict):
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
            "1. null for nothing, and for the private context, which is never told."
        ),
    ]
    after: Annotated[str | None, said("What it is now, in the same way.")]


Changes = Annotated[
    list[ReviewChange],
    said("What the creator changed since an agent wrote last: leave it as they made it."),
]


@exactly
class DraftReview(TypedDict):
    """How far the creator's review of a draft has come, and what they said."""

    draftId: Annotated[str, said("As create returned it.")]
    revision: Revision
    state: State
    note: Note
    reviewUrl: ReviewUrl
    changes: Changes


@exactly
class QuestionFollowUps(TypedDict):
    """The prepared follow-ups to one question."""

    question: Annotated[str, said("The id of the question.")]
    prepared: Annotated[list[PreparedFollowUp], said("In the order of asking.")]


@exactly
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


@exactly
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


@exactly
class ReviewedForm(PublishedForm):
    """What a draft became."""

    reviewUrl: ReviewUrl
