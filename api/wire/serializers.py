"""What agents read of drafts, forms, responses and recordings."""

from collections.abc import Iterable
from dataclasses import fields
from datetime import datetime
from operator import attrgetter
from typing import cast

from pydantic.alias_generators import to_camel

from api.wire.extension_types import (
    AskAnswer,
    AskAnswers,
    CompletedResponse,
    CompletedResponsePage,
    DraftFollowUps,
    DraftReview,
    Exchange,
    LinkedAttachment,
    MadeAgentToken,
    PreparedFollowUp,
    ReviewChange,
    Subscription,
    SubscriptionList,
    SubscriptionSummary,
)
from api.wire.timestamps import wire_time
from api.wire.types import (
    Attachment,
    FormDraft,
    FormList,
    FormResponses,
    FormSettings,
    FormSummary,
    OutputQuestion,
    OwnedForm,
    PublishedForm,
    ResponseAnswer,
    ResponseForm,
    ResponseSession,
)
from webapp.base.database import to_millis, utc_now
from webapp.base.limits import ANSWER_MAX_CHARS, CHANGE_SHOWN_CHARS
from webapp.base.vocabulary import QuestionKind, ResponseLimit, ResponseType, ReviewState
from webapp.drafts.agent_tokens import MadeToken
from webapp.drafts.publishing import Published
from webapp.drafts.reviews import CreatorChange, creator_changes, review_note
from webapp.events.subscribing import Granted, SubscriptionRow
from webapp.records.content import model as content
from webapp.records.drafts import Draft
from webapp.records.forms import FormLink, FormRow, FormSummaryRow
from webapp.records.responses.completed import Fragment, FragmentsRead
from webapp.records.responses.cursor import ResponsePage
from webapp.records.responses.models import (
    AnswerRow,
    AttachmentRow,
    SessionAnswers,
    SessionRow,
    session_status,
)


def attachment(recording: AttachmentRow) -> Attachment:
    """One recording, without its bytes."""
    return {
        "id": recording.id,
        "name": recording.name,
        "type": recording.media_type,
        "size": recording.size,
        "contentOmitted": True,
    }


def linked_attachment(
    form_id: str,
    recording: AttachmentRow,
    api_url: str,
    url: str,
    expires_at: datetime,
    *,
    is_included: bool,
) -> LinkedAttachment:
    """One recording with the addresses of its bytes; `is_included`: the result holds them, too."""
    return {
        **attachment(recording),
        "contentOmitted": not is_included,
        "formId": form_id,
        "answerId": recording.answer_id,
        "durationSeconds": recording.duration_ms / 1000,
        "url": url,
        "expiresAt": wire_time(to_millis(expires_at)),
        "agentUrl": f"{api_url}/agent/asks/{form_id}/attachments/{recording.id}",
    }


# names on the wire and of the attributes
_SETTINGS = tuple((to_camel(field.name), field.name) for field in fields(content.FormSettings))
_COMPLETED = attrgetter("completed_stamp")


def share_url(public_url: str, share_token: str) -> str:
    """Where people answer the form."""
    return f"{public_url}/r/{share_token}"


def form_settings(of: content.AnyContent) -> FormSettings:
    """All settings of a draft or of a form."""
    found = content.form_settings(of)
    return cast(FormSettings, {name: getattr(found, field) for name, field in _SETTINGS})


def _questions(of: content.AnyContent) -> list[OutputQuestion]:
    """The questions without their prepared follow-ups, which have a path of their own."""
    rows = of.questions
    if any("follow_ups" in row for row in rows):
        return [
            cast(OutputQuestion, {key: row[key] for key in row if key != "follow_ups"})
            for row in cast(list[dict[str, str]], rows)
        ]
    return cast(list[OutputQuestion], rows)


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


def form_draft(draft: Draft, public_url: str, form: FormLink | None = None) -> FormDraft:
    """A draft; `form` is what it became when it is published."""
    return {
        "draftId": draft.id,
        "status": draft.status,
        "title": draft.title,
        "goal": draft.goal,
        "questions": _questions(draft),
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


def form_list(forms: Iterable[FormSummaryRow], public_url: str) -> FormList:
    """All forms of an account."""
    found = [form_summary(form, public_url) for form in forms]
    return {"formCount": len(found), "forms": found}


def form_summary(form: FormSummaryRow, public_url: str) -> FormSummary:
    """One line of the list."""
    return {
        "formId": form.id,
        "title": form.title,
        "url": share_url(public_url, form.share_token),
        "status": form.status,
        "questionCount": form.question_count,
        "responseLimit": cast(ResponseLimit, form.response_limit),
        "responseCount": form.response_count,
        "latestResponseAt": _time_or_none(form.completed_stamp),
        "publishedAt": wire_time(form.published_at),
    }


def owned_form(form: FormRow, public_url: str) -> OwnedForm:
    """One form with its counts."""
    return {
        "formId": form.id,
        "title": form.title,
        "goal": form.goal,
        "questions": _questions(form),
        "settings": form_settings(form),
        "shareUrl": share_url(public_url, form.share_token),
        "status": form.status,
        "responseCount": form.response_count,
        "latestResponseAt": _time_or_none(form.completed_stamp),
        "publishedAt": wire_time(to_millis(form.published_at)),
    }


def form_responses(form: FormRow, page: ResponsePage) -> FormResponses:
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


def ask_answers(form: FormRow, page: ResponsePage, since: int | None) -> AskAnswers:
    """The page that was read after `since`: its answers and its completions."""
    given = [(answer, found) for found in page.sessions for answer in found.answers]
    completed = sorted(completed_within(page, since), key=_COMPLETED)
    return {
        "askId": form.id,
        "status": form.status,
        "answers": [ask_answer(*each) for each in sorted(given, key=lambda each: each[0].stamp)],
        "completed": [completed_response(session) for session in completed],
        "nextSince": _time_or_none(page.next_since),
        "truncated": page.truncated,
    }


def completed_within(page: ResponsePage, since: int | None) -> list[SessionRow]:
    """The sessions whose completion is in the page: not before it, and not beyond where it ends."""
    first, last = since or 0, page.next_since or 0
    sessions = (found.session for found in page.sessions)
    return [each for each in sessions if first < (each.completed_stamp or 0) <= last]


def ask_answer(answer: AnswerRow, found: SessionAnswers) -> AskAnswer:
    """One answer of a session with the id of that."""
    said = response_answer(answer, found.attachments.get(answer.id))
    return {**said, "sessionId": answer.session_id}


def completed_response(session: SessionRow) -> CompletedResponse:
    """A session that was completed."""
    return {"sessionId": session.id, "submittedAt": wire_time(session.completed_stamp or 0)}


def made_agent_token(made: MadeToken, form_id: str, label: str, api_url: str) -> MadeAgentToken:
    """A new agent token of one form, with its text."""
    return {
        "tokenId": made.id,
        "token": made.token,
        "hint": made.hint,
        "askId": form_id,
        "label": label,
        "expiresAt": wire_time(to_millis(made.expires_at)),
        "answersUrl": f"{api_url}/agent/asks/{form_id}/answers",
    }


def response_form(form: FormRow) -> ResponseForm:
    """The form inside a page of its responses."""
    return {
        "formId": form.id,
        "title": form.title,
        "goal": form.goal,
        "questions": _questions(form),
        "settings": form_settings(form),
        "status": form.status,
    }


def response_session(
    found: SessionAnswers, now_millis: int, *, whole: bool = False
) -> ResponseSession:
    """A session with its answers in the page; `whole` as `response_answer` has it."""
    session, given = found.session, found.attachments
    return {
        "sessionId": session.id,
        "responderName": session.responder_name,
        "status": session_status(session, now_millis),
        "submittedAt": _time_or_none(session.completed_stamp),
        "createdAt": wire_time(session.created_at),
        "answers": [
            response_answer(answer, given.get(answer.id), whole=whole) for answer in found.answers
        ],
    }


def response_answer(
    answer: AnswerRow, recording: AttachmentRow | None, *, whole: bool = False
) -> ResponseAnswer:
    """One answer; only one with a recording is ever longer than the bound of REST.

    whole  for a file, which has all of it
    """
    text = answer.answer_text
    said = text if whole else text[:ANSWER_MAX_CHARS]
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


def _time_or_none(millis: int | None) -> str | None:
    return None if millis is None else wire_time(millis)


def granted_subscription(granted: Granted) -> Subscription:
    """A subscription as it was granted."""
    return {
        "subscriptionId": granted.subscription_id,
        "refreshBefore": wire_time(to_millis(granted.refresh_before)),
        "cursor": granted.cursor,
        "truncated": granted.truncated,
    }


def subscription_list(rows: Iterable[SubscriptionRow]) -> SubscriptionList:
    """The live subscriptions of a form."""
    return {"subscriptions": [_subscription(row) for row in rows]}


def _subscription(row: SubscriptionRow) -> SubscriptionSummary:
    sent_at = row.last_delivery_at
    return {
        "subscriptionId": row.id,
        "host": row.host,
        "active": row.active,
        "lastDeliveryAt": wire_time(to_millis(sent_at)) if sent_at else None,
        "lastError": row.last_failure,
        "refreshBefore": wire_time(to_millis(row.refresh_before)),
    }


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
