"""Follow-ups that agents prepare: what they send, by the question it belongs to."""

from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, StrictStr, Tag
from pydantic_core import PydanticCustomError, PydanticKnownError

from webapp.domain.content.draft_fields import STORABLE
from webapp.domain.content.model import AgentUpdate, GivenFollowUp, GivenFollowUps
from webapp.domain.shared import limits
from webapp.domain.shared.input_model import InputModel, parse_input
from webapp.domain.shared.vocabulary import FollowUpCondition

PROBE_RULE = (
    "A good one is open, asks for what the goal needs and the question leaves open, and assumes "
    "nothing about the answer. Leave it out where the first answer is all you need."
)


def _not_blank(text: str) -> str:
    if not text.strip():
        raise PydanticCustomError("blank_text", "refused")
    return text


FollowUpText = Annotated[
    StrictStr,
    Field(max_length=limits.PREPARED_MAX_CHARS),
    STORABLE,
    AfterValidator(_not_blank),
]


class FollowUp(InputModel):
    """A follow-up to one question of the form."""

    text: Annotated[FollowUpText, Field(description="What is asked, in one question.")]
    when: Annotated[FollowUpCondition, Field(description="`always` unless sent.")] = (
        FollowUpCondition.ALWAYS
    )


class FollowUpsOfQuestion(InputModel):
    """The follow-ups to one question of the form, as tools take them: their schemas have no keys
    that are free to choose.
    """

    question: Annotated[
        str, Field(description="The id of the question, or its position, from 1, as a string.")
    ]
    prepared: Annotated[
        list[FollowUp],
        Field(description=f"In the order of asking, {limits.PREPARED_MAX} at most. {PROBE_RULE}"),
    ]


def _kind(value: object) -> str:
    return "text" if isinstance(value, str) else "object"


def _by_question(given: object) -> object:
    """The follow-ups by their question, from any form that they are taken in."""
    if not isinstance(given, dict | list):
        return given
    most = limits.QUESTIONS_MAX * (1 if isinstance(given, dict) else limits.PREPARED_MAX)
    if len(given) > most:
        raise PydanticKnownError(
            "too_long", {"field_type": "", "max_length": most, "actual_length": len(given)}
        )
    if isinstance(given, dict):
        return {key: _listed(value) for key, value in given.items()}
    found: dict[str, list[object]] = {}
    for position, each in enumerate(given, start=1):
        key, prepared = str(position), each
        if isinstance(each, dict) and "question" in each:
            rest = {name: value for name, value in each.items() if name != "question"}
            key = str(each["question"])
            prepared = rest["prepared"] if rest.keys() == {"prepared"} else rest
        found.setdefault(key, []).extend(_listed(prepared))
    return found


def _listed(given: object) -> list[object]:
    """One alone is a list of one; what an answer adds is left out, so that it can be sent back."""
    several = given if isinstance(given, list) else [] if given is None else [given]
    return [
        {name: value for name, value in each.items() if name != "preparedBy"}
        if isinstance(each, dict)
        else each
        for each in several
    ]


PreparedInput = dict[
    Annotated[str, STORABLE],
    Annotated[
        list[
            Annotated[
                Annotated[FollowUpText, Tag("text")] | Annotated[FollowUp, Tag("object")],
                Discriminator(_kind),
            ]
        ],
        Field(max_length=limits.PREPARED_MAX),
    ],
]
FollowUps = Annotated[PreparedInput, BeforeValidator(_by_question)]
ToolFollowUps = Annotated[
    PreparedInput, BeforeValidator(_by_question, json_schema_input_type=list[FollowUpsOfQuestion])
]


class FollowUpsInput(InputModel):
    """All prepared follow-ups of a draft."""

    follow_ups: Annotated[
        FollowUps,
        Field(
            description=(
                "By the id of their question, or its position from 1; an id goes first. A string "
                "is a text that is asked `always`. They replace all that are there: a question "
                f"without an entry has none, `{{}}` clears all. {PROBE_RULE}"
            ),
        ),
    ]


def parse_follow_ups(raw: object) -> AgentUpdate:
    """The update of a draft that replaces its prepared follow-ups; an answer may be sent back.

    raises InvalidInput as `parse_draft_input`
    """
    if isinstance(raw, dict):
        raw = {name: value for name, value in raw.items() if name != "draftId"}
    given = parse_input(FollowUpsInput, raw)
    return AgentUpdate(follow_ups=given_follow_ups(given.follow_ups))


def given_follow_ups(given: PreparedInput) -> GivenFollowUps:
    """The same, as an update holds it."""
    return {key: [_given(each) for each in several] for key, several in given.items()}


def _given(each: str | FollowUp) -> GivenFollowUp:
    if isinstance(each, str):
        return GivenFollowUp(text=each, condition=FollowUpCondition.ALWAYS)
    return GivenFollowUp(text=each.text, condition=each.when)
