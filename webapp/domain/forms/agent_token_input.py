"""AgentTokenInput: what an agent says of the token that it wants."""

from typing import Annotated

from pydantic import Field, StrictStr

from webapp.domain.content.draft_fields import ONE_LINE, STORABLE, whole_number
from webapp.domain.shared.input_model import InputModel
from webapp.domain.shared.limits import (
    AGENT_TOKEN_LABEL_MAX_CHARS,
    AGENT_TOKEN_MAX_SECONDS,
    AGENT_TOKEN_MIN_SECONDS,
)

Label = Annotated[
    StrictStr,
    Field(
        max_length=AGENT_TOKEN_LABEL_MAX_CHARS,
        description="What its creator knows it by: one line without control characters.",
    ),
    STORABLE,
    ONE_LINE,
]


class AgentTokenInput(InputModel):
    """What may be said of a new agent token; null is accepted nowhere."""

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
