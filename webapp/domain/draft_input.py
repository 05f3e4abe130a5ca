"""FormDraftInput: a raw mapping becomes the changes of a draft, unknown keys refused.

The model also yields the schema of the OpenAPI document, so bounds and words stand here once.
"""

import re
from typing import Annotated, Any, TypedDict, cast

from pydantic import (
    AfterValidator,
    AliasGenerator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    StrictStr,
    Tag,
    ValidationError,
)
from pydantic.alias_generators import to_camel
from pydantic_core import ErrorDetails, PydanticCustomError

from webapp.domain import limits
from webapp.domain.content import QuestionRow
from webapp.domain.errors import InvalidInput
from webapp.domain.terms import FollowUpMode, ResponseLimit, ResponseMode

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")

# spec, FormDraftInput: both are said to agents wherever they meet these fields
CONTEXT_RULE = (
    "Private, never shown to respondents; required when smart follow-ups are enabled. A summary of "
    "relevant non-sensitive conversation context plus any extra context the creator gives."
)
ONE_QUESTION_RULE = (
    "For a one-question form, first ask the creator whether smart follow-up questions are wanted. "
    "If the creator enables them, summarize relevant conversation context, ask what other context "
    "to include, and send the combined private context in `context`."
)


class DraftChanges(TypedDict, total=False):
    """New values by content column; only what was supplied. Questions may lack an id."""

    title: str
    goal: str | None
    private_context: str | None
    questions: list[QuestionRow]
    follow_up_mode: FollowUpMode
    response_mode: ResponseMode
    response_limit: ResponseLimit
    followups_given: int | None
    max_total_questions: int | None


def _storable(text: str) -> str:
    if _UNSTORABLE.search(text):
        raise PydanticCustomError("invalid_text", "contains U+0000 or half a surrogate pair")
    return text


def _one_line(text: str) -> str:
    if _CONTROLS.search(text):
        raise PydanticCustomError("invalid_text", "contains a control or text-direction character")
    return text


def _whole(value: object) -> object:
    """JSON Schema calls 7.0 an integer; booleans and digits in a string are none."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise PydanticCustomError("int_type", "Input should be a whole number")
    return value


_STORABLE = AfterValidator(_storable)
_ONE_LINE = AfterValidator(_one_line)
Text = Annotated[StrictStr, _STORABLE]
Title = Annotated[StrictStr, Field(max_length=limits.TITLE_MAX_CHARS), _STORABLE, _ONE_LINE]
Goal = Annotated[StrictStr, Field(max_length=limits.GOAL_MAX_CHARS), _STORABLE]
Context = Annotated[StrictStr, Field(max_length=limits.CONTEXT_MAX_CHARS), _STORABLE]
QuestionId = Annotated[
    StrictStr,
    Field(min_length=1, max_length=limits.QUESTION_ID_MAX_CHARS),
    _STORABLE,
    _ONE_LINE,
]
FollowUps = Annotated[int, Field(ge=0, le=limits.FOLLOW_UPS_MAX), BeforeValidator(_whole)]
TotalQuestions = Annotated[int, Field(ge=0, le=limits.TOTAL_QUESTIONS_MAX), BeforeValidator(_whole)]


class _Input(BaseModel):
    model_config = ConfigDict(
        extra="forbid",
        alias_generator=AliasGenerator(validation_alias=to_camel),
        frozen=True,
    )


class Question(_Input):
    """A question; an `id` is made when none is given, `context` is a public helping line."""

    id: QuestionId = ""
    text: Text
    context: Text = ""


def _kind(value: object) -> str:
    return "text" if isinstance(value, str) else "object"


AskedQuestion = Annotated[
    Annotated[Text, Tag("text")] | Annotated[Question, Tag("object")],
    Discriminator(_kind),
]


class FormDraftInput(_Input):
    """The fields of a draft; none is required, and what is left out stays as it is."""

    title: Title = ""
    goal: Goal = ""
    context: Annotated[Context, Field(description=CONTEXT_RULE)] = ""
    questions: Annotated[
        list[AskedQuestion], Field(min_length=1, max_length=limits.QUESTIONS_MAX)
    ] = []
    follow_up_mode: Annotated[FollowUpMode, Field(description=ONE_QUESTION_RULE)] = (
        FollowUpMode.NONE
    )
    response_mode: ResponseMode = ResponseMode.VOICE_PREFERRED
    response_limit: ResponseLimit = ResponseLimit.MULTIPLE
    max_followups_per_question: FollowUps = 0
    max_total_questions: TotalQuestions = 0


_COLUMNS = {
    "context": "private_context",
    "max_followups_per_question": "followups_given",
}


def parse_draft_input(raw: object) -> DraftChanges:
    """The supplied fields of a FormDraftInput, validated.

    raises InvalidInput `unknown_field`, `invalid_text` or `validation_failed`; the message names
    the path of the first wrong field. An empty goal or context clears it.
    """
    try:
        given = FormDraftInput.model_validate(raw)
    except ValidationError as problem:
        raise _refusal(problem.errors(include_url=False)[0]) from None
    changes: dict[str, Any] = {
        _COLUMNS.get(name, name): getattr(given, name) for name in given.model_fields_set
    }
    for name in {"goal", "private_context"} & changes.keys():
        changes[name] = changes[name] or None
    if "questions" in changes:
        changes["questions"] = _question_rows(changes["questions"])
    return cast(DraftChanges, changes)


def _question_rows(questions: list[str | Question]) -> list[QuestionRow]:
    rows = [_question_row(question) for question in questions]
    ids = [row["id"] for row in rows if "id" in row]
    for position, row in enumerate(rows):
        if "id" in row and ids.count(row["id"]) > 1:
            raise InvalidInput(
                "validation_failed",
                f"questions[{position}].id: is used by another question of this form",
                "Give each question its own id, or leave ids out.",
                field=f"questions[{position}].id",
            )
    return rows


def _question_row(question: str | Question) -> QuestionRow:
    if isinstance(question, str):
        return QuestionRow(text=question)
    row = QuestionRow(text=question.text)
    if question.id:
        row["id"] = question.id
    if question.context:
        row["context"] = question.context
    return row


_REASONS = {
    "extra_forbidden": "is not a field of this object",
    "missing": "is missing",
    "list_type": "is not an array",
    "string_type": "is not a string",
    "too_short": "has fewer items than {min_length}",
    "too_long": "has more items than {max_length}",
}
_CODES = {
    "extra_forbidden": "unknown_field",
    "invalid_text": "invalid_text",
    "string_unicode": "invalid_text",
}


def _refusal(error: ErrorDetails) -> InvalidInput:
    field = _path(error["loc"])
    code = _CODES.get(error["type"], "validation_failed")
    resolutions = {
        "unknown_field": "Remove the field; only the fields of FormDraftInput are accepted.",
        "invalid_text": "Send the text without that character.",
        "validation_failed": "Correct the field as FormDraftInput describes and send it again.",
    }
    where = f"{field}: " if field else "body: "
    return InvalidInput(code, where + _reason(error), resolutions[code], field=field)


def _reason(error: ErrorDetails) -> str:
    """Without the words of Python; those of pydantic are kept where they have none."""
    if error["type"] == "model_type":
        return "is neither a string nor an object" if error["loc"] else "is not an object"
    if error["type"] in _REASONS:
        return _REASONS[error["type"]].format_map(error.get("ctx", {}))
    return error["msg"][:1].lower() + error["msg"][1:]


def _path(location: tuple[int | str, ...]) -> str:
    """`questions[0].text`, cut at 200 characters; the arm of a union is no part of it."""
    path = ""
    for before, step in zip((None, *location), location, strict=False):
        if isinstance(step, int):
            path += f"[{step}]"
        elif not (isinstance(before, int) and step in {"text", "object"}):
            path += f".{step}" if path else step
    return path[:200]
