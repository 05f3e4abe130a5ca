"""The OpenAPI 3.1 document, assembled from the types that validate and serialise."""

from http import HTTPStatus
from typing import Any

import orjson
from flask import Response, current_app, request
from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from api.blueprint import bp
from api.operations import OPERATIONS, Operation
from webapp import contract
from webapp.config import Settings, settings
from webapp.domain.draft_input import FormDraftInput
from webapp.domain.error_codes import ERROR_CODES
from webapp.domain.limits import DRAFT_WAIT_MAX_SECONDS, IDEMPOTENCY_KEY_MAX_CHARS
from webapp.domain.terms import Scope

CONTRACT_VERSION = "1.0.0"
SCHEMAS = "#/components/schemas"
JSON = "application/json"

ANSWERED = (
    contract.FormDraft,
    contract.PublishedForm,
    contract.FormList,
    contract.OwnedForm,
    contract.FormResponses,
    contract.Error,
)
SCOPES = {
    Scope.FORMS_READ: "Read forms owned by the connected account",
    Scope.RESPONSES_READ: "Read responses submitted to owned forms",
    Scope.FORMS_WRITE: "Create drafts and publish confirmed forms",
    Scope.OFFLINE_ACCESS: "Keep the connected account available in later conversations",
}
PATH_ID = {"in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}
PARAMETERS: dict[str, dict[str, Any]] = {
    "draftId": {"name": "draftId", "description": "As create returned it.", **PATH_ID},
    "formId": {"name": "formId", "description": "As publish or list returned it.", **PATH_ID},
    "since": {
        "name": "since",
        "in": "query",
        "description": (
            "The `nextSince` of an earlier result. Exclusive; parts finer than a millisecond are "
            "cut. Without it, everything from the beginning."
        ),
        "schema": {"type": "string", "format": "date-time"},
    },
    "wait": {
        "name": "wait",
        "in": "query",
        "description": "Seconds to wait for the creator at most.",
        "schema": {"type": "integer", "minimum": 0, "maximum": DRAFT_WAIT_MAX_SECONDS},
    },
    "IdempotencyKey": {
        "name": "Idempotency-Key",
        "in": "header",
        "description": "Repeats with this key and the same body within a day make one draft.",
        "schema": {"type": "string", "minLength": 1, "maxLength": IDEMPOTENCY_KEY_MAX_CHARS},
    },
    "IfMatch": {
        "name": "If-Match",
        "in": "header",
        "description": "The ETag of the draft that this request is meant for.",
        "schema": {"type": "string"},
    },
}
HEADERS: dict[str, dict[str, Any]] = {
    "ETag": {
        "description": "The revision of the draft as an entity tag.",
        "required": True,
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
        "description": "Whether the creator confirmed the draft, and its current revision.",
        "required": True,
        "schema": {"type": "string", "enum": ["none", "current", "stale"]},
    },
    "WWW-Authenticate": {
        "description": "The OAuth challenge with the protected-resource metadata (RFC 9728).",
        "required": True,
        "schema": {"type": "string", "pattern": "^Bearer .*resource_metadata="},
    },
    "Retry-After": {
        "description": "Seconds to wait.",
        "required": True,
        "schema": {"type": "integer", "minimum": 1},
    },
    "Allow": {
        "description": "The methods that this address takes.",
        "required": True,
        "schema": {"type": "string"},
    },
}
ERROR_HEADERS = {
    HTTPStatus.UNAUTHORIZED: ("WWW-Authenticate",),
    HTTPStatus.METHOD_NOT_ALLOWED: ("Allow",),
    HTTPStatus.CONFLICT: ("Link",),
    HTTPStatus.TOO_MANY_REQUESTS: ("Retry-After",),
}
REASONS = {
    HTTPStatus.BAD_REQUEST: "The request is invalid",
    HTTPStatus.UNAUTHORIZED: "The account is not connected or the scope was not granted",
    HTTPStatus.NOT_FOUND: "There is no such object in this account",
    HTTPStatus.METHOD_NOT_ALLOWED: "The address does not take this method",
    HTTPStatus.CONFLICT: "The state of the draft conflicts with the operation",
    HTTPStatus.TOO_MANY_REQUESTS: "Too many write operations",
    HTTPStatus.INTERNAL_SERVER_ERROR: "The service could not complete the request",
}


@bp.get("/openapi")
def openapi() -> Response:
    """The document, for everybody and from any origin, whatever Accept says."""
    cached = current_app.extensions.get("openapi")
    if cached is None:
        cached = orjson.dumps(document(settings()))
        current_app.extensions["openapi"] = cached
    response = Response(cached, mimetype=JSON)
    response.headers["Access-Control-Allow-Origin"] = "*"
    response.headers["Cache-Control"] = "public, no-cache"
    response.add_etag()
    response.make_conditional(request)
    return response


def document(settings: Settings) -> dict[str, Any]:
    """The contract 1.0.0 with the addresses of this installation."""
    paths: dict[str, dict[str, Any]] = {}
    for operation in OPERATIONS:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation)
    paths["/openapi"] = {"get": _own_operation()}
    not_allowed = _failure(HTTPStatus.METHOD_NOT_ALLOWED, ("method_not_allowed",))
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Askback",
            "version": CONTRACT_VERSION,
            "description": (
                "Draft forms, publish what their creator confirmed, and fetch the responses. "
                "Methods that an address does not take are answered 405 as MethodNotAllowed."
            ),
        },
        "servers": [{"url": settings.api_url}],
        "paths": paths,
        "components": {
            "schemas": schemas(),
            "parameters": PARAMETERS,
            "headers": HEADERS,
            "responses": {"MethodNotAllowed": not_allowed},
            "securitySchemes": {"oauth2": _security_scheme(settings)},
        },
    }


def schemas() -> dict[str, JsonSchemaValue]:
    """The objects of the contract by their names in it."""
    _, made = TypeAdapter.json_schemas(
        [
            (FormDraftInput.__name__, "validation", TypeAdapter(FormDraftInput)),
            *((kind.__name__, "serialization", TypeAdapter(kind)) for kind in ANSWERED),
        ],
        ref_template=SCHEMAS + "/{model}",
        schema_generator=_Generator,
    )
    found: dict[str, JsonSchemaValue] = made["$defs"]
    for schema in found.values():
        schema.pop("title", None)
        if "enum" in schema:
            schema.pop("description", None)
    return found


class _Generator(GenerateJsonSchema):
    """No titles, no defaults (nothing is filled in for the caller), null as a type array."""

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        inner = self.generate_inner(schema["schema"])
        return inner | {"type": [inner["type"], "null"]}

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def _operation(operation: Operation) -> dict[str, Any]:
    described: dict[str, Any] = {
        "operationId": operation.id,
        "summary": operation.summary,
        "description": operation.description,
        "security": [{"oauth2": [operation.scope]}],
        "parameters": [_reference("parameters", name) for name in operation.parameters],
        "responses": {str(operation.status): _success(operation)}
        | {str(status): _failure(status, codes) for status, codes in operation.codes.items()},
    }
    if operation.takes:
        content = {JSON: {"schema": _reference("schemas", operation.takes)}}
        described["requestBody"] = {"required": True, "content": content}
    return described


def _own_operation() -> dict[str, Any]:
    return {
        "operationId": "getOpenapi",
        "summary": "This document",
        "security": [],
        "responses": {
            "200": {
                "description": "OpenAPI 3.1",
                "content": {JSON: {"schema": {"type": "object"}}},
            },
            "304": {"description": "The document that If-None-Match names is the current one"},
        },
    }


def _success(operation: Operation) -> dict[str, Any]:
    return {
        "description": operation.summary,
        "headers": {name: _reference("headers", name) for name in operation.headers},
        "content": {JSON: {"schema": _reference("schemas", operation.answers)}},
        "links": {
            target: {"operationId": target, "parameters": parameters}
            for target, parameters in operation.links.items()
        },
    }


def _failure(status: HTTPStatus, codes: tuple[str, ...]) -> dict[str, Any]:
    """An Error body with one of these codes, and the headers that come with the status."""
    meanings = {known.code: known.when for known in ERROR_CODES}
    listed = "".join(f"\n- `{code}`: {meanings[code]}" for code in codes)
    one_of_these = {"properties": {"code": {"enum": list(codes)}}}
    return {
        "description": f"{REASONS[status]}.{listed}",
        "headers": {name: _reference("headers", name) for name in ERROR_HEADERS.get(status, ())},
        "content": {JSON: {"schema": {"allOf": [_reference("schemas", "Error"), one_of_these]}}},
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
