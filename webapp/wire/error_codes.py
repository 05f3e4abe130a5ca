"""Every error code with its status and what it means; the words of the documentation."""

from typing import NamedTuple


class ErrorCode(NamedTuple):
    """`when` completes "This is answered when …"; `remedy` says what to do.

    Words of programs stand in both between backticks.
    """

    code: str
    status: int
    when: str
    remedy: str


ERROR_CODES = (
    ErrorCode(
        "invalid_json",
        400,
        "the body is not one JSON object in UTF-8, or its content type is not `application/json`",
        "Send a JSON object with `Content-Type: application/json`, not compressed.",
    ),
    ErrorCode(
        "validation_failed",
        400,
        "a value has the wrong type or is out of its bounds; the message begins with the path of"
        " the field and says what was sent and what is allowed",
        "Correct the field that the message names, and those that the resolution names.",
    ),
    ErrorCode(
        "unknown_field",
        400,
        "an object holds a field that the contract does not know, as `settings` of an answer sent"
        " back",
        "Remove the field. What stands inside `settings` is sent as fields of the body itself.",
    ),
    ErrorCode(
        "context_required",
        400,
        "`followUpMode` is `smart` and the draft has no private `context`",
        "Send `context` with it, or another `followUpMode`.",
    ),
    ErrorCode(
        "invalid_since",
        400,
        "`since` is not an RFC 3339 date-time with an offset",
        "Send the `nextSince` of an earlier result unchanged.",
    ),
    ErrorCode(
        "invalid_text",
        400,
        "a text holds `U+0000`, half of a surrogate pair, or (in titles and ids) a control or"
        " text-direction character; the message says which and where",
        "Send the text without that character.",
    ),
    ErrorCode(
        "payload_too_large",
        400,
        "the body is larger than 256 KiB, into which all questions of a draft have to fit together",
        "Send less text.",
    ),
    ErrorCode(
        "idempotency_key_reused",
        400,
        "the `Idempotency-Key` was used within a day, with another body, or for a draft that its"
        " creator discarded or whose form they deleted",
        "Use a new key, or repeat the first body exactly. After a discard, ask the creator first.",
    ),
    ErrorCode(
        "authentication_required",
        401,
        "there is no valid access token, or it lacks the scope of the operation",
        "Complete OAuth as the `WWW-Authenticate` header says, then retry with the required scope.",
    ),
    ErrorCode(
        "draft_not_found",
        404,
        "the account has no draft with this `draftId`, or its creator discarded it",
        "Use the `draftId` that creating the draft returned.",
    ),
    ErrorCode(
        "form_not_found",
        404,
        "the account has no form with this `formId`, or its creator deleted it",
        "Use a `formId` that publishing or listing forms returned.",
    ),
    ErrorCode(
        "not_found",
        404,
        "there is nothing at this address",
        "Use the paths of the OpenAPI document.",
    ),
    ErrorCode(
        "method_not_allowed",
        405,
        "the address does not take this method",
        "Use a method that the `Allow` header names.",
    ),
    ErrorCode(
        "draft_not_confirmed",
        409,
        "the creator has not confirmed the draft",
        "Ask the creator to open the review page and confirm. `GET /drafts/{draftId}?wait=25`"
        " waits for it; then publish again.",
    ),
    ErrorCode(
        "confirmation_stale",
        409,
        "the draft changed after the creator confirmed it",
        "Ask the creator to confirm the current revision. `GET /drafts/{draftId}?wait=25` waits"
        " for it; then publish again.",
    ),
    ErrorCode(
        "draft_incomplete",
        409,
        "the draft lacks a title, a question, the words of one, or the context of smart follow-ups;"
        " the message names the fields",
        "Add what the message names, then have it confirmed and publish.",
    ),
    ErrorCode(
        "draft_already_published",
        409,
        "a published draft is changed",
        "Create a new draft for a changed form.",
    ),
    ErrorCode(
        "revision_conflict",
        409,
        "the draft is not at the revision that `If-Match` names",
        "Read the draft again, then repeat the request on its current revision.",
    ),
    ErrorCode(
        "rate_limited",
        429,
        "too many write operations were sent",
        "Wait as many seconds as the `Retry-After` header says.",
    ),
    ErrorCode(
        "internal_error",
        500,
        "the service could not complete the request",
        "Send the same request again; if it fails again, tell whoever runs the server the request"
        " id, which the `X-Request-Id` header says, too.",
    ),
    ErrorCode(
        "storage_unavailable",
        500,
        "the storage does not answer or is full; nothing was changed, unless the message says that"
        " nobody knows",
        "Send the same request again in a few seconds. With an `Idempotency-Key`, a new draft"
        " is made once.",
    ),
)
