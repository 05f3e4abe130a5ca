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
from pydantic_core import PydanticCustomError

from webapp.domain import limits
from webapp.domain.content import QuestionRow
from webapp.domain.errors import InvalidInput
from webapp.domain.input_errors import refusal, sent
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


def _without(refused: re.Pattern[str]) -> AfterValidator:
    def check(text: str) -> str:
        if found := refused.search(text):
            where = {"code_point": ord(found[0]), "place": found.start() + 1}
            raise PydanticCustomError("invalid_text", "refused", where)
        return text

    return AfterValidator(check)


def _whole(most: int) -> BeforeValidator:
    """JSON Schema calls 7.0 an integer; booleans and digits in a string are none."""

    def check(value: object) -> object:
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
            raise PydanticCustomError("whole_number", "refused", {"most": most})
        return value

    return BeforeValidator(check)


_STORABLE = _without(_UNSTORABLE)
_ONE_LINE = _without(_CONTROLS)
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
FollowUps = Annotated[int, Field(ge=0, le=limits.FOLLOW_UPS_MAX), _whole(limits.FOLLOW_UPS_MAX)]
TotalQuestions = Annotated[
    int, Field(ge=0, le=limits.TOTAL_QUESTIONS_MAX), _whole(limits.TOTAL_QUESTIONS_MAX)
]


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


_FIELDS = tuple(to_camel(name) for name in FormDraftInput.model_fields)
_SETTINGS = _FIELDS[_FIELDS.index("followUpMode") :]
_COLUMNS = {
    "context": "private_context",
    "max_followups_per_question": "followups_given",
}


def parse_draft_input(raw: object) -> DraftChanges:
    """The supplied fields of a FormDraftInput, validated.

    raises InvalidInput `unknown_field`, `invalid_text` or `validation_failed`; the message names
    the path of the first wrong field, the resolution the others. An empty goal or context clears
    it.
    """
    try:
        given = FormDraftInput.model_validate(raw)
    except ValidationError as problem:
        errors = problem.errors(include_url=False)
        raise refusal(errors, body_fields=_FIELDS, settings=_SETTINGS) from None
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
                f"questions[{position}].id: is {sent(row['id'])}, as another question of this form"
                " has it.",
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
