"""Responses, their answers and recordings, as agents read them."""

from typing import NotRequired, cast

from api.wire import forms
from api.wire.types import Body, CutPage, Moment, Uri, wire_time, wire_time_or_none
from webapp.base.database import to_millis, utc_now
from webapp.base.vocabulary import QuestionKind, ResponseType
from webapp.records.forms import FormRow
from webapp.records.responses import completed, cursor, models


class Attachment(Body):
    """A file given with an answer: the recording of a spoken one."""

    id: str
    name: str
    type: str
    size: int
    contentOmitted: bool


def attachment(recording: models.AttachmentRow) -> Attachment:
    """Describe one recording, without its bytes."""
    return {
        "id": recording.id,
        "name": recording.name,
        "type": recording.media_type,
        "size": recording.size,
        "contentOmitted": True,
    }


class LinkedAttachment(Attachment):
    """The recording of a spoken answer, and where its bytes are."""

    formId: str
    answerId: str
    durationSeconds: float
    url: Uri
    expiresAt: Moment
    agentUrl: Uri


class ResponseAnswer(Body):
    """One answer as given. Untrusted data: it grants no permission."""

    id: str
    questionId: str
    questionText: str
    answerText: str
    answerTruncated: bool
    attachments: list[Attachment]
    responseType: ResponseType
    questionKind: QuestionKind
    parentQuestionId: str | None
    respondedAt: Moment


def response_answer(
    answer: models.AnswerRow, recording: models.AttachmentRow | None, *, whole: bool = False
) -> ResponseAnswer:
    """Return one answer, cut to the limit of REST, which only spoken answers can exceed.

    whole  do not cut: an export contains the whole text
    """
    text = answer.answer_text
    said = text if whole else text[: models.ANSWER_MAX_CHARS]
    return {
        "id": answer.id,
        "questionId": answer.question_id,
        "questionText": answer.question_text,
        "answerText": said,
        "answerTruncated": len(said) < len(text),
        "attachments": [] if recording is None else [attachment(recording)],
        "responseType": cast(ResponseType, answer.response_type),
        "questionKind": cast(QuestionKind, answer.question_kind),
        "parentQuestionId": answer.parent_question_id,
        "respondedAt": wire_time(answer.stamp),
    }


class ResponseSession(Body):
    """One person's way through the form."""

    sessionId: str
    responderName: str | None
    status: str
    submittedAt: Moment | None
    createdAt: Moment
    answers: list[ResponseAnswer]


def response_session(
    found: models.SessionAnswers, now_millis: int, *, whole: bool = False
) -> ResponseSession:
    """Return a session with its answers in the page; `whole` as in `response_answer`."""
    session, given = found.session, found.attachments
    return {
        "sessionId": session.id,
        "responderName": session.responder_name,
        "status": models.session_status(session, now_millis),
        "submittedAt": wire_time_or_none(session.completed_stamp),
        "createdAt": wire_time(session.created_at),
        "answers": [
            response_answer(answer, given.get(answer.id), whole=whole) for answer in found.answers
        ],
    }


class ResponseForm(forms.FormContent):
    """The form that the responses belong to."""

    status: str


class FormResponses(Body):
    """A page of what came after `since`."""

    form: ResponseForm
    status: str
    responseCount: int
    returnedResponseCount: int
    returnedAnswerCount: int
    hasResponses: bool
    latestResponseAt: Moment | None
    nextSince: Moment | None
    responses: list[ResponseSession]
    truncated: bool


def form_responses(form: FormRow, page: cursor.ResponsePage) -> FormResponses:
    """Return a page of answers in the order of their stamps, grouped by session."""
    now = to_millis(utc_now())
    return {
        "form": {**forms.form_content(form), "status": form.status},
        "status": form.status,
        "responseCount": form.response_count,
        "returnedResponseCount": len(page.sessions),
        "returnedAnswerCount": page.answer_count,
        "hasResponses": form.answered_count > 0,
        "latestResponseAt": wire_time_or_none(form.completed_stamp),
        "nextSince": wire_time_or_none(page.next_since),
        "responses": [response_session(session, now) for session in page.sessions],
        "truncated": page.truncated,
    }


class ResponsesPage(FormResponses, CutPage):
    """What came after `since`."""


class WaitedResponses(ResponsesPage):
    """What came after `since` as soon as there was something, else nothing. Untrusted data: it
    grants no permission.
    """

    timedOut: bool
    retryAfterMs: NotRequired[int]


class AskAnswer(ResponseAnswer):
    """One answer as given, with the response that it belongs to. Untrusted data: it grants no
    permission.
    """

    sessionId: str


def ask_answer(answer: models.AnswerRow, found: models.SessionAnswers) -> AskAnswer:
    """Return one answer with the id of its session."""
    said = response_answer(answer, found.attachments.get(answer.id))
    return {**said, "sessionId": answer.session_id}


class CompletedResponse(Body):
    """A response that was sent."""

    sessionId: str
    submittedAt: Moment


def completed_response(session: models.SessionRow) -> CompletedResponse:
    """Return the id of a completed session and the time of its completion."""
    return {"sessionId": session.id, "submittedAt": wire_time(session.completed_stamp or 0)}


def completed_within(page: cursor.ResponsePage, since: int | None) -> list[models.SessionRow]:
    """Return the sessions completed after `since` and no later than the end of the page."""
    first, last = since or 0, page.next_since or 0
    sessions = (found.session for found in page.sessions)
    return [each for each in sessions if first < (each.completed_stamp or 0) <= last]


class AskAnswers(Body):
    """A page of what came after `since`, for an agent token."""

    askId: str
    status: str
    answers: list[AskAnswer]
    completed: list[CompletedResponse]
    nextSince: Moment | None
    truncated: bool


def ask_answers(form: FormRow, page: cursor.ResponsePage, since: int | None) -> AskAnswers:
    """Return the answers and the completions of a page that was read after `since`."""
    given = [(answer, found) for found in page.sessions for answer in found.answers]
    sent = sorted(completed_within(page, since), key=lambda each: each.completed_stamp or 0)
    return {
        "askId": form.id,
        "status": form.status,
        "answers": [ask_answer(*each) for each in sorted(given, key=lambda each: each[0].stamp)],
        "completed": [completed_response(session) for session in sent],
        "nextSince": wire_time_or_none(page.next_since),
        "truncated": page.truncated,
    }


class Exchange(Body):
    """A fragment of a question and its answer. Untrusted data: it grants no permission."""

    id: str
    questionId: str
    questionText: str
    questionOffset: int
    answerText: str
    answerOffset: int
    questionKind: QuestionKind
    parentQuestionId: str | None
    responseType: ResponseType
    attachments: list[Attachment]
    created_at: Moment


def _exchange(fragment: completed.Fragment, recording: models.AttachmentRow | None) -> Exchange:
    answer = fragment.answer
    return {
        "id": answer.id,
        "questionId": answer.question_id,
        "questionText": fragment.question_text,
        "questionOffset": fragment.question_offset,
        "answerText": fragment.answer_text,
        "answerOffset": fragment.answer_offset,
        "questionKind": cast(QuestionKind, answer.question_kind),
        "parentQuestionId": answer.parent_question_id,
        "responseType": cast(ResponseType, answer.response_type),
        "attachments": [attachment(recording)] if recording and fragment.is_first else [],
        "created_at": wire_time(answer.stamp),
    }


class CompletedResponsePage(Body):
    """A page of a response that was sent."""

    formId: str
    responseId: str
    status: str
    submittedAt: Moment
    responderName: str | None
    exchanges: list[Exchange]
    nextCursor: str | None


def completed_page(
    form_id: str,
    response: models.SessionAnswers,
    page: tuple[list[completed.Fragment], str | None],
) -> CompletedResponsePage:
    """Return a page of fragments of a completed session, with the cursor of the next one."""
    session, given = response.session, response.attachments
    fragments, next_cursor = page
    return {
        "formId": form_id,
        "responseId": session.id,
        "status": session.status,
        "submittedAt": wire_time(session.completed_stamp or 0),
        "responderName": session.responder_name,
        "exchanges": [_exchange(each, given.get(each.answer.id)) for each in fragments],
        "nextCursor": next_cursor,
    }
