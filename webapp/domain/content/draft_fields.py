"""The fields of a draft as agents send them: types, bounds and descriptions.

What the OpenAPI document says of a field stands at its type.
"""

import re
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field, StrictStr
from pydantic_core import PydanticCustomError

from webapp.domain.shared import limits
from webapp.domain.shared.vocabulary import FollowUpMode, ResponseLimit, ResponseMode

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")

# Both are said to agents wherever they meet the fields
CONTEXT_RULE = (
    "Private, never shown to respondents; required when smart follow-ups are enabled. A summary of "
    "relevant non-sensitive conversation context plus any extra context the creator gives."
)
ONE_QUESTION_RULE = (
    "For a one-question form, first ask the creator whether smart follow-up questions are wanted. "
    "If the creator enables them, summarize relevant conversation context, ask what other context "
    "to include, and send the combined private context in `context`."
)


def _without(refused: re.Pattern[str]) -> AfterValidator:
    def check(text: str) -> str:
        if found := refused.search(text):
            where = {"code_point": ord(found[0]), "place": found.start() + 1}
            raise PydanticCustomError("invalid_text", "refused", where)
        return text

    return AfterValidator(check)


def whole_number(most: int, least: int = 0) -> BeforeValidator:
    """JSON Schema calls 7.0 an integer; booleans and digits in a string are none."""

    def check(value: object) -> object:
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise PydanticCustomError("whole_number", "refused", {"least": least, "most": most})
        return value

    return BeforeValidator(check)


STORABLE = _without(_UNSTORABLE)
ONE_LINE = _without(_CONTROLS)
_ID = Field(
    min_length=1,
    max_length=limits.QUESTION_ID_MAX_CHARS,
    description="Yours to choose: one line, unique in the form. Made for you when left out.",
)

Text = Annotated[StrictStr, STORABLE]
QuestionText = Annotated[
    Text,
    Field(
        description=(
            "What is asked; line breaks are kept. It has no limit of its own: all questions of a "
            "draft together must fit into 256 KiB."
        )
    ),
]
Hint = Annotated[
    Text, Field(description='A public helping line below the text; `""` is the same as none.')
]
QuestionId = Annotated[StrictStr, _ID, STORABLE, ONE_LINE]
Title = Annotated[
    StrictStr,
    Field(
        max_length=limits.TITLE_MAX_CHARS,
        description=(
            "The heading that respondents read: one line without control and text-direction "
            'characters. `""` until it is sent; publishing needs it.'
        ),
    ),
    STORABLE,
    ONE_LINE,
]
Goal = Annotated[
    StrictStr,
    Field(
        max_length=limits.GOAL_MAX_CHARS,
        description='What the form is for; respondents never see it. `""` clears it.',
    ),
    STORABLE,
]
Context = Annotated[
    StrictStr,
    Field(
        max_length=limits.CONTEXT_MAX_CHARS,
        description=f'{CONTEXT_RULE} It is never returned. `""` clears it.',
    ),
    STORABLE,
]
FollowUps = Annotated[
    FollowUpMode, Field(description=f"{ONE_QUESTION_RULE} A new draft has `none`.")
]
Mode = Annotated[
    ResponseMode,
    Field(description="How people are asked to answer. A new draft has `voice_preferred`."),
]
Responses = Annotated[
    ResponseLimit,
    Field(description="How many responses the link takes in all. A new draft has `multiple`."),
]
MaxFollowUps = Annotated[
    int,
    Field(
        ge=0,
        le=limits.FOLLOW_UPS_MAX,
        description=(
            "Follow-up questions to one question at most. Until a number is sent it is 0, 2 or 5 "
            "for `none`, `smart` and `deep_dive`."
        ),
    ),
    whole_number(limits.FOLLOW_UPS_MAX),
]
MaxQuestions = Annotated[
    int,
    Field(
        ge=0,
        le=limits.TOTAL_QUESTIONS_MAX,
        description=(
            "Questions and follow-up questions for one person at most; the questions of the form "
            "are asked in any case. A new draft has no limit; one that was sent can be changed "
            "here and cleared by the creator."
        ),
    ),
    whole_number(limits.TOTAL_QUESTIONS_MAX),
]
