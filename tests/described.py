"""Answers of the API against the OpenAPI document, whichever test asked for them."""

import re
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker
from werkzeug.test import TestResponse

from api.openapi.document import document
from webapp.base.config import Settings

PARAMETER = re.compile(r"\{[^}]+\}")
WRONG_METHOD = 405


def assert_described(method: str, path: str, answer: TestResponse) -> None:
    """The status is listed for the operation, headers and body are as its entry says.

    path   relative to `/api`, without a query. What is not described is left alone: addresses
           that do not exist, HEAD and OPTIONS.
    """
    described = _expected(method, path, answer.status_code)
    if described is None:
        return
    for name, reference in described.get("headers", {}).items():
        header = _document()["components"]["headers"][reference["$ref"].rpartition("/")[2]]
        if not header["required"] and name not in answer.headers:
            continue
        schema, value = header["schema"], answer.headers[name]
        validator(schema).validate(int(value) if schema["type"] == "integer" else value)
    contents = described.get("content", {})
    assert not contents or any(fnmatch(answer.mimetype, each) for each in contents)
    for content_type, content in contents.items():
        if content["schema"].get("format") == "binary":
            continue
        assert answer.mimetype == content_type
        body = answer.json if content_type == "application/json" else answer.text
        validator(content["schema"]).validate(body)


@cache
def _document() -> Any:
    settings = Settings(
        public_url="http://127.0.0.1:8000",
        database_url="sqlite:////nowhere",
        secret_key="only-for-tests-only-for-tests-only-for-tests",
        data_folder=Path(),
    )
    return document(settings)


def _expected(method: str, path: str, status: int) -> Any:
    """The entry of the document for this answer; None when no address of it was asked."""
    found = [
        operations
        for template, operations in _document()["paths"].items()
        if re.fullmatch(PARAMETER.sub("[^/]+", template), path)
    ]
    if not found or method in {"HEAD", "OPTIONS"}:
        return None
    if status == WRONG_METHOD:
        return _document()["components"]["responses"]["MethodNotAllowed"]
    return found[0][method.lower()]["responses"][str(status)]


def validator(schema: Any) -> Draft202012Validator:
    """References in the schema lead into the document."""
    return Draft202012Validator(
        {"components": _document()["components"], **schema}, format_checker=FormatChecker()
    )
