"""The OpenAPI 3.1 document, assembled from the types that validate and serialise."""

from dataclasses import replace
from http import HTTPStatus
from typing import Any

import orjson
from flask import Response, current_app, request
from pydantic import TypeAdapter
from pydantic.json_schema import JsonSchemaValue

from api.blueprint import bp
from api.openapi.components import HEADERS, PARAMETERS, SchemaGenerator
from api.openapi.examples import error_examples, success_examples
from api.openapi.operations import (
    AUDIO,
    EVENT_STREAM,
    EVENTS_TAG,
    EXTENSIONS,
    JSON,
    OPERATIONS,
    TAGS,
    Operation,
)
from api.wire.types import Error
from webapp.base.config import Settings, settings
from webapp.base.errors import ErrorCode
from webapp.base.vocabulary import Scope

CONTRACT_VERSION = "1.0.0"
SCHEMAS = "#/components/schemas"
BYTES = "application/octet-stream"  # what generators of clients take bytes for
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

SCOPES = {
    Scope.FORMS_READ: "Read forms owned by the connected account",
    Scope.RESPONSES_READ: "Read responses submitted to owned forms",
    Scope.FORMS_WRITE: "Create drafts and publish confirmed forms",
    Scope.OFFLINE_ACCESS: "Keep the connected account available in later conversations",
}
AGENT_TOKEN = {
    "type": "http",
    "scheme": "bearer",
    "bearerFormat": "askag_…",
    "description": (
        "A private token of one form, or of all forms of an account. Its creator makes it on the "
        "page of connected agents, a connected agent by `createAgentToken`. No OAuth."
    ),
}
REASONS = {
    HTTPStatus.BAD_REQUEST: "The request is invalid",
    HTTPStatus.UNAUTHORIZED: "No valid token was sent, or the scope was not granted",
    HTTPStatus.NOT_FOUND: "There is no such object in this account",
    HTTPStatus.METHOD_NOT_ALLOWED: "The address does not take this method",
    HTTPStatus.CONFLICT: "What is there conflicts with the operation",
    HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE: "There are no such bytes",
    HTTPStatus.TOO_MANY_REQUESTS: "Too many write operations",
    HTTPStatus.INTERNAL_SERVER_ERROR: "The service could not complete the request",
}


@bp.route("/openapi", methods=["GET", "OPTIONS"], provide_automatic_options=False)
def openapi() -> Response:
    """The document: public, readable from any origin; ignores Accept."""
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
    """The contract 1.0.0 with the addresses of this installation."""
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
            for name, about in TAGS.items()
            if settings.mcp_events_enabled or name != EVENTS_TAG
        ],
        "paths": _paths(settings),
        "components": {
            "schemas": schemas(),
            "parameters": PARAMETERS,
            "headers": HEADERS,
            "examples": error_examples(settings.public_url),
            "responses": {
                "MethodNotAllowed": _failure(
                    HTTPStatus.METHOD_NOT_ALLOWED,
                    (ErrorCode.METHOD_NOT_ALLOWED,),
                    {"Allow": "Allow"},
                )
            },
            "securitySchemes": {"oauth2": _security_scheme(settings), "agentToken": AGENT_TOKEN},
        },
    }


def _info(settings: Settings) -> dict[str, Any]:
    """The contact is the operator's, else the page that tells who the operator is."""
    known = settings.operator_contact or f"{settings.public_url}/privacy"
    kind = "email" if "@" in known and "://" not in known else "url"
    return {
        "title": "Askback",
        "version": CONTRACT_VERSION,
        "summary": "Ask people something, and fetch their answers later",
        "description": (
            "Draft forms, publish what their creator confirmed, and fetch the responses. Every "
            "refusal has the body Error. Methods that an address does not take are answered 405 "
            "as MethodNotAllowed. A request under a host name that is not this server's is "
            "answered 400 `validation_failed`, whatever the operation."
            + ("" if settings.mcp_events_enabled else " Events are switched off on this server.")
        ),
        "contact": {"name": settings.operator_name or "Who runs this server", kind: known},
        "license": {"name": "MIT", "identifier": "MIT"},
    }


def _paths(settings: Settings) -> dict[str, dict[str, Any]]:
    paths: dict[str, dict[str, Any]] = {}
    examples = success_examples(settings.public_url)
    for operation in (*OPERATIONS, *EXTENSIONS):
        if operation.tag == EVENTS_TAG and not settings.mcp_events_enabled:
            continue
        described = _operation(operation, examples.get(operation.id, {}))
        paths.setdefault(operation.path, {})[operation.method.lower()] = described
    return paths | {"/openapi": {"get": _own_operation()}}


def schemas() -> dict[str, JsonSchemaValue]:
    """The objects of the contract by their names in it."""
    operations = (*OPERATIONS, *EXTENSIONS)
    taken = {each.takes: None for each in operations if each.takes}
    answered = {each.answers: None for each in operations if each.answers} | {Error: None}
    _, made = TypeAdapter.json_schemas(
        [
            *((kind.__name__, "validation", TypeAdapter(kind)) for kind in taken),
            *((kind.__name__, "serialization", TypeAdapter(kind)) for kind in answered),
        ],
        ref_template=SCHEMAS + "/{model}",
        schema_generator=SchemaGenerator,
    )
    found: dict[str, JsonSchemaValue] = made["$defs"]
    for schema in found.values():
        schema.pop("title", None)
        if "enum" in schema:  # the rest of its docstring is for programmers
            schema["description"] = " ".join(schema["description"].partition("\n\n")[0].split())
    return found


def _operation(operation: Operation, example: dict[str, Any] | str) -> dict[str, Any]:
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
            "schema": _reference("schemas", operation.takes.__name__),
            "example": operation.sent,
        }
        described["requestBody"] = {"required": True, "content": {JSON: content}}
    return described


def _own_operation() -> dict[str, Any]:
    return {
        "operationId": "getOpenapi",
        "tags": ["Document"],
        "summary": "Read this document",
        "description": "Open to everybody, from any origin.",
        "security": [],
        "responses": {
            "200": {
                "description": "OpenAPI 3.1",
                "content": {JSON: {"schema": {"type": "object"}, "example": {"openapi": "3.1.0"}}},
            },
            "304": {"description": "The document that If-None-Match names is the current one"},
            "405": _reference("responses", "MethodNotAllowed"),
        },
    }


def _successes(operation: Operation, example: dict[str, Any] | str) -> dict[str, Any]:
    """By status; the bytes of a file are answered whole, or in part."""
    whole = {str(operation.status): _success(operation, example)}
    if operation.media != AUDIO:
        return whole
    part = _success(replace(operation, headers=(*operation.headers, "Content-Range")), example)
    return whole | {"206": part | {"description": "The bytes that Range names"}}


def _success(operation: Operation, example: dict[str, Any] | str) -> dict[str, Any]:
    described: dict[str, Any] = {
        "description": operation.summary,
        "headers": {name: _reference("headers", name) for name in operation.headers}
        | ({"Retry-After": _reference("headers", "WaitAgainAfter")} if operation.waits else {}),
        "links": {
            target: {"operationId": target, "parameters": parameters}
            for target, parameters in operation.links.items()
        },
    }
    if operation.answers:
        content = {"schema": _reference("schemas", operation.answers.__name__), "example": example}
        described["content"] = {JSON: content}
    elif operation.media == EVENT_STREAM:
        text = {"type": "string", "description": "Server-sent events."}
        described["content"] = {EVENT_STREAM: {"schema": text, "example": example}}
    elif operation.media == AUDIO:
        octets = {"type": "string", "format": "binary"}
        described["content"] = {AUDIO: {"schema": octets}, BYTES: {"schema": octets}}
    return described


def _failure(
    status: HTTPStatus, codes: tuple[ErrorCode, ...], headers: dict[str, str]
) -> dict[str, Any]:
    """An Error body, the codes to expect in it, and the headers that come with the status.

    The codes are words and no enum: a client that was generated today meets one of tomorrow.
    """
    listed = "".join(f"\n- `{code}`: {code.meaning}" for code in codes)
    examples = {code.value: _reference("examples", code) for code in codes}
    return {
        "description": f"{REASONS[status]}.{listed}",
        "headers": {name: _reference("headers", key) for name, key in headers.items()},
        "content": {JSON: {"schema": _reference("schemas", "Error"), "examples": examples}},
    }


def _security_scheme(settings: Settings) -> dict[str, Any]:
    return {
        "type": "oauth2",
        "description": "Authorization code with PKCE (S256) for every client.",
        "flows": {
            "authorizationCode": {
                "authorizationUrl": f"{settings.public_url}/oauth/authorize",
                "tokenUrl": f"{settings.public_url}/oauth/token",
                "refreshUrl": f"{settings.public_url}/oauth/token",
                "scopes": {scope.value: meaning for scope, meaning in SCOPES.items()},
            }
        },
    }


def _reference(kind: str, name: str) -> dict[str, str]:
    return {"$ref": f"#/components/{kind}/{name}"}
