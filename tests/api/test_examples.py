"""The examples of the OpenAPI document are within their schemas."""

from collections.abc import Iterator
from typing import Any

from api.openapi.document import document
from tests.described import validator
from webapp.base.config import Settings

BYTES = {"audio/*", "application/octet-stream"}


def contents(described: Any) -> Iterator[dict[str, Any]]:
    for methods in described["paths"].values():
        for operation in methods.values():
            for body in (operation.get("requestBody", {}), *operation["responses"].values()):
                content = body.get("content", {})
                yield from (each for kind, each in content.items() if kind not in BYTES)


def test_examples_are_within_their_schemas(settings: Settings) -> None:
    described = document(settings)
    named, found = described["components"]["examples"], [*contents(described)]

    assert len(found) > 30
    for content in found:
        examples = [named[code]["value"] for code in content.get("examples", {})]
        for example in examples or [content["example"]]:
            validator(content["schema"]).validate(example)
    for kind in ("parameters", "headers"):
        for one in described["components"][kind].values():
            if "example" in one:
                validator(one["schema"]).validate(one["example"])
