"""What several tools are asked with."""

from typing import Annotated

from pydantic import Field, StrictStr

from webapp.domain.content.draft_fields import STORABLE, whole_number
from webapp.domain.shared.input_model import InputModel
from webapp.domain.shared.limits import WAIT_MAX_SECONDS, WAIT_SECONDS

FormId = Annotated[
    StrictStr, Field(min_length=1, description="The id of a published form, `frm_…`."), STORABLE
]
Since = Annotated[
    StrictStr,
    Field(
        description=(
            "The `nextSince` of an earlier result, unchanged: only what came after it. Without it "
            "everything from the beginning."
        )
    ),
]
TimeoutSeconds = Annotated[
    int,
    Field(
        ge=0,
        le=WAIT_MAX_SECONDS,
        description=f"How long to wait at most, {WAIT_SECONDS} unless sent.",
    ),
    whole_number(WAIT_MAX_SECONDS),
]


class FormArguments(InputModel):
    """Which form."""

    form_id: FormId
