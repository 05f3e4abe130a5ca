"""Parameters and headers of operations, and where schemas come from."""

from http import HTTPStatus
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from api.drafts import ENCODED_MAX_CHARS, HEADER
from webapp.base.limits import AGENT_NOTE_MAX_CHARS, IDEMPOTENCY_KEY_MAX_CHARS, WAIT_MAX_SECONDS


class SchemaGenerator(GenerateJsonSchema):
    """No titles, no defaults (nothing is filled in for the caller), null as a type array."""

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        inner = self.generate_inner(schema["schema"])
        return inner | {"type": [inner["type"], "null"]}

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


DRAFT_ID = "drf_5b1f0c9a7e3d2f4a6b8c0d1e"
FORM_ID = "frm_0a4e6c8b2d1f3a5c7e9b0d2f"
SUBSCRIPTION_ID = "sub_4f8a1c3e5b7d9f0a2c4e6b8d0f1a3c5e"
ATTACHMENT_ID = "att_6b8d0f2a4c6e8a0c2e4b6d8f"
PATH_ID = {"in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}
PARAMETERS: dict[str, dict[str, Any]] = {
    "draftId": {
        "name": "draftId",
        "description": "As create returned it.",
        "example": DRAFT_ID,
        **PATH_ID,
    },
    "formId": {
        "name": "formId",
        "description": "As publish or list returned it.",
        "example": FORM_ID,
        **PATH_ID,
    },
    "askId": {
        "name": "askId",
        "description": "The ask, which is the form that the token was made for: its `formId`.",
        "example": FORM_ID,
        **PATH_ID,
    },
    "subscriptionId": {
        "name": "subscriptionId",
        "description": "As subscribing returned it.",
        "example": SUBSCRIPTION_ID,
        **PATH_ID,
    },
    "attachmentId": {
        "name": "attachmentId",
        "description": "As the `attachments` of an answer name it.",
        "example": ATTACHMENT_ID,
        **PATH_ID,
    },
    "Range": {
        "name": "Range",
        "in": "header",
        "description": (
            "The bytes to answer (RFC 9110, section 14). Without it, or with more than one range, "
            "all of them."
        ),
        "example": "bytes=0-65535",
        "schema": {"type": "string"},
    },
    "since": {
        "name": "since",
        "in": "query",
        "description": (
            "The `nextSince` of an earlier result. Exclusive; parts finer than a millisecond are "
            "cut. Without it, everything from the beginning."
        ),
        "example": "2026-11-21T10:40:00.123Z",
        "schema": {"type": "string", "format": "date-time"},
    },
    "wait": {
        "name": "wait",
        "in": "query",
        "description": (
            "Seconds to wait for the creator at most; without it, none. The answer comes at once "
            "when the draft is confirmed or published already, and early when the creator confirms "
            "it or sends it back, when anybody changes or publishes it, when the server stops, and "
            "when too many wait."
        ),
        "example": WAIT_MAX_SECONDS,
        "schema": {"type": "integer", "minimum": 0, "maximum": WAIT_MAX_SECONDS},
    },
    "waitForReview": {
        "name": "wait",
        "in": "query",
        "description": (
            "Seconds to wait for the creator at most; without it, none. The answer comes at once "
            "unless the state is `waiting` or `stale`, and early when it changes, when the server "
            "stops, and when too many wait."
        ),
        "example": WAIT_MAX_SECONDS,
        "schema": {"type": "integer", "minimum": 0, "maximum": WAIT_MAX_SECONDS},
    },
    "waitForAnswers": {
        "name": "wait",
        "in": "query",
        "description": (
            "Seconds to wait for something new at most; without it, none. The answer comes at once "
            "when there is something, and early when somebody answers, when the status of the form "
            "changes, when the server stops, and when too many wait."
        ),
        "example": WAIT_MAX_SECONDS,
        "schema": {"type": "integer", "minimum": 0, "maximum": WAIT_MAX_SECONDS},
    },
    "LastEventId": {
        "name": "Last-Event-ID",
        "in": "header",
        "description": "The id of the last event that arrived, a date-time; wins over `since`.",
        "example": "2026-11-21T10:41:12.468Z",
        # without a format: openapi-python-client makes no operation with a moment in a header
        "schema": {"type": "string"},
    },
    "IdempotencyKey": {
        "name": "Idempotency-Key",
        "in": "header",
        "description": (
            "Repeats with this key and the same body within a day make one draft and return it as "
            "it was created."
        ),
        "example": "9f6f2c1e-5f0b-4f0e-9a51-3d0c2b7a8e14",
        "schema": {"type": "string", "minLength": 1, "maxLength": IDEMPOTENCY_KEY_MAX_CHARS},
    },
    "AgentNote": {
        "name": HEADER,
        "in": "header",
        "description": (
            "Why, in half a sentence: the creator reads it with this change, as the words of the "
            f"agent. One line of {AGENT_NOTE_MAX_CHARS} code points at most, in UTF-8 and "
            "percent-encoded. It belongs to the revision that the request makes: it is not kept "
            "where nothing changes, not compared by `Idempotency-Key`, and answered nowhere."
        ),
        "example": "shorter%2C%20so%20that%20it%20fits%20a%20phone",
        "schema": {"type": "string", "maxLength": ENCODED_MAX_CHARS},
    },
    "IfMatch": {
        "name": "If-Match",
        "in": "header",
        "description": (
            "The ETag of the draft that this request is meant for; at another revision it is "
            "refused. `*` or none: whatever the revision."
        ),
        "example": '"1"',
        "schema": {"type": "string"},
    },
}
HEADERS: dict[str, dict[str, Any]] = {
    "ETag": {
        "description": "The revision of the draft as an entity tag.",
        "required": True,
        "example": '"1"',
        "schema": {"type": "string", "pattern": '^"[1-9][0-9]*"$'},
    },
    "Link": {
        "description": 'Where the creator reviews the draft, with rel="edit-form" (RFC 8288).',
        "required": True,
        "schema": {"type": "string"},
    },
    "Location": {
        "description": "The address of the draft.",
        "required": True,
        "schema": {"type": "string", "format": "uri"},
    },
    "Askback-Confirmation": {
        "description": (
            "`current`: the creator confirmed the draft as it is, and it can be published. "
            "`stale`: it changed since. `returned`: the creator sent it back, and it waits for an "
            "agent's change. `none`: none of these."
        ),
        "required": True,
        "example": "current",
        "schema": {"type": "string", "enum": ["none", "current", "stale", "returned"]},
    },
    "WWW-Authenticate": {
        "description": "The OAuth challenge with the protected-resource metadata (RFC 9728).",
        "required": True,
        "schema": {"type": "string", "pattern": "^Bearer .*resource_metadata="},
    },
    "AgentChallenge": {
        "description": "The challenge for agent tokens, without OAuth metadata (RFC 6750).",
        "required": True,
        "example": 'Bearer realm="agent"',
        "schema": {"type": "string", "pattern": '^Bearer realm="agent"'},
    },
    "Retry-After": {
        "description": "Seconds to wait.",
        "required": True,
        "example": 42,
        "schema": {"type": "integer", "minimum": 1},
    },
    "WaitAgainAfter": {
        "description": (
            "Nothing was waited for, because all places are taken: the seconds to wait instead."
        ),
        "required": False,
        "example": 2,
        "schema": {"type": "integer", "minimum": 1},
    },
    "Accept-Ranges": {
        "description": "That `Range` is taken.",
        "required": True,
        "example": "bytes",
        "schema": {"type": "string", "enum": ["bytes"]},
    },
    "Content-Range": {
        "description": "Which bytes these are, and of how many; `*` in a refusal.",
        "required": True,
        "example": "bytes 0-65535/81920",
        "schema": {"type": "string", "pattern": "^bytes ([0-9]+-[0-9]+|[*])/[0-9]+$"},
    },
    "Content-Disposition": {
        "description": "`attachment` with the `name` of the attachment.",
        "required": True,
        "example": 'attachment; filename="recording-2026-11-21-4b6d8f.webm"',
        "schema": {"type": "string", "pattern": "^attachment; filename="},
    },
    "Allow": {
        "description": "The methods that this address takes.",
        "required": True,
        "example": "GET, HEAD, OPTIONS",
        "schema": {"type": "string"},
    },
}
# headers of refusals, with the names of their descriptions
ERROR_HEADERS = {
    HTTPStatus.UNAUTHORIZED: {"WWW-Authenticate": "WWW-Authenticate"},
    HTTPStatus.METHOD_NOT_ALLOWED: {"Allow": "Allow"},
    HTTPStatus.TOO_MANY_REQUESTS: {"Retry-After": "Retry-After"},
}
DRAFT_ERROR_HEADERS = ERROR_HEADERS | {HTTPStatus.CONFLICT: {"Link": "Link"}}
AGENT_ERROR_HEADERS = ERROR_HEADERS | {
    HTTPStatus.UNAUTHORIZED: {"WWW-Authenticate": "AgentChallenge"}
}
