"""The JSON Schemas of tools, made of the types that validate and serialise.

They use only the keywords that every host and every vendor of models takes, in strict modes, too:
bounds are words of a description, which the types still check.
"""

from collections.abc import Iterator
from functools import cache

from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import core_schema

from api.openapi.schemas import SchemaGenerator

KEPT = ("type", "enum", "required")
BOUNDS = (
    (("minimum", "maximum"), "From {} to {}."),
    (("minItems", "maxItems"), "{} to {} items."),
    (("maxLength",), "At most {} characters."),
)


class ToolSchemaGenerator(SchemaGenerator):
    """Null is one of two schemas in results, and no word about arguments, where it is none."""

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        inner = self.generate_inner(schema["schema"])
        return inner if self.mode == "validation" else {"anyOf": [inner, {"type": "null"}]}


@cache
def input_schema(model: type[BaseModel]) -> JsonSchemaValue:
    """Of the arguments of a tool."""
    made = model.model_json_schema(by_alias=True, schema_generator=ToolSchemaGenerator)
    return _portable(made, made.get("$defs", {}), describes=True)


@cache
def output_schema(kind: type, *texts: str) -> JsonSchemaValue:
    """Of the structured content of its result. It is open: a client may keep it for long.

    texts  names of further strings in it
    """
    made = TypeAdapter(kind).json_schema(mode="serialization", schema_generator=ToolSchemaGenerator)
    schema = _portable(made, made.get("$defs", {}), describes=False)
    schema["properties"] = {name: {"type": "string"} for name in texts} | schema["properties"]
    schema["required"] = [*texts, *schema["required"]]
    return schema


def _portable(
    schema: JsonSchemaValue, types: dict[str, JsonSchemaValue], *, describes: bool
) -> JsonSchemaValue:
    """The same with its references resolved; fails where a type is nested in itself.

    describes  of arguments: with descriptions, and closed
    """
    named = types[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else {}
    whole = named | schema
    portable = {name: whole[name] for name in KEPT if name in whole}
    if describes and "properties" in whole:
        portable["additionalProperties"] = False
    elif describes and (said := " ".join(_said(whole, named))):
        portable["description"] = said
    if "properties" in whole:
        portable["properties"] = {
            name: _portable(each, types, describes=describes)
            for name, each in whole["properties"].items()
        }
    if "items" in whole:
        portable["items"] = _portable(whole["items"], types, describes=describes)
    if choices := whole.get("anyOf") or whole.get("oneOf"):
        portable["anyOf"] = [_portable(each, types, describes=describes) for each in choices]
    return portable


def _said(schema: JsonSchemaValue, named: JsonSchemaValue) -> Iterator[str]:
    """What a model reads of an argument: its words, what each word of an enum means, its bounds."""
    yield from schema.get("description", "").split()
    if named is not schema and named.get("description") != schema.get("description"):
        yield from named.get("description", "").partition("\n\n")[0].split()
    for bounds, words in BOUNDS:
        if all(bound in schema for bound in bounds):
            yield words.format(*(schema[bound] for bound in bounds))
