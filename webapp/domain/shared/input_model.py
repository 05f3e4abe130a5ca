"""What clients send as JSON objects: models that validate it and yield its schema in the API's
document.
"""

from typing import ClassVar, TypeVar

from pydantic import AliasGenerator, BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel

from webapp.domain.shared.validation_errors import refusal


class InputModel(BaseModel):
    """An object whose field names are in camel case; unknown fields are refused.

    SETTINGS  the fields to name to who sends them nested in `settings`
    """

    SETTINGS: ClassVar[tuple[str, ...]] = ()

    model_config = ConfigDict(
        extra="forbid", alias_generator=AliasGenerator(validation_alias=to_camel), frozen=True
    )


M = TypeVar("M", bound=InputModel)


def field_names(model: type[InputModel]) -> tuple[str, ...]:
    """The names of its fields as clients send them."""
    return tuple(map(to_camel, model.model_fields))


def parse_input(model: type[M], raw: object) -> M:
    """The object, validated.

    raises InvalidInput `unknown_field`, `invalid_text` or `validation_failed`, by the path
    """
    try:
        return model.model_validate(raw)
    except ValidationError as problem:
        errors = problem.errors(include_url=False)
        raise refusal(errors, body_fields=field_names(model), settings=model.SETTINGS) from None
