"""Every code of a refusal. Those of the API are documented from here."""

from enum import StrEnum
from http import HTTPStatus
from typing import Self


class ErrorCode(StrEnum):
    """A refusal that the API gives, and that pages may give as well.

    status    of the answer of the API; pages have their own
    meaning   completes "This is answered when …"
    remedy    what to do

    Words of programs are between backticks in both texts.
    """

    status: HTTPStatus
    meaning: str
    remedy: str

    def __new__(cls, code: str, status: HTTPStatus, meaning: str, remedy: str) -> Self:
        member = str.__new__(cls, code)
        member._value_ = code
        member.status, member.meaning, member.remedy = status, meaning, remedy
        return member

    INVALID_JSON = (
        "invalid_json",
        HTTPStatus.BAD_REQUEST,
        "the body is not one JSON object in UTF-8, or its content type is not `application/json`",
        "Send a JSON object with `Content-Type: application/json`, not compressed.",
    )
    VALIDATION_FAILED = (
        "validation_failed",
        HTTPStatus.BAD_REQUEST,
        "a value has the wrong type or is out of its bounds; the message begins with the path of"
        " the field and says what was sent and what is allowed",
        "Correct the field that the message names, and those that the resolution names.",
    )
    UNKNOWN_FIELD = (
        "unknown_field",
        HTTPStatus.BAD_REQUEST,
        "an object holds a field that the contract does not know, as `settings` of an answer sent"
        " back",
        "Remove the field. What is inside `settings` is sent as fields of the body itself.",
    )
    CONTEXT_REQUIRED = (
        "context_required",
        HTTPStatus.BAD_REQUEST,
        "`followUpMode` is `smart` and the draft has no private `context`",
        "Send `context` with it, or another `followUpMode`.",
    )
    INVALID_SINCE = (
        "invalid_since",
        HTTPStatus.BAD_REQUEST,
        "`since` is not an RFC 3339 date-time with an offset",
        "Send the `nextSince` of an earlier result unchanged.",
    )
    INVALID_CURSOR = (
        "invalid_cursor",
        HTTPStatus.BAD_REQUEST,
        "the `cursor` of a tool was altered, is of another object or account, or what it names was"
        " changed or taken away since",
        "Begin again: call the tool without `cursor`, and drop the pages read so far.",
    )
    INVALID_TEXT = (
        "invalid_text",
        HTTPStatus.BAD_REQUEST,
        "a text holds `U+0000`, half of a surrogate pair, or (in titles and ids) a control or"
        " text-direction character; the message says which and where",
        "Send the text without that character.",
    )
    PAYLOAD_TOO_LARGE = (
        "payload_too_large",
        HTTPStatus.BAD_REQUEST,
        "the body is larger than 256 KiB, into which all questions of a draft have to fit together",
        "Send less text.",
    )
    IDEMPOTENCY_KEY_REUSED = (
        "idempotency_key_reused",
        HTTPStatus.BAD_REQUEST,
        "the `Idempotency-Key` was used within a day, with another body, or for a draft that its"
        " creator discarded or whose form they deleted",
        "Use a new key, or repeat the first body exactly. After a discard, ask the creator first.",
    )
    CALLBACK_FAILED = (
        "callback_failed",
        HTTPStatus.BAD_REQUEST,
        "the address of a subscription did not answer its challenge. The message names one of"
        " six reasons: `connection_refused` (also for names that lead into a private network),"
        " `timeout`, `tls_error`, `http_4xx`, `http_5xx`, or `challenge_failed` for any other"
        " answer; and status, length and type of what came instead",
        "Let the address send back the `challenge` that it is sent as JSON, or, where it answers"
        " 200 to 299 but cannot, let its creator confirm it on the page Agents; then subscribe"
        " again.",
    )
    AUTHENTICATION_REQUIRED = (
        "authentication_required",
        HTTPStatus.UNAUTHORIZED,
        "there is no valid access token, or it lacks the scope of the operation; below `/agent`,"
        " there is no live agent token",
        "Complete OAuth as the `WWW-Authenticate` header says, then retry with the required scope."
        " Below `/agent`, get a new agent token.",
    )
    DRAFT_NOT_FOUND = (
        "draft_not_found",
        HTTPStatus.NOT_FOUND,
        "the account has no draft with this `draftId`, or its creator discarded it: for a day the"
        " message then says when, and what they wrote",
        "Use the `draftId` that creating the draft returned. After a discard, ask the creator.",
    )
    FORM_NOT_FOUND = (
        "form_not_found",
        HTTPStatus.NOT_FOUND,
        "the account has no form with this `formId`, its creator deleted it, or the agent token is"
        " for another one",
        "Use a `formId` that publishing or listing forms returned, and with an agent token the one"
        " that it was made for.",
    )
    NOT_FOUND = (
        "not_found",
        HTTPStatus.NOT_FOUND,
        "there is nothing at this address",
        "Use the paths of the OpenAPI document.",
    )
    METHOD_NOT_ALLOWED = (
        "method_not_allowed",
        HTTPStatus.METHOD_NOT_ALLOWED,
        "the address does not take this method",
        "Use a method that the `Allow` header names.",
    )
    DRAFT_NOT_CONFIRMED = (
        "draft_not_confirmed",
        HTTPStatus.CONFLICT,
        "the creator has not confirmed the draft, or sent it back: the message then quotes what"
        " they wrote",
        "Ask the creator to open the review page and confirm. `GET /drafts/{draftId}?wait=25`, or"
        " the tool `get_form_draft`, waits for it; then publish again.",
    )
    CONFIRMATION_STALE = (
        "confirmation_stale",
        HTTPStatus.CONFLICT,
        "the draft changed after the creator confirmed it",
        "Ask the creator to confirm the current revision. `GET /drafts/{draftId}?wait=25`, or the"
        " tool `get_form_draft`, waits for it; then publish again.",
    )
    DRAFT_INCOMPLETE = (
        "draft_incomplete",
        HTTPStatus.CONFLICT,
        "the draft lacks a title, a question, the words of one, or the context of smart follow-ups;"
        " the message names the fields",
        "Add what the message names, then have it confirmed and publish.",
    )
    DRAFT_ALREADY_PUBLISHED = (
        "draft_already_published",
        HTTPStatus.CONFLICT,
        "a published draft is changed",
        "Create a new draft for a changed form.",
    )
    REVISION_CONFLICT = (
        "revision_conflict",
        HTTPStatus.CONFLICT,
        "the draft is not at the revision that `If-Match` names",
        "Read the draft again, then repeat the request on its current revision.",
    )
    TOO_MANY_SUBSCRIPTIONS = (
        "too_many_subscriptions",
        HTTPStatus.CONFLICT,
        "the account has 100 live subscriptions, and one more is asked for",
        "Wait until one expires, or unsubscribe where no event is needed any more.",
    )
    RESPONSE_NOT_COMPLETED = (
        "response_not_completed",
        HTTPStatus.CONFLICT,
        "the tool `get_completed_response` is asked for a response that its respondent has not sent"
        " yet",
        "Wait until it is sent; `get_form_responses` has its answers so far.",
    )
    RANGE_NOT_SATISFIABLE = (
        "range_not_satisfiable",
        HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE,
        "the `Range` of a request for an attachment begins after its last byte",
        "Send a `Range` inside the `size` of the attachment, or none for all of it.",
    )
    RATE_LIMITED = (
        "rate_limited",
        HTTPStatus.TOO_MANY_REQUESTS,
        "too many write operations were sent",
        "Wait as many seconds as the `Retry-After` header says.",
    )
    TOO_MANY_STREAMS = (
        "too_many_streams",
        HTTPStatus.TOO_MANY_REQUESTS,
        "the agent token or its account has too many streams open, or this server has no room",
        "Close a stream, or wait as many seconds as the `Retry-After` header says; polling "
        "`/answers` needs none.",
    )
    INTERNAL_ERROR = (
        "internal_error",
        HTTPStatus.INTERNAL_SERVER_ERROR,
        "the service could not complete the request",
        "Send the same request again; if it fails again, tell the operator of the server the"
        " request id, which the `X-Request-Id` header says, too.",
    )
    STORAGE_UNAVAILABLE = (
        "storage_unavailable",
        HTTPStatus.INTERNAL_SERVER_ERROR,
        "the storage does not answer or is full; nothing was changed, unless the message says that"
        " nobody knows",
        "Send the same request again in a few seconds. With an `Idempotency-Key`, a new draft"
        " is made once.",
    )


OF_TOOLS = frozenset({ErrorCode.INVALID_CURSOR, ErrorCode.RESPONSE_NOT_COMPLETED})  # of MCP alone
OF_REST = tuple(code for code in ErrorCode if code not in OF_TOOLS)


class PageCode(StrEnum):
    """A refusal that pages alone give; some codes have a page of their own."""

    ACCOUNT_DISABLED = "account_disabled"
    ANSWER_DIFFERS = "answer_differs"
    ANSWER_EMPTY = "answer_empty"
    ANSWER_NEWER = "answer_newer"
    ANSWER_TOO_LONG = "answer_too_long"
    ANSWER_UNSENT = "answer_unsent"
    DELIVERY_UNSETTLED = "delivery_unsettled"
    EMAIL_TAKEN = "email_taken"
    FORM_CLOSED = "form_closed"
    FORM_COMPLETED = "form_completed"
    FORM_FULL = "form_full"
    FORM_UNREADABLE = "form_unreadable"
    LANGUAGE_UNKNOWN = "language_unknown"
    NAME_TOO_LONG = "name_too_long"
    NOTHING_ANSWERED = "nothing_answered"
    ORIGIN_UNREADABLE = "origin_unreadable"
    QUESTION_UNKNOWN = "question_unknown"
    RECORDING_UNKNOWN = "recording_unknown"
    RECORDINGS_FULL = "recordings_full"
    RECORDING_MISSING = "recording_missing"
    RECORDING_NO_ROOM = "recording_no_room"
    RECORDING_NOT_AUDIO = "recording_not_audio"
    RECORDING_TOO_LARGE = "recording_too_large"
    RECORDING_TOO_LONG = "recording_too_long"
    RECORDING_UNSENT = "recording_unsent"
    RESPONSE_COMPLETED = "response_completed"
    RESPONSE_WITHDRAWN = "response_withdrawn"
    REVISION_NOT_FOUND = "revision_not_found"
    SESSION_UNKNOWN = "session_unknown"
    SUBSCRIPTION_ENDED = "subscription_ended"
    TOO_BUSY = "too_busy"
    TOO_MANY_ORIGINS = "too_many_origins"
    TRANSCRIBER_CHANGED = "transcriber_changed"
    TRANSCRIPT_SETTLED = "transcript_settled"
    UNSAVED_TEXT = "unsaved_text"
    VOICE_UNAVAILABLE = "voice_unavailable"


Code = ErrorCode | PageCode
