"""The contract's objects, one function each. Their types make the OpenAPI document, too.

They are typed for mypy and built by hand: validating our own output would cost most of a read.
A form is a row of its columns, as `webapp.domain.forms` selects them.
"""

from typing import Annotated, Any, NotRequired, cast

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from api.times import wire_time
from webapp.database import to_millis, utc_now
from webapp.domain import content
from webapp.domain.drafts import Draft
from webapp.domain.limits import ANSWER_MAX_CHARS
from webapp.domain.publishing import Published
from webapp.domain.responses import AnswerRow, ResponsePage, SessionAnswers, session_status
from webapp.domain.terms import (
    DraftStatus,
    FollowUpMode,
    FormStatus,
    QuestionKind,
    ResponseLimit,
    ResponseMode,
    ResponseType,
    SessionStatus,
)

DateTime = Annotated[str, Field(json_schema_extra={"format": "date-time"})]
Uri = Annotated[str, Field(json_schema_extra={"format": "uri"})]
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
    status: FormStatus
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
    status: FormStatus
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
    status: FormStatus
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
    status: SessionStatus
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
    status: FormStatus


@exactly
class FormResponses(TypedDict):
    """A page of what came after `since`; ask again with `nextSince`, at once if `truncated`."""

    form: ResponseForm
    status: FormStatus
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


def share_url(public_url: str, share_token: str) -> str:
    """Where people answer the form."""
    return f"{public_url}/r/{share_token}"


def form_settings(of: Any) -> FormSettings:
    """The five settings of a draft or of a form."""
    found = content.form_settings(of)
    return {
        "followUpMode": found.follow_up_mode,
        "responseMode": found.response_mode,
        "responseLimit": found.response_limit,
        "maxFollowupsPerQuestion": found.max_followups_per_question,
        "maxTotalQuestions": found.max_total_questions,
    }


def form_draft(draft: Draft, public_url: str, form: Any = None) -> FormDraft:
    """A draft; `form` is what it became when it is published."""
    return {
        "draftId": draft.id,
        "status": draft.status,
        "title": draft.title,
        "goal": draft.goal,
        "questions": cast(list[OutputQuestion], draft.questions),
        "settings": form_settings(draft),
        "publishedFormId": form.id if form else None,
        "shareUrl": share_url(public_url, form.share_token) if form else None,
    }


def published_form(published: Published, public_url: str) -> PublishedForm:
    """What a draft became."""
    form = published.form
    return {
        "formId": form.id,
        "status": form.status,
        "title": form.title,
        "shareUrl": share_url(public_url, form.share_token),
        "questionCount": len(form.questions),
        "responseLimit": form.response_limit,
        "idempotent": published.repeated,
    }


def form_summary(form: Any, public_url: str) -> FormSummary:
    """One line of the list."""
    return {
        "formId": form.id,
        "title": form.title,
        "url": share_url(public_url, form.share_token),
        "status": form.status,
        "questionCount": len(form.questions),
        "responseLimit": form.response_limit,
        "responseCount": form.response_count,
        "latestResponseAt": _time_or_none(form.completed_stamp),
        "publishedAt": wire_time(to_millis(form.published_at)),
    }


def owned_form(form: Any, public_url: str) -> OwnedForm:
    """One form with its counts."""
    return {
        "formId": form.id,
        "title": form.title,
        "goal": form.goal,
        "questions": form.questions,
        "settings": form_settings(form),
        "shareUrl": share_url(public_url, form.share_token),
        "status": form.status,
        "responseCount": form.response_count,
        "latestResponseAt": _time_or_none(form.completed_stamp),
        "publishedAt": wire_time(to_millis(form.published_at)),
    }


def form_responses(form: Any, page: ResponsePage) -> FormResponses:
    """A page of answers in the order of their stamps, grouped by session."""
    now = to_millis(utc_now())
    return {
        "form": response_form(form),
        "status": form.status,
        "responseCount": form.response_count,
        "returnedResponseCount": len(page.sessions),
        "returnedAnswerCount": page.answer_count,
        "hasResponses": form.answered_count > 0,
        "latestResponseAt": _time_or_none(form.completed_stamp),
        "nextSince": _time_or_none(page.next_since),
        "responses": [response_session(session, now) for session in page.sessions],
        "truncated": page.truncated,
    }


def response_form(form: Any) -> ResponseForm:
    """The form inside a page of its responses."""
    return {
        "formId": form.id,
        "title": form.title,
        "goal": form.goal,
        "questions": form.questions,
        "settings": form_settings(form),
        "status": form.status,
    }


def response_session(found: SessionAnswers, now_millis: int) -> ResponseSession:
    """A session with its answers in the page."""
    session = found.session
    return {
        "sessionId": session.id,
        "responderName": session.responder_name,
        "status": session_status(session, now_millis),
        "submittedAt": _time_or_none(session.completed_stamp),
        "createdAt": wire_time(session.created_at),
        "answers": [response_answer(answer) for answer in found.answers],
    }


def response_answer(answer: AnswerRow) -> ResponseAnswer:
    """One answer. Typed ones are never longer than the bound of REST."""
    text = answer.answer_text
    return {
        "id": answer.id,
        "questionId": answer.question_id,
        "questionText": answer.question_text,
        "answerText": text[:ANSWER_MAX_CHARS],
        "answerTruncated": len(text) > ANSWER_MAX_CHARS,
        "attachments": [],
        "responseType": cast(ResponseType, answer.response_type),
        "questionKind": cast(QuestionKind, answer.question_kind),
        "parentQuestionId": answer.parent_question_id,
        "respondedAt": wire_time(answer.stamp),
    }


def _time_or_none(millis: int | None) -> str | None:
    return None if millis is None else wire_time(millis)
