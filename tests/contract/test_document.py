"""The OpenAPI document against the specification, word for word."""

import re
from typing import Any

import orjson
import pytest
from flask import Flask
from flask.testing import FlaskClient
from openapi_spec_validator import OpenAPIV31SpecValidator

from api.openapi import document as openapi
from api.openapi.operations import EXTENSIONS
from webapp.base.config import Settings
from webapp.base.errors import OF_REST, OF_TOOLS
from webapp.base.vocabulary import Scope

# Every field of the objects; those marked with ? are not required
SCHEMAS = {
    "Question": "id? text context?",
    "OutputQuestion": "id text context?",
    "FormSettings": (
        "followUpMode responseMode responseLimit maxFollowupsPerQuestion maxTotalQuestions"
    ),
    "FormDraftInput": (
        "title? goal? context? questions? followUpMode? responseMode? responseLimit?"
        " maxFollowupsPerQuestion? maxTotalQuestions?"
    ),
    "FormDraft": "draftId status title goal questions settings publishedFormId shareUrl",
    "PublishedForm": "formId status title shareUrl questionCount responseLimit? idempotent?",
    "FormSummary": (
        "formId title url status questionCount responseLimit responseCount latestResponseAt"
        " publishedAt"
    ),
    "OwnedForm": (
        "formId title goal questions settings shareUrl status responseCount latestResponseAt"
        " publishedAt"
    ),
    "ResponseAnswer": (
        "id questionId questionText answerText answerTruncated attachments responseType"
        " questionKind parentQuestionId respondedAt"
    ),
    "Attachment": "id name type size contentOmitted",
    "ResponseSession": "sessionId responderName status submittedAt createdAt answers",
    "ResponseForm": "formId title goal questions settings status",
    "FormResponses": (
        "form status responseCount returnedResponseCount returnedAnswerCount hasResponses"
        " latestResponseAt nextSince responses truncated"
    ),
    "FormList": "formCount forms",
    "Error": "error code message resolution",
}
# Those of the routes beside the contract's
OWN_SCHEMAS = {
    "AgentTokenInput": "label? expiresInSeconds?",
    "SubscriptionInput": "url secret ttlSeconds? cursor? maxAgeSeconds?",
    "Subscription": "subscriptionId refreshBefore cursor truncated",
    "SubscriptionSummary": "subscriptionId host active lastDeliveryAt lastError refreshBefore",
    "SubscriptionList": "subscriptions",
    "MadeAgentToken": "tokenId token hint askId label expiresAt answersUrl",
    "AskAnswer": f"{SCHEMAS['ResponseAnswer']} sessionId",
    "CompletedResponse": "sessionId submittedAt",
    "FollowUpsInput": "followUps",
    "FollowUp": "text when?",
    "PreparedFollowUp": "text when preparedBy",
    "DraftFollowUps": "draftId followUps",
    "DraftReview": "draftId revision state note reviewUrl changes",
    "ReviewChange": "kind questionId before after",
    "AskAnswers": "askId status answers completed nextSince truncated",
}
# Method, path, scope, success and the other statuses
OPERATIONS = {
    "createServiceDraft": ("post", "/drafts", "forms:write", "201 400 401 429 500"),
    "updateServiceDraft": (
        "patch",
        "/drafts/{draftId}",
        "forms:write",
        "200 400 401 404 409 429 500",
    ),
    "publishServiceDraft": (
        "post",
        "/drafts/{draftId}/publish",
        "forms:write",
        "200 400 401 404 409 429 500",
    ),
    "listService": ("get", "/forms", "forms:read", "200 401 500"),
    "getService": ("get", "/forms/{formId}", "forms:read", "200 401 404 500"),
    "getServiceResponses": (
        "get",
        "/forms/{formId}/responses",
        "responses:read",
        "200 400 401 404 500",
    ),
}
# Request body, parameters and the object of the success
EXCHANGED: dict[str, tuple[str | None, str, str]] = {
    "createServiceDraft": ("FormDraftInput", "", "FormDraft"),
    "updateServiceDraft": ("FormDraftInput", "draftId", "FormDraft"),
    "publishServiceDraft": (None, "draftId", "PublishedForm"),
    "listService": (None, "", "FormList"),
    "getService": (None, "formId", "OwnedForm"),
    "getServiceResponses": (None, "formId since", "FormResponses"),
}
PARAMETERS = {
    "draftId": ("path", True, {"type": "string", "minLength": 1}),
    "formId": ("path", True, {"type": "string", "minLength": 1}),
    "since": ("query", False, {"type": "string", "format": "date-time"}),
}
NULLABLE = {
    ("FormSettings", "maxTotalQuestions"): "integer",
    ("FormDraft", "goal"): "string",
    ("FormDraft", "publishedFormId"): "string",
    ("FormDraft", "shareUrl"): "string",
    ("FormSummary", "latestResponseAt"): "string",
    ("OwnedForm", "goal"): "string",
    ("OwnedForm", "latestResponseAt"): "string",
    ("ResponseAnswer", "parentQuestionId"): "string",
    ("ResponseSession", "responderName"): "string",
    ("ResponseSession", "submittedAt"): "string",
    ("ResponseForm", "goal"): "string",
    ("FormResponses", "latestResponseAt"): "string",
    ("FormResponses", "nextSince"): "string",
    ("AskAnswer", "parentQuestionId"): "string",
    ("DraftReview", "note"): "string",
    ("ReviewChange", "questionId"): "string",
    ("ReviewChange", "before"): "string",
    ("ReviewChange", "after"): "string",
    ("AskAnswers", "nextSince"): "string",
    ("SubscriptionInput", "ttlSeconds"): "integer",
    ("SubscriptionInput", "cursor"): "string",
    ("SubscriptionInput", "maxAgeSeconds"): "integer",
    ("SubscriptionSummary", "lastDeliveryAt"): "string",
    ("SubscriptionSummary", "lastError"): "string",
}
BOUNDS = {
    "title": {"type": "string", "maxLength": 120},
    "goal": {"type": "string", "maxLength": 2000},
    "maxFollowupsPerQuestion": {"type": "integer", "minimum": 0, "maximum": 50},
    "maxTotalQuestions": {"type": "integer", "minimum": 0, "maximum": 50},
}
WORDS = {
    "FollowUpMode": ["none", "smart", "deep_dive"],
    "ResponseMode": ["voice_preferred", "text_only", "voice_only"],
    "ResponseLimit": ["one", "multiple"],
    "DraftStatus": ["draft", "published"],
    "ResponseType": ["voice", "text"],
    "QuestionKind": ["scripted", "followup"],
    "FollowUpCondition": [
        "always",
        "if_short",
        "if_no_answer",
        "if_several",
        "if_yes",
        "if_no",
    ],
    "FollowUpAuthor": ["agent", "creator"],
    "ReviewState": ["waiting", "confirmed", "stale", "returned", "discarded", "published"],
}


@pytest.fixture
def document(client: FlaskClient) -> Any:
    return client.get("/api/openapi").json


@pytest.fixture
def schemas(document: Any) -> Any:
    return document["components"]["schemas"]


def operations(document: Any) -> dict[str, Any]:
    """Every operation by its id, with its method and path."""
    return {
        operation["operationId"]: operation | {"method": method, "path": path}
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    }


def test_it_is_openapi_3_1_0_and_contract_1_0_0(document: Any) -> None:
    OpenAPIV31SpecValidator(document).validate()

    assert (document["openapi"], document["info"]["version"]) == ("3.1.0", "1.0.0")


def test_paths_are_relative_to_the_base_address(document: Any) -> None:
    assert document["servers"] == [{"url": "http://127.0.0.1:8000/api"}]


@pytest.mark.parametrize(("name", "expected"), (SCHEMAS | OWN_SCHEMAS).items())
def test_every_object_has_exactly_the_fields_of_the_specification(
    name: str, expected: str, schemas: Any
) -> None:
    fields = expected.split()

    schema = schemas[name]

    assert list(schema["properties"]) == [field.rstrip("?") for field in fields]
    assert schema.get("required", []) == [field for field in fields if not field.endswith("?")]
    assert schema["additionalProperties"] is False


def test_the_document_has_no_other_schemas(schemas: Any) -> None:
    assert schemas.keys() == SCHEMAS.keys() | OWN_SCHEMAS.keys() | WORDS.keys()


def test_null_is_possible_where_the_specification_says_so(schemas: Any) -> None:
    found = {
        (name, field): schema["type"][0]
        for name, described in schemas.items()
        for field, schema in described.get("properties", {}).items()
        if isinstance(schema.get("type"), list)
    }

    assert found == NULLABLE
    assert "anyOf" not in orjson.dumps(schemas).decode()


@pytest.mark.parametrize("field", BOUNDS)
def test_bounds_of_the_input_are_those_of_the_specification(field: str, schemas: Any) -> None:
    schema = schemas["FormDraftInput"]["properties"][field]

    assert {key: value for key, value in schema.items() if key != "description"} == BOUNDS[field]


def test_questions_are_one_to_twenty_texts_or_objects(schemas: Any) -> None:
    questions = schemas["FormDraftInput"]["properties"]["questions"]

    assert (questions["minItems"], questions["maxItems"]) == (1, 20)
    assert questions["items"]["oneOf"] == [
        {"type": "string"},
        {"$ref": "#/components/schemas/Question"},
    ]


@pytest.mark.parametrize("name", WORDS)
def test_enums_are_those_of_the_specification(name: str, schemas: Any) -> None:
    described = schemas[name].pop("description")

    assert schemas[name] == {"type": "string", "enum": WORDS[name]}
    assert all(f"`{word}`" in described for word in WORDS[name])


def test_follow_up_mode_documents_the_rule_for_one_question(schemas: Any) -> None:
    described = schemas["FormDraftInput"]["properties"]["followUpMode"]["description"]

    assert "For a one-question form, first ask the creator" in described


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_operation_is_that_of_the_specification(name: str, document: Any) -> None:
    method, path, scope, statuses = OPERATIONS[name]

    operation = operations(document)[name]

    assert (operation["method"], operation["path"]) == (method, path)
    assert operation["security"] == [{"oauth2": [scope]}]
    assert sorted(operation["responses"]) == statuses.split()


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_operation_takes_and_answers_what_the_specification_says(
    name: str, document: Any
) -> None:
    taken, parameters, answered = EXCHANGED[name]

    operation = operations(document)[name]
    success = operation["responses"][OPERATIONS[name][3].split()[0]]

    body = operation.get("requestBody", {"required": False, "content": {}})
    assert (body["required"], schema_of(body)) == (taken is not None, taken)
    assert schema_of(success) == answered
    found = [resolved(document, parameter) for parameter in operation["parameters"]]
    assert {
        parameter["name"]: (parameter["in"], parameter.get("required", False), parameter["schema"])
        for parameter in found
        if parameter["in"] != "header"
    } == {parameter: PARAMETERS[parameter] for parameter in parameters.split()}


def schema_of(described: Any) -> str | None:
    """The name of the JSON schema in a body or an answer."""
    content = described["content"].get("application/json")
    return content["schema"]["$ref"].rpartition("/")[2] if content else None


def resolved(document: Any, reference: dict[str, str]) -> Any:
    found = document
    for step in reference["$ref"].removeprefix("#/").split("/"):
        found = found[step]
    return found


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_header_that_may_be_sent_can_be_left_out(name: str, document: Any) -> None:
    parameters = operations(document)[name]["parameters"]
    headers = [found for one in parameters if (found := resolved(document, one))["in"] == "header"]

    assert not any(header.get("required") for header in headers)


def test_only_extensions_and_the_document_itself_are_added(document: Any) -> None:
    added = operations(document).keys() - OPERATIONS.keys()

    of_drafts = {"getServiceDraft", "getServiceDraftReview"}
    assert added == {*of_drafts, "getOpenapi", *(each.id for each in EXTENSIONS)}


def test_every_route_of_the_api_is_described(app: Flask, document: Any) -> None:
    routes = {
        (method.lower(), rule.rule.removeprefix("/api").replace("<", "{").replace(">", "}"))
        for rule in app.url_map.iter_rules()
        if rule.endpoint.startswith(("api.", "agent."))
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
    }

    described = {(op["method"], op["path"]) for op in operations(document).values()}
    assert {(method, re.sub("_id}", "Id}", path)) for method, path in routes} == described


def test_the_security_scheme_names_addresses_and_scopes(document: Any) -> None:
    flow = document["components"]["securitySchemes"]["oauth2"]["flows"]["authorizationCode"]

    assert flow["authorizationUrl"] == "http://127.0.0.1:8000/oauth/authorize"
    assert flow["tokenUrl"] == "http://127.0.0.1:8000/oauth/token"
    assert flow["scopes"].keys() == set(Scope)


@pytest.mark.parametrize(
    ("status", "header"), [("401", "WWW-Authenticate"), ("429", "Retry-After"), ("409", "Link")]
)
def test_headers_of_failures_are_described(status: str, header: str, document: Any) -> None:
    failures = [
        operation["responses"][status]
        for operation in operations(document).values()
        if status in operation["responses"]
        and (status, operation["operationId"]) != ("409", "createSubscription")  # of no draft
    ]

    assert failures
    assert all(header in failure["headers"] for failure in failures)


def failures(document: Any) -> list[Any]:
    """Every description of a status from 400 on."""
    found = [
        response
        for operation in operations(document).values()
        for status, response in operation["responses"].items()
        if status >= "400" and "$ref" not in response
    ]
    return [*found, document["components"]["responses"]["MethodNotAllowed"]]


def test_all_error_codes_are_described(document: Any) -> None:
    listed = {
        code
        for failure in failures(document)
        for code in failure["content"]["application/json"]["examples"]
    }

    assert listed == set(OF_REST)


def test_every_failure_is_the_same_error_with_a_code_that_is_any_string(document: Any) -> None:
    contents = [failure["content"]["application/json"] for failure in failures(document)]

    assert {content["schema"]["$ref"] for content in contents} == {"#/components/schemas/Error"}
    code = document["components"]["schemas"]["Error"]["properties"]["code"]
    assert "enum" not in code
    assert all(f"`{known}`" in code["description"] for known in OF_REST)
    assert not any(f"`{known}`" in code["description"] for known in OF_TOOLS)


def test_every_property_says_what_it_is(schemas: Any) -> None:
    silent = [
        f"{name}.{field}"
        for name, described in schemas.items()
        for field, schema in described.get("properties", {}).items()
        if not schema.get("description", "").endswith(".")
    ]

    assert silent == []


def test_every_operation_parameter_and_header_is_described_in_sentences(document: Any) -> None:
    components = document["components"]
    described = [
        *operations(document).values(),
        *components["parameters"].values(),
        *components["headers"].values(),
    ]

    assert [one for one in described if not one["description"].endswith(".")] == []


@pytest.mark.parametrize(
    ("settings_", "contact"),
    [
        ({}, {"name": "Who runs this server", "url": "http://127.0.0.1:8000/privacy"}),
        (
            {"operator_name": "Fernhill", "operator_contact": "privacy@fernhill.example"},
            {"name": "Fernhill", "email": "privacy@fernhill.example"},
        ),
        (
            {"operator_contact": "https://fernhill.example/@us"},
            {"name": "Who runs this server", "url": "https://fernhill.example/@us"},
        ),
    ],
)
def test_the_contact_is_the_operator(
    settings_: dict[str, str], contact: dict[str, str], settings: Settings
) -> None:
    made = openapi.document(settings.model_copy(update=settings_))

    assert made["info"]["contact"] == contact
    assert made["info"]["license"] == {"name": "MIT", "identifier": "MIT"}


def test_where_events_are_off_it_has_no_operation_of_theirs_and_says_so(
    settings: Settings,
) -> None:
    made = openapi.document(settings.model_copy(update={"mcp_events_enabled": False}))

    OpenAPIV31SpecValidator(made).validate()
    assert not [path for path in made["paths"] if "subscription" in path]
    assert "Events" not in [tag["name"] for tag in made["tags"]]
    assert "Events are switched off" in made["info"]["description"]


def test_the_document_is_the_same_each_time(settings: Settings) -> None:
    first, second = openapi.document(settings), openapi.document(settings)

    assert orjson.dumps(first) == orjson.dumps(second)


def test_the_document_is_public_and_readable_from_any_origin(client: FlaskClient) -> None:
    response = client.get("/api/openapi", headers={"Accept": "text/html"})

    assert (response.status_code, response.mimetype) == (200, "application/json")
    assert response.headers["Access-Control-Allow-Origin"] == "*"


def test_preflights_allow_the_headers_of_the_browser(client: FlaskClient) -> None:
    asked = {"Origin": "https://tool.example", "Access-Control-Request-Method": "GET"}

    response = client.options("/api/openapi", headers=asked)

    assert (response.status_code, response.data) == (200, b"")
    assert response.headers["Access-Control-Allow-Origin"] == "*"
    assert "GET" in response.headers["Access-Control-Allow-Methods"]
    for name in ("authorization", "if-none-match"):
        assert name in response.headers["Access-Control-Allow-Headers"]


def test_a_matching_etag_gets_304(client: FlaskClient) -> None:
    etag = client.get("/api/openapi").headers["ETag"]

    response = client.get("/api/openapi", headers={"If-None-Match": etag})

    assert (response.status_code, response.data) == (304, b"")
