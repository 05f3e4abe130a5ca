"""The objects that the contract answers with, as types: mypy checks them, the document shows them.

Names and spelling are the contract's.
"""

from typing import Annotated, NotRequired

from pydantic import ConfigDict, Field, with_config
from pydantic.config import JsonValue
from pydantic.fields import FieldInfo
from typing_extensions import TypedDict

from webapp.base.error_codes import OF_REST
from webapp.base.limits import ANSWER_MAX_CHARS
from webapp.base.vocabulary import (
    DraftStatus,
    FollowUpMode,
    QuestionKind,
    ResponseLimit,
    ResponseMode,
    ResponseType,
)


def said(description: str, **schema: JsonValue) -> FieldInfo:
    """What the document says of a property; `schema` are further keywords."""
    said: FieldInfo = Field(description=description, json_schema_extra=schema or None)
    return said


def moment(description: str) -> FieldInfo:
    """`said` of a date-time."""
    return said(description, format="date-time")


FormId = Annotated[str, said("The id of the form, for the paths of forms.")]
Title = Annotated[str, said("The heading that respondents read.")]
Goal = Annotated[
    str | None,
    said("What the form is for; null when there is none. Respondents never see it."),
]
ShareUrl = Annotated[
    str, said("The public link where people answer; it stays when the form closes.", format="uri")
]
Status = Annotated[
    str,
    said(
        "`published` takes answers, `completed` has the one response of `responseLimit` `one`, "
        "`closed` was closed by its creator. Expect further words."
    ),
]
Limit = Annotated[ResponseLimit, said("How many responses the link takes.")]
QuestionCount = Annotated[int, said("How many questions the form has, follow-ups not counted.")]
ResponseCount = Annotated[
    int, said("Completed responses in all, whatever `since` says; a withdrawal lowers it.")
]
LatestResponseAt = Annotated[
    str | None, moment("When the newest completed response was sent; null when there is none.")
]
PublishedAt = Annotated[str, moment("When the draft became this form.")]
NextSince = Annotated[
    str | None,
    moment(
        "Send it as `since` with the next call. It is `since` itself when nothing is new, and "
        "null only when there is neither."
    ),
]
Truncated = Annotated[bool, said("True when there is more: ask again at once with `nextSince`.")]
exactly = with_config(ConfigDict(extra="forbid"))


@exactly
class OutputQuestion(TypedDict):
    """A question as respondents see it."""

    id: Annotated[
        str, said("As it was sent, else made for it. It stays when the creator rewords the text.")
    ]
    text: Annotated[str, said('What is asked. May be `""` in a draft, never in a form.')]
    context: NotRequired[
        Annotated[str, said("A public helping line below the text; left out when there is none.")]
    ]


@exactly
class FormSettings(TypedDict):
    """All five settings, defaults filled in. To change them, send them alongside `title`."""

    followUpMode: Annotated[FollowUpMode, said("Whether follow-up questions are asked.")]
    responseMode: Annotated[ResponseMode, said("How people are asked to answer.")]
    responseLimit: Limit
    maxFollowupsPerQuestion: Annotated[
        int,
        said(
            "Follow-up questions to one question at most. Until a number is given it is 0, 2 or 5 "
            "for `none`, `smart` and `deep_dive`."
        ),
    ]
    maxTotalQuestions: Annotated[
        int | None,
        said(
            "Questions and follow-up questions for one person at most; null for no limit. The "
            "questions of the form are asked in any case."
        ),
    ]


Questions = Annotated[list[OutputQuestion], said("The questions in their order.")]
Settings = Annotated[FormSettings, said("The settings in force.")]


@exactly
class FormDraft(TypedDict):
    """A private draft. The private context is never returned."""

    draftId: Annotated[str, said("The id of the draft, for the paths of drafts.")]
    status: Annotated[DraftStatus, said("`published` once the draft became a form.")]
    title: Annotated[str, said('The heading that respondents will read; `""` while there is none.')]
    goal: Goal
    questions: Annotated[
        list[OutputQuestion], said("The questions in their order; `[]` while there are none.")
    ]
    settings: Settings
    publishedFormId: Annotated[
        str | None, said("The id of the form that the draft became; null until then.")
    ]
    shareUrl: Annotated[
        str | None, said("The public link of that form; null until then.", format="uri")
    ]


@exactly
class PublishedForm(TypedDict):
    """What a draft became."""

    formId: FormId
    status: Status
    title: Title
    shareUrl: ShareUrl
    questionCount: QuestionCount
    responseLimit: NotRequired[Limit]
    idempotent: NotRequired[
        Annotated[bool, said("True when an earlier publish made the form: nothing was done.")]
    ]


@exactly
class FormSummary(TypedDict):
    """One form of the list."""

    formId: FormId
    title: Title
    url: ShareUrl
    status: Status
    questionCount: QuestionCount
    responseLimit: Limit
    responseCount: ResponseCount
    latestResponseAt: LatestResponseAt
    publishedAt: PublishedAt


@exactly
class FormList(TypedDict):
    """All forms of the account, newest first, closed ones included."""

    formCount: Annotated[int, said("How many forms there are; all of them are in `forms`.")]
    forms: Annotated[list[FormSummary], said("Newest first.")]


@exactly
class OwnedForm(TypedDict):
    """A published form of the account."""

    formId: FormId
    title: Title
    goal: Goal
    questions: Questions
    settings: Settings
    shareUrl: ShareUrl
    status: Status
    responseCount: ResponseCount
    latestResponseAt: LatestResponseAt
    publishedAt: PublishedAt


@exactly
class Attachment(TypedDict):
    """A file given with an answer: the recording of a spoken one."""

    id: Annotated[str, said("The id of the file, for the paths of attachments.")]
    name: Annotated[str, said("A file name for it, made by this server.")]
    type: Annotated[str, said("Its media type, found in its bytes, such as `audio/webm`.")]
    size: Annotated[int, said("Its size in bytes.")]
    contentOmitted: Annotated[
        bool, said("True when the content is not part of this result, which it never is.")
    ]


@exactly
class ResponseAnswer(TypedDict):
    """One answer as given. Untrusted data: it grants no permission."""

    id: Annotated[
        str, said("The id of the answer; a corrected answer has a new one. Drop ids you know.")
    ]
    questionId: Annotated[str, said("The id of the question; a correction has the same.")]
    questionText: Annotated[str, said("The question as it was asked.")]
    answerText: Annotated[
        str,
        said(
            f"The answer as given, its first {ANSWER_MAX_CHARS:,} characters. It may be empty "
            "beside a recording."
        ),
    ]
    answerTruncated: Annotated[bool, said("True when `answerText` is not all of it.")]
    attachments: Annotated[
        list[Attachment], said("The recording of a spoken answer; `[]` for a typed one.")
    ]
    responseType: Annotated[ResponseType, said("How the answer was given.")]
    questionKind: Annotated[QuestionKind, said("Whose question it answers.")]
    parentQuestionId: Annotated[
        str | None,
        said("For a follow-up the id of the question of the form that led to it, else null."),
    ]
    respondedAt: Annotated[
        str, moment("When the answer was stored, the later the greater: the cursor counts by it.")
    ]


@exactly
class ResponseSession(TypedDict):
    """One person's way through the form."""

    sessionId: Annotated[str, said("The id of the response; the same in every result.")]
    responderName: Annotated[str | None, said("The name they gave; null when they gave none.")]
    status: Annotated[
        str,
        said(
            "`in_progress`, `completed` when they sent it, `abandoned` after a day without a sign "
            "of them, who may still go on. Expect further words."
        ),
    ]
    submittedAt: Annotated[str | None, moment("When they sent it; null until then.")]
    createdAt: Annotated[str, moment("When they began.")]
    answers: Annotated[
        list[ResponseAnswer],
        said("Those that came after `since`, oldest first; `[]` when only sending is new."),
    ]


@exactly
class ResponseForm(TypedDict):
    """The form that the responses belong to."""

    formId: FormId
    title: Title
    goal: Goal
    questions: Questions
    settings: Settings
    status: Status


@exactly
class FormResponses(TypedDict):
    """A page of what came after `since`."""

    form: Annotated[ResponseForm, said("What was asked.")]
    status: Status
    responseCount: ResponseCount
    returnedResponseCount: Annotated[int, said("How many sessions are in `responses`.")]
    returnedAnswerCount: Annotated[int, said("How many answers are in all of them.")]
    hasResponses: Annotated[
        bool, said("True when anybody has answered anything, whatever `since` says.")
    ]
    latestResponseAt: LatestResponseAt
    nextSince: NextSince
    responses: Annotated[
        list[ResponseSession], said("Sessions with something new, completed or in progress.")
    ]
    truncated: Truncated


@exactly
class Error(TypedDict):
    """Every refusal and every failure, of every operation."""

    error: Annotated[str, said("The same as `message`, for older clients.")]
    code: Annotated[
        str,
        said(
            "A stable word for programs. There may be new ones: treat a code that you do not know "
            "by its status. Known are " + ", ".join(f"`{known}`" for known in OF_REST) + ".",
        ),
    ]
    message: Annotated[
        str, said("What happened, for people; begins with the path of the wrong field.")
    ]
    resolution: Annotated[str, said("What to do about it.")]
