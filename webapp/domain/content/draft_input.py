"""FormDraftInput: validates a raw mapping into the update of a draft; refuses unknown keys."""

from typing import Annotated, cast

from pydantic import Discriminator, Field, Tag

from webapp.domain.content.draft_fields import (
    Context,
    FollowUps,
    Goal,
    Hint,
    MaxFollowUps,
    MaxQuestions,
    Mode,
    QuestionId,
    QuestionText,
    Responses,
    Text,
    Title,
)
from webapp.domain.content.model import CHOICES, NUMBERS, DraftUpdate, QuestionRow
from webapp.domain.shared import limits
from webapp.domain.shared.error_codes import ErrorCode
from webapp.domain.shared.errors import InvalidInput
from webapp.domain.shared.input_model import InputModel, field_names, parse_input
from webapp.domain.shared.validation_errors import sent
from webapp.domain.shared.vocabulary import FollowUpMode, ResponseLimit, ResponseMode


class Question(InputModel):
    """A question with more than its text."""

    id: QuestionId = ""
    text: QuestionText
    context: Hint = ""


def _kind(value: object) -> str:
    return "text" if isinstance(value, str) else "object"


AskedQuestion = Annotated[
    Annotated[Text, Tag("text")] | Annotated[Question, Tag("object")],
    Discriminator(_kind),
]


class FormDraftInput(InputModel):
    """The fields of a draft. What an update leaves out stays as it is; null is accepted nowhere.
    No text may hold U+0000 or half of a surrogate pair.
    """

    SETTINGS = tuple(setting.name for setting in (*CHOICES, *NUMBERS))
    CLEARED = ("goal", "context")

    title: Title = ""
    goal: Goal = ""
    context: Context = ""
    questions: Annotated[
        list[AskedQuestion],
        Field(
            min_length=1,
            max_length=limits.QUESTIONS_MAX,
            description=(
                "All questions of the form in their order, each a plain string or an object. They "
                "replace those of the draft; one without an id keeps the id that its text had."
            ),
        ),
    ] = []
    follow_up_mode: FollowUps = FollowUpMode.NONE
    response_mode: Mode = ResponseMode.VOICE_PREFERRED
    response_limit: Responses = ResponseLimit.MULTIPLE
    max_followups_per_question: MaxFollowUps = 0
    max_total_questions: MaxQuestions = 0


FIELDS = field_names(FormDraftInput)
_COLUMNS = {
    "context": "private_context",
    "max_followups_per_question": "followups_given",
}


def parse_draft_input(raw: object) -> DraftUpdate:
    """The supplied fields of a FormDraftInput, validated.

    raises InvalidInput `unknown_field`, `invalid_text` or `validation_failed`; the message names
    the path of the first wrong field, the resolution the others. An empty goal or context clears
    it.
    """
    return draft_update(parse_input(FormDraftInput, raw))


def draft_update(given: FormDraftInput) -> DraftUpdate:
    """The supplied fields as columns. raises InvalidInput for an id that is used twice"""
    supplied = given.model_fields_set & FormDraftInput.model_fields.keys()
    changes = {_COLUMNS.get(name, name): getattr(given, name) for name in supplied}
    for name in {"goal", "private_context"} & changes.keys():
        changes[name] = changes[name] or None
    if "questions" in changes:
        changes["questions"] = _question_rows(given.questions)
    return cast(DraftUpdate, changes)


def _question_rows(questions: list[str | Question]) -> list[QuestionRow]:
    rows = [_question_row(question) for question in questions]
    ids = [row["id"] for row in rows if "id" in row]
    for position, row in enumerate(rows):
        if "id" in row and ids.count(row["id"]) > 1:
            raise InvalidInput(
                ErrorCode.VALIDATION_FAILED,
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
