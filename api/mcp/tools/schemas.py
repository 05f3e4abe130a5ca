"""The JSON Schemas of tools, made of the types that validate and serialise.

At the root they are plain objects: one root with oneOf, anyOf, allOf or $ref makes some hosts
refuse all tools of a session.
"""

from functools import cache

from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import JsonSchemaValue

from api.openapi.schemas import SchemaGenerator

DIALECT = "https://json-schema.org/draft/2020-12/schema"


@cache
def input_schema(model: type[BaseModel], *, nulls: bool) -> JsonSchemaValue:
    """Of the arguments of a tool; `nulls`: those that may be absent may be null."""
    made = model.model_json_schema(by_alias=True, schema_generator=SchemaGenerator)
    needed = made.get("required", ())
    for name, each in made["properties"].items() if nulls else ():
        if name not in needed:
            each["type"] = [each["type"], "null"]
    return _plain(made)


@cache
def output_schema(kind: type) -> JsonSchemaValue:
    """Of the structured content of its result."""
    made = TypeAdapter(kind).json_schema(mode="serialization", schema_generator=SchemaGenerator)
    return _plain(made)


def _plain(schema: JsonSchemaValue) -> JsonSchemaValue:
    if "$ref" in schema:  # a type that is nested in itself
        raise ValueError("the root of this schema is a reference")
    schema.pop("title", None)
    return {"$schema": DIALECT} | schema
