"""The OpenAPI 3.1 document, assembled from the types that validate and serialise."""

from dataclasses import replace
from http import HTTPStatus
from typing import Any

import orjson
from flask import Response, current_app, request
from pydantic import TypeAdapter
from pydantic.json_schema import JsonSchemaValue

from api.errors import bp, four_fields
from api.openapi import operations as table
from api.openapi.operations import DESCRIBED, JSON, Operation
from api.wire import drafts, forms, responses, types
from api.wire.event_stream import frame
from webapp.base.config import Settings, settings
from webapp.base.errors import OF_REST, ErrorCode
from webapp.drafts.agent_tokens import AgentTokenInput
from webapp.events.subscriptions import SubscriptionInput
from webapp.records.content.draft_input import FollowUpsInput, FormDraftInput

SCHEMAS = "#/components/schemas"
BYTES = "application/octet-stream"  # the type that client generators map to bytes
OPEN = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Expose-Headers": "ETag",
    "Cache-Control": "public, no-cache",
}
PREFLIGHT = OPEN | {
    "Allow": "GET, HEAD, OPTIONS",
    "Access-Control-Allow-Methods": "GET, HEAD, OPTIONS",
    "Access-Control-Allow-Headers": "authorization, content-type, if-none-match",
    "Access-Control-Max-Age": "86400",
}

TAKEN = (FormDraftInput, FollowUpsInput, SubscriptionInput, AgentTokenInput)
WIRE = vars(types) | vars(drafts) | vars(forms) | vars(responses)  # types by name
ALL = (*table.OPERATIONS, *table.EXTENSIONS)
ANSWERED = [WIRE[name] for name in {"Error"} | {each.answers for each in ALL if each.answers}]


@bp.route("/openapi", methods=["GET", "OPTIONS"], provide_automatic_options=False)
def openapi() -> Response:
    """Serve the document: public, readable from any origin; ignores Accept."""
    if request.method == "OPTIONS":
        return Response(headers=PREFLIGHT)
    cached = current_app.extensions.get("openapi")
    if cached is None:
        cached = orjson.dumps(document(settings()))
        current_app.extensions["openapi"] = cached
    response = Response(cached, headers=OPEN, mimetype=JSON)
    response.add_etag()
    response.make_conditional(request)
    return response


def document(settings: Settings) -> dict[str, Any]:
    """Return the contract 1.0.0 with the addresses of this installation."""
    return {
        "openapi": "3.1.0",
        "info": _info(settings),
        "externalDocs": {
            "description": "Every error code, and what to do",
            "url": f"{settings.public_url}/docs/errors",
        },
        "servers": [{"url": settings.api_url}],
        "tags": [
            {"name": name, "description": about}
            for name, about in DESCRIBED["tags"].items()
            if settings.mcp_events_enabled or name != table.EVENTS_TAG
        ],
        "paths": _paths(settings),
        "components": {
            "schemas": schemas(),
            "parameters": DESCRIBED["parameters"],
            "headers": DESCRIBED["headers"],
            "examples": error_examples(settings.public_url),
            "responses": {
                "MethodNotAllowed": _failure(
                    HTTPStatus.METHOD_NOT_ALLOWED,
                    (ErrorCode.METHOD_NOT_ALLOWED,),
                    {"Allow": "Allow"},
                )
            },
            "securitySchemes": _at(settings.public_url, DESCRIBED["securitySchemes"]),
        },
    }


def _info(settings: Settings) -> dict[str, Any]:
    """Return the info object; without an operator contact, it names the privacy page."""
    known = settings.operator_contact or f"{settings.public_url}/privacy"
    kind = "email" if "@" in known and "://" not in known else "url"
    described: str = DESCRIBED["info"]["description"]
    if not settings.mcp_events_enabled:
        described += " Events are switched off on this server."
    contact = {"name": settings.operator_name or "Who runs this server", kind: known}
    return {**DESCRIBED["info"], "description": described, "contact": contact}


def _paths(settings: Settings) -> dict[str, Any]:
    paths: dict[str, Any] = {**DESCRIBED["paths"]}
    examples = _at(settings.public_url, table.EXAMPLES["successes"])
    examples["streamAsk"] = _stream(examples["AskAnswers"])
    for each in ALL:
        if settings.mcp_events_enabled or each.tag != table.EVENTS_TAG:
            example = examples.get(each.id) or examples.get(each.answers)
            paths.setdefault(each.path, {})[each.method.lower()] = _operation(each, example)
    return paths


def _stream(page: dict[str, Any]) -> str:
    status = {"askId": page["askId"], "status": page["status"], "responseCount": 1}
    events = [frame("form_status", status)]
    events += [frame("answer", answer, answer["respondedAt"]) for answer in page["answers"]]
    events += [frame("completed", done, done["submittedAt"]) for done in page["completed"]]
    return b"".join(events).decode()


def error_examples(public_url: str) -> dict[str, dict[str, types.Error]]:
    """Return the example of each error code, by code."""
    said = _at(public_url, table.EXAMPLES["errors"])
    return {
        code.value: {"value": four_fields(code, *(code.said or said[code]))} for code in OF_REST
    }


def _at(public_url: str, value: Any) -> Any:
    return orjson.loads(orjson.dumps(value).replace(b"{origin}", public_url.encode()))


def schemas() -> dict[str, JsonSchemaValue]:
    """Return the schemas of the objects in the contract, by name."""
    _, made = TypeAdapter.json_schemas(
        [
            *((kind.__name__, "validation", TypeAdapter(kind)) for kind in TAKEN),
            *((kind.__name__, "serialization", TypeAdapter(kind)) for kind in ANSWERED),
        ],
        ref_template=SCHEMAS + "/{model}",
        schema_generator=types.SchemaGenerator,
    )
    found: dict[str, JsonSchemaValue] = made["$defs"]
    for name, schema in found.items():
        schema.pop("title", None)
        if "enum" in schema:  # the rest of its docstring is for programmers
            schema["description"] = " ".join(schema["description"].partition("\n\n")[0].split())
        said = table.FIELDS["every"] | table.FIELDS.get(name, {})
        for field, described in schema.get("properties", {}).items():
            described.setdefault("description", said.get(field, ""))
    return found


def _operation(operation: Operation, example: object) -> dict[str, Any]:
    described: dict[str, Any] = {
        "operationId": operation.id,
        "tags": [operation.tag],
        "summary": operation.summary,
        "description": operation.description,
        "security": [{"oauth2": [operation.scope]} if operation.scope else {"agentToken": []}],
        "parameters": [_reference("parameters", name) for name in operation.parameters],
        "responses": _successes(operation, example)
        | {
            str(status): _failure(status, codes, operation.error_headers(status))
            for status, codes in operation.codes.items()
        },
    }
    if operation.takes:
        content = {
            "schema": _reference("schemas", operation.takes),
            "example": operation.sent,
        }
        described["requestBody"] = {"required": True, "content": {JSON: content}}
    return described


def _successes(operation: Operation, example: object) -> dict[str, Any]:
    """Return the successes by status; the bytes of a file are sent whole or in part."""
    whole = {str(operation.status): _success(operation, example)}
    if operation.media != table.AUDIO:
        return whole
    part = _success(replace(operation, headers=(*operation.headers, "Content-Range")), example)
    return whole | {"206": part | {"description": "The bytes that Range names"}}


def _success(operation: Operation, example: object) -> dict[str, Any]:
    waits = any(name.startswith("wait") for name in operation.others)
    described: dict[str, Any] = {
        "description": operation.summary,
        "headers": {name: _reference("headers", name) for name in operation.headers}
        | ({"Retry-After": _reference("headers", "WaitAgainAfter")} if waits else {}),
        "links": {
            target: {"operationId": target, "parameters": parameters}
            for target, parameters in DESCRIBED["links"].get(operation.answers, {}).items()
        },
    }
    if operation.answers:
        content = {"schema": _reference("schemas", operation.answers), "example": example}
        described["content"] = {JSON: content}
    elif operation.media == table.EVENT_STREAM:
        text = {"type": "string", "description": "Server-sent events."}
        described["content"] = {table.EVENT_STREAM: {"schema": text, "example": example}}
    elif operation.media == table.AUDIO:
        octets = {"type": "string", "format": "binary"}
        described["content"] = {table.AUDIO: {"schema": octets}, BYTES: {"schema": octets}}
    return described


def _failure(
    status: HTTPStatus, codes: tuple[ErrorCode, ...], headers: dict[str, str]
) -> dict[str, Any]:
    """Return a refusal: an Error body, the codes to expect, and the headers of the status.

    The codes are text and not an enum, so that generated clients accept codes added later.
    """
    listed = "".join(f"\n- `{code}`: {code.meaning}" for code in codes)
    examples = {code.value: _reference("examples", code) for code in codes}
    return {
        "description": f"{DESCRIBED['reasons'][str(int(status))]}.{listed}",
        "headers": {name: _reference("headers", key) for name, key in headers.items()},
        "content": {JSON: {"schema": _reference("schemas", "Error"), "examples": examples}},
    }


def _reference(kind: str, name: str) -> dict[str, str]:
    return {"$ref": f"#/components/{kind}/{name}"}
