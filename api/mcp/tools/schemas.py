"""The JSON Schemas of tools, made of the types that validate and serialise.

At the root they are plain objects: one root with oneOf, anyOf, allOf or $ref makes some hosts
refuse all tools of a session. Inside, what may be null is an anyOf of single types: some hosts
know no list of types.
"""

from functools import cache

from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import core_schema

from api.openapi.schemas import SchemaGenerator

DIALECT = "https://json-schema.org/draft/2020-12/schema"


class ToolSchemaGenerator(SchemaGenerator):
    """Null as one of two schemas."""

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        return _or_null(self.generate_inner(schema["schema"]))


@cache
def input_schema(model: type[BaseModel], *, nulls: bool) -> JsonSchemaValue:
    """Of the arguments of a tool; `nulls`: those that may be absent may be null."""
    made = model.model_json_schema(by_alias=True, schema_generator=ToolSchemaGenerator)
    needed = made.get("required", ())
    for name, each in made["properties"].items() if nulls else ():
        if name not in needed and "anyOf" not in each:
            made["properties"][name] = _or_null(each)
    return _plain(made)


@cache
def output_schema(kind: type) -> JsonSchemaValue:
    """Of the structured content of its result."""
    made = TypeAdapter(kind).json_schema(mode="serialization", schema_generator=ToolSchemaGenerator)
    return _plain(made)


def _or_null(schema: JsonSchemaValue) -> JsonSchemaValue:
    kind = {name: value for name, value in schema.items() if name != "description"}
    said = {name: value for name, value in schema.items() if name == "description"}
    return said | {"anyOf": [kind, {"type": "null"}]}


def _plain(schema: JsonSchemaValue) -> JsonSchemaValue:
    if "$ref" in schema:  # a type that is nested in itself
        raise ValueError("the root of this schema is a reference")
    schema.pop("title", None)
    return {"$schema": DIALECT} | schema
