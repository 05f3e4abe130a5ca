"""An example of each refusal, in the words that the server uses."""

from api.openapi.parameters import DRAFT_ID
from webapp.domain.content.draft_input import FIELDS
from webapp.domain.shared.error_codes import ErrorCode
from webapp.wire.types import Error

CONTEXT = (
    "Send `context` with a summary of what the follow-ups should know, or another followUpMode."
)
TEXTS = (
    "Send the text without that character. Titles, labels and ids are one line without control "
    "characters; other texts may hold line breaks."
)
REMOVE = f"Remove the field; those of this object are {', '.join(FIELDS[:-1])} and {FIELDS[-1]}."
SIZE = (
    "Send less text: question texts have no limit of their own, but all questions of a draft "
    "together must fit into 256 KiB."
)
SINCE = (
    "Send the nextSince of an earlier result unchanged, as 2026-11-21T10:40:00.123Z; leave since "
    "out as long as nextSince is null."
)
NOT_CONFIRMED = (
    "Ask the creator to open the draft and confirm it, then retry. The review page is "
    f"{{origin}}/drafts/{DRAFT_ID} and GET {{origin}}/api/drafts/{DRAFT_ID}?wait=25 waits until "
    "it is confirmed."
)
STALE = NOT_CONFIRMED.replace(
    "open the draft and confirm it", "read and confirm the current revision"
)
OAUTH = (
    "Complete OAuth as the WWW-Authenticate header says, with the scope forms:read forms:write "
    "responses:read, and retry with the header Authorization: Bearer and the access token."
)
FAULT = (
    "Send the same request again; if it fails again, tell the operator of this server the "
    "request id 7d0e2b4c6a8f1e3d."
)

# code, message, resolution; {origin} stands for the public address
_SAID = (
    (
        ErrorCode.INVALID_JSON,
        "body: is not JSON at line 1, column 12.",
        "Send one JSON object in UTF-8 (RFC 8259).",
    ),
    (
        ErrorCode.VALIDATION_FAILED,
        "title: has 134 characters; at most 120 are allowed.",
        "Correct the field and send the request again.",
    ),
    (ErrorCode.UNKNOWN_FIELD, "colour: is not a field of this object.", REMOVE),
    (ErrorCode.CONTEXT_REQUIRED, "context: smart follow-ups need a private context.", CONTEXT),
    (
        ErrorCode.INVALID_SINCE,
        'since: is "yesterday"; an RFC 3339 date-time with an offset is needed.',
        SINCE,
    ),
    (ErrorCode.INVALID_TEXT, "title: contains the control character U+000A at character 9.", TEXTS),
    (ErrorCode.PAYLOAD_TOO_LARGE, "body: is larger than 256 KiB.", SIZE),
    (
        ErrorCode.IDEMPOTENCY_KEY_REUSED,
        "Idempotency-Key: was used with another body.",
        "Use a new key for a new draft, or repeat the first body exactly.",
    ),
    (
        ErrorCode.CALLBACK_FAILED,
        "url: did not answer the challenge (connection_refused).",
        "Give the address a host name that has public network addresses only, and something that "
        "listens there.",
    ),
    (ErrorCode.AUTHENTICATION_REQUIRED, "This call needs an access token.", OAUTH),
    (
        ErrorCode.DRAFT_NOT_FOUND,
        "There is no draft with this draftId in this account, or its creator discarded it.",
        "Use the draftId that creating the draft returned, with the same connected account.",
    ),
    (
        ErrorCode.FORM_NOT_FOUND,
        "There is no form with this formId in this account, or its creator deleted it.",
        "Use a formId that publishing or listing forms returned, with the same connected account.",
    ),
    (
        ErrorCode.NOT_FOUND,
        "There is nothing at this address.",
        "Use the paths of the OpenAPI document at /api/openapi.",
    ),
    (
        ErrorCode.METHOD_NOT_ALLOWED,
        "PUT is not possible at this address.",
        "Use a method that the Allow header names.",
    ),
    (ErrorCode.DRAFT_NOT_CONFIRMED, "The creator has not confirmed this draft yet.", NOT_CONFIRMED),
    (ErrorCode.CONFIRMATION_STALE, "The draft changed after its creator confirmed it.", STALE),
    (
        ErrorCode.DRAFT_INCOMPLETE,
        "title, questions[1].text: The draft lacks a title and words for every question.",
        "Add what is missing, then confirm and publish.",
    ),
    (
        ErrorCode.DRAFT_ALREADY_PUBLISHED,
        "The draft is published and cannot change any more.",
        "Create a new draft for a changed form.",
    ),
    (
        ErrorCode.REVISION_CONFLICT,
        "If-Match: The draft is at revision 2, not 1.",
        "Read the draft again, then repeat the request on its current revision.",
    ),
    (
        ErrorCode.TOO_MANY_SUBSCRIPTIONS,
        "The account has 100 live subscriptions, which is the limit.",
        "Wait until one expires, or unsubscribe where no event is needed any more.",
    ),
    (
        ErrorCode.RANGE_NOT_SATISFIABLE,
        "Range: none of the bytes that it names are there.",
        "Send a Range inside the size of the attachment, or none for all of it.",
    ),
    (
        ErrorCode.RATE_LIMITED,
        "Too many write operations: the limit of new drafts is 30 per minute.",
        "Send the same request again in 42 seconds.",
    ),
    (
        ErrorCode.TOO_MANY_STREAMS,
        "This agent token or its account has too many streams open, or this server has no room.",
        "Close one, or connect again in 5 seconds; GET …/answers needs no stream.",
    ),
    (ErrorCode.INTERNAL_ERROR, "The service could not complete the request.", FAULT),
    (
        ErrorCode.STORAGE_UNAVAILABLE,
        "The storage does not answer just now; nothing was changed.",
        "Send the same request again in a few seconds.",
    ),
)


def errors(public_url: str) -> dict[str, Error]:
    """The example of each error code, by code."""
    return {
        code.value: Error(
            error=message,
            code=code,
            message=message,
            resolution=resolution.replace("{origin}", public_url),
        )
        for code, message, resolution in _SAID
    }
