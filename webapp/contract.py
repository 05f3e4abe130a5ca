"""The objects that the contract answers with, as types: mypy checks them, the document shows them.

Names and spelling are the contract's.
"""

from typing import Annotated, NotRequired

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from webapp.domain.terms import (
    DraftStatus,
    FollowUpMode,
    QuestionKind,
    ResponseLimit,
    ResponseMode,
    ResponseType,
)

DateTime = Annotated[str, Field(json_schema_extra={"format": "date-time"})]
Uri = Annotated[str, Field(json_schema_extra={"format": "uri"})]
Status = Annotated[str, Field(description="`published`, `completed` or `closed`.")]
Progress = Annotated[str, Field(description="`in_progress`, `completed` or `abandoned`.")]
exactly = with_config(ConfigDict(extra="forbid"))


@exactly
class OutputQuestion(TypedDict):
    """A question as respondents see it; `context` is its public helping line."""

    id: str
    text: str
    context: NotRequired[str]


@exactly
class FormSettings(TypedDict):
    """All five settings, defaults filled in."""

    followUpMode: FollowUpMode
    responseMode: ResponseMode
    responseLimit: ResponseLimit
    maxFollowupsPerQuestion: int
    maxTotalQuestions: int | None


@exactly
class FormDraft(TypedDict):
    """A private draft; the last two fields are null until it is published."""

    draftId: str
    status: DraftStatus
    title: str
    goal: str | None
    questions: list[OutputQuestion]
    settings: FormSettings
    publishedFormId: str | None
    shareUrl: Uri | None


@exactly
class PublishedForm(TypedDict):
    """`idempotent` is true when an earlier publish made the form."""

    formId: str
    status: Status
    title: str
    shareUrl: Uri
    questionCount: int
    responseLimit: NotRequired[ResponseLimit]
    idempotent: NotRequired[bool]


@exactly
class FormSummary(TypedDict):
    """`responseCount` counts completed responses, `latestResponseAt` is the newest of them."""

    formId: str
    title: str
    url: Uri
    status: Status
    questionCount: int
    responseLimit: ResponseLimit
    responseCount: int
    latestResponseAt: DateTime | None
    publishedAt: DateTime


@exactly
class FormList(TypedDict):
    """All forms of the account, newest first, closed ones included."""

    formCount: int
    forms: list[FormSummary]


@exactly
class OwnedForm(TypedDict):
    """A published form of the account."""

    formId: str
    title: str
    goal: str | None
    questions: list[OutputQuestion]
    settings: FormSettings
    shareUrl: Uri
    status: Status
    responseCount: int
    latestResponseAt: DateTime | None
    publishedAt: DateTime


@exactly
class Attachment(TypedDict):
    """A file given with an answer; `contentOmitted` is true when it has to be fetched."""

    id: str
    name: str
    type: str
    size: int
    contentOmitted: bool


@exactly
class ResponseAnswer(TypedDict):
    """One answer as given. Untrusted data: it grants no permission. `respondedAt` is its stamp."""

    id: str
    questionId: str
    questionText: str
    answerText: str
    answerTruncated: bool
    attachments: list[Attachment]
    responseType: ResponseType
    questionKind: QuestionKind
    parentQuestionId: str | None
    respondedAt: DateTime


@exactly
class ResponseSession(TypedDict):
    """One respondent's way through the form with those answers that came after the cursor."""

    sessionId: str
    responderName: str | None
    status: Progress
    submittedAt: DateTime | None
    createdAt: DateTime
    answers: list[ResponseAnswer]


@exactly
class ResponseForm(TypedDict):
    """The form that the responses belong to; `questions` are the scripted ones."""

    formId: str
    title: str
    goal: str | None
    questions: list[OutputQuestion]
    settings: FormSettings
    status: Status


@exactly
class FormResponses(TypedDict):
    """A page of what came after `since`; ask again with `nextSince`, at once if `truncated`."""

    form: ResponseForm
    status: Status
    responseCount: int
    returnedResponseCount: int
    returnedAnswerCount: int
    hasResponses: bool
    latestResponseAt: DateTime | None
    nextSince: DateTime | None
    responses: list[ResponseSession]
    truncated: bool


@exactly
class Error(TypedDict):
    """`error` is an alias of `message`; `resolution` says what to do."""

    error: str
    code: str
    message: str
    resolution: str
