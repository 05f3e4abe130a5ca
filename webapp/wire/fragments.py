"""A completed response in fragments, put together here alone."""

from typing import cast

from webapp.domain.responses.completed import FragmentsRead
from webapp.domain.responses.fragments import Fragment
from webapp.domain.responses.models import AttachmentRow, SessionAnswers
from webapp.domain.shared.vocabulary import QuestionKind, ResponseType
from webapp.wire.attachments import attachment
from webapp.wire.extension_types import CompletedResponsePage, Exchange
from webapp.wire.timestamps import wire_time


def completed_page(
    form_id: str, response: SessionAnswers, page: FragmentsRead
) -> CompletedResponsePage:
    """A page of fragments of a completed session."""
    session, given = response.session, response.attachments
    return {
        "formId": form_id,
        "responseId": session.id,
        "status": session.status,
        "submittedAt": wire_time(session.completed_stamp or 0),
        "responderName": session.responder_name,
        "exchanges": [_exchange(each, given.get(each.answer.id)) for each in page.fragments],
        "nextCursor": page.next_cursor,
    }


def _exchange(fragment: Fragment, recording: AttachmentRow | None) -> Exchange:
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
