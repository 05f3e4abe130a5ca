"""AgentTokenInput: what an agent says of the token that it wants.

The model also yields the schema of the OpenAPI document.
"""

from typing import Annotated

from pydantic import AliasGenerator, BaseModel, ConfigDict, Field, StrictStr, ValidationError
from pydantic.alias_generators import to_camel

from webapp.domain.content.draft_fields import ONE_LINE, STORABLE, whole_number
from webapp.domain.shared.limits import (
    AGENT_TOKEN_LABEL_MAX_CHARS,
    AGENT_TOKEN_MAX_SECONDS,
    AGENT_TOKEN_MIN_SECONDS,
)
from webapp.domain.shared.validation_errors import refusal

Label = Annotated[
    StrictStr,
    Field(
        max_length=AGENT_TOKEN_LABEL_MAX_CHARS,
        description="What its creator knows it by: one line without control characters.",
    ),
    STORABLE,
    ONE_LINE,
]


class AgentTokenInput(BaseModel):
    """What may be said of a new agent token; null is accepted nowhere."""

    model_config = ConfigDict(
        extra="forbid", alias_generator=AliasGenerator(validation_alias=to_camel), frozen=True
    )

    label: Label = ""
    expires_in_seconds: Annotated[
        int,
        Field(
            ge=AGENT_TOKEN_MIN_SECONDS,
            le=AGENT_TOKEN_MAX_SECONDS,
            description=(
                "How long it lives, 7 days unless sent; never past the end of the connection."
            ),
        ),
        whole_number(AGENT_TOKEN_MAX_SECONDS, AGENT_TOKEN_MIN_SECONDS),
    ] = AGENT_TOKEN_MAX_SECONDS


FIELDS = tuple(to_camel(name) for name in AgentTokenInput.model_fields)


def parse_agent_token_input(raw: object) -> AgentTokenInput:
    """raises InvalidInput `unknown_field`, `invalid_text` or `validation_failed`, by the path"""
    try:
        return AgentTokenInput.model_validate(raw)
    except ValidationError as problem:
        errors = problem.errors(include_url=False)
        raise refusal(errors, body_fields=FIELDS, settings=()) from None
