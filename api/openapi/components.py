"""Parameters and headers of operations, and where schemas come from."""

from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from api.drafts import ENCODED_MAX_CHARS, HEADER
from api.waiting import WAIT_MAX_SECONDS
from api.wire.drafts import IDEMPOTENCY_KEY_MAX_CHARS
from webapp.records.drafts import AGENT_NOTE_MAX_CHARS

Json = dict[str, Any]


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


def _parameter(name: str, place: str, description: str, example: object, **schema: object) -> Json:
    described = {"name": name, "in": place, "description": description, "example": example}
    return described | {"schema": schema} | ({"required": True} if place == "path" else {})


def _path_id(name: str, description: str, example: str) -> Json:
    return _parameter(name, "path", description, example, type="string", minLength=1)


def _wait(description: str) -> Json:
    bounds = {"minimum": 0, "maximum": WAIT_MAX_SECONDS}
    return _parameter("wait", "query", description, WAIT_MAX_SECONDS, type="integer", **bounds)


def _header(description: str, example: object = None, **schema: object) -> Json:
    exemplified = {} if example is None else {"example": example}
    return {"description": description, "required": True, "schema": schema} | exemplified


PARAMETERS: dict[str, Json] = {
    "draftId": _path_id("draftId", "As create returned it.", DRAFT_ID),
    "formId": _path_id("formId", "As publish or list returned it.", FORM_ID),
    "askId": _path_id(
        "askId", "The ask, which is the form that the token was made for: its `formId`.", FORM_ID
    ),
    "subscriptionId": _path_id("subscriptionId", "As subscribing returned it.", SUBSCRIPTION_ID),
    "attachmentId": _path_id(
        "attachmentId", "As the `attachments` of an answer name it.", ATTACHMENT_ID
    ),
    "Range": _parameter(
        "Range",
        "header",
        "The bytes to answer (RFC 9110, section 14). Without it, or with more than one range, "
        "all of them.",
        "bytes=0-65535",
        type="string",
    ),
    "since": _parameter(
        "since",
        "query",
        "The `nextSince` of an earlier result. Exclusive; parts finer than a millisecond are "
        "cut. Without it, everything from the beginning.",
        "2026-11-21T10:40:00.123Z",
        type="string",
        format="date-time",
    ),
    "wait": _wait(
        "Seconds to wait for the creator at most; without it, none. The answer comes at once "
        "when the draft is confirmed or published already, and early when the creator confirms "
        "it or sends it back, when anybody changes or publishes it, when the server stops, and "
        "when too many wait."
    ),
    "waitForReview": _wait(
        "Seconds to wait for the creator at most; without it, none. The answer comes at once "
        "unless the state is `waiting` or `stale`, and early when it changes, when the server "
        "stops, and when too many wait."
    ),
    "waitForAnswers": _wait(
        "Seconds to wait for something new at most; without it, none. The answer comes at once "
        "when there is something, and early when somebody answers, when the status of the form "
        "changes, when the server stops, and when too many wait."
    ),
    "LastEventId": _parameter(
        "Last-Event-ID",
        "header",
        "The id of the last event that arrived, a date-time; wins over `since`.",
        "2026-11-21T10:41:12.468Z",
        # without a format: openapi-python-client makes no operation with a moment in a header
        type="string",
    ),
    "IdempotencyKey": _parameter(
        "Idempotency-Key",
        "header",
        "Repeats with this key and the same body within a day make one draft and return it as "
        "it was created.",
        "9f6f2c1e-5f0b-4f0e-9a51-3d0c2b7a8e14",
        type="string",
        minLength=1,
        maxLength=IDEMPOTENCY_KEY_MAX_CHARS,
    ),
    "AgentNote": _parameter(
        HEADER,
        "header",
        "Why, in half a sentence: the creator reads it with this change, as the words of the "
        f"agent. One line of {AGENT_NOTE_MAX_CHARS} code points at most, in UTF-8 and "
        "percent-encoded. It belongs to the revision that the request makes: it is not kept "
        "where nothing changes, not compared by `Idempotency-Key`, and answered nowhere.",
        "shorter%2C%20so%20that%20it%20fits%20a%20phone",
        type="string",
        maxLength=ENCODED_MAX_CHARS,
    ),
    "IfMatch": _parameter(
        "If-Match",
        "header",
        "The ETag of the draft that this request is meant for; at another revision it is "
        "refused. `*` or none: whatever the revision.",
        '"1"',
        type="string",
    ),
}
HEADERS: dict[str, Json] = {
    "ETag": _header(
        "The revision of the draft as an entity tag.",
        '"1"',
        type="string",
        pattern='^"[1-9][0-9]*"$',
    ),
    "Link": _header(
        'Where the creator reviews the draft, with rel="edit-form" (RFC 8288).', type="string"
    ),
    "Location": _header("The address of the draft.", type="string", format="uri"),
    "Askback-Confirmation": _header(
        "`current`: the creator confirmed the draft as it is, and it can be published. "
        "`stale`: it changed since. `returned`: the creator sent it back, and it waits for an "
        "agent's change. `none`: none of these.",
        "current",
        type="string",
        enum=["none", "current", "stale", "returned"],
    ),
    "WWW-Authenticate": _header(
        "The OAuth challenge with the protected-resource metadata (RFC 9728).",
        type="string",
        pattern="^Bearer .*resource_metadata=",
    ),
    "AgentChallenge": _header(
        "The challenge for agent tokens, without OAuth metadata (RFC 6750).",
        'Bearer realm="agent"',
        type="string",
        pattern='^Bearer realm="agent"',
    ),
    "Retry-After": _header("Seconds to wait.", 42, type="integer", minimum=1),
    "WaitAgainAfter": {
        "description": (
            "Nothing was waited for, because all places are taken: the seconds to wait instead."
        ),
        "required": False,
        "example": 2,
        "schema": {"type": "integer", "minimum": 1},
    },
    "Accept-Ranges": _header("That `Range` is taken.", "bytes", type="string", enum=["bytes"]),
    "Content-Range": _header(
        "Which bytes these are, and of how many; `*` in a refusal.",
        "bytes 0-65535/81920",
        type="string",
        pattern="^bytes ([0-9]+-[0-9]+|[*])/[0-9]+$",
    ),
    "Content-Disposition": _header(
        "`attachment` with the `name` of the attachment.",
        'attachment; filename="recording-2026-11-21-4b6d8f.webm"',
        type="string",
        pattern="^attachment; filename=",
    ),
    "Allow": _header("The methods that this address takes.", "GET, HEAD, OPTIONS", type="string"),
}
