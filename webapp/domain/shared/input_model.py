"""What clients send as JSON objects: models that validate it and yield its schema in the API's
document.
"""

from typing import ClassVar, TypeVar

from pydantic import (
    AliasGenerator,
    BaseModel,
    ConfigDict,
    ValidationError,
    ValidationInfo,
    model_validator,
)
from pydantic.alias_generators import to_camel

from webapp.domain.shared.validation_errors import refusal

UNSET: tuple[object, ...] = (None, "", [])  # what serialisers write for a value that is not set


class InputModel(BaseModel):
    """An object whose field names are in camel case; unknown fields are refused.

    SETTINGS  the fields to name to who sends them nested in `settings`
    CLEARED   the fields that an empty text clears
    """

    SETTINGS: ClassVar[tuple[str, ...]] = ()
    CLEARED: ClassVar[tuple[str, ...]] = ()

    model_config = ConfigDict(
        extra="forbid", alias_generator=AliasGenerator(validation_alias=to_camel), frozen=True
    )

    @model_validator(mode="before")
    @classmethod
    def _drop_unset(cls, raw: object, info: ValidationInfo) -> object:
        """Without what serialisers write for an optional field that is not set."""
        if not isinstance(raw, dict) or not info.context:
            return raw
        fields = cls.model_fields.items()
        optional = {to_camel(name) for name, field in fields if not field.is_required()}
        unset = {name for name in optional & raw.keys() if raw[name] in UNSET}
        unset -= {name for name in cls.CLEARED if raw.get(name) == ""}
        return {name: value for name, value in raw.items() if name not in unset}


M = TypeVar("M", bound=InputModel)


def field_names(model: type[InputModel]) -> tuple[str, ...]:
    """The names of its fields as clients send them."""
    return tuple(map(to_camel, model.model_fields))


def parse_input(model: type[M], raw: object, *, drops_unset: bool = False) -> M:
    """The object, validated.

    drops_unset  null, `""` and `[]` are the same as an optional field that is absent
    raises InvalidInput `unknown_field`, `invalid_text` or `validation_failed`, by the path
    """
    try:
        return model.model_validate(raw, context=drops_unset)
    except ValidationError as problem:
        errors = problem.errors(include_url=False)
        raise refusal(errors, body_fields=field_names(model), settings=model.SETTINGS) from None
