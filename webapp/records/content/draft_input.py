"""The drafts and follow-ups that agents send: the limits of each field, and their parsing."""

import re
from typing import Annotated, cast

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, StrictStr, Tag
from pydantic_core import PydanticCustomError, PydanticKnownError

from webapp.base.errors import InputModel, field_names, parse_input, sent, wrong_field
from webapp.base.vocabulary import FollowUpCondition, FollowUpMode, ResponseLimit, ResponseMode
from webapp.records.content import model as content

TITLE_MAX_CHARS = 120  # contract; Unicode code points
GOAL_MAX_CHARS = 2000  # contract
CONTEXT_MAX_CHARS = 4000  # contract
PREPARED_MAX = 3  # follow-ups prepared for one question
PREPARED_MAX_CHARS = 300  # of each
QUESTION_ID_MAX_CHARS = 200  # room for any id scheme of an agent
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")

# Agents read both wherever the fields are described
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
    """Accept integers and, as JSON Schema does, 7.0; refuse booleans and digits in a string."""

    def check(value: object) -> object:
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise PydanticCustomError("whole_number", "refused", {"least": least, "most": most})
        return value

    return BeforeValidator(check)


STORABLE = _without(_UNSTORABLE)
ONE_LINE = _without(_CONTROLS)
Text = Annotated[StrictStr, STORABLE]


class Question(InputModel):
    """A question with more than its text."""

    id: Annotated[
        StrictStr,
        Field(
            min_length=1,
            max_length=QUESTION_ID_MAX_CHARS,
            description=(
                "Yours to choose: one line, unique in the form. Made for you when left out."
            ),
        ),
        STORABLE,
        ONE_LINE,
    ] = ""
    text: Annotated[
        Text,
        Field(
            description=(
                "What is asked; line breaks are kept. It has no limit of its own: all questions of "
                "a draft together must fit into 256 KiB."
            )
        ),
    ]
    context: Annotated[
        Text, Field(description='A public helping line below the text; `""` is the same as none.')
    ] = ""


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

    CLEARED = ("goal", "context")

    title: Annotated[
        StrictStr,
        Field(
            max_length=TITLE_MAX_CHARS,
            description=(
                "The heading that respondents read: one line without control and text-direction "
                'characters. `""` until it is sent; publishing needs it.'
            ),
        ),
        STORABLE,
        ONE_LINE,
    ] = ""
    goal: Annotated[
        StrictStr,
        Field(
            max_length=GOAL_MAX_CHARS,
            description='What the form is for; respondents never see it. `""` clears it.',
        ),
        STORABLE,
    ] = ""
    context: Annotated[
        StrictStr,
        Field(
            max_length=CONTEXT_MAX_CHARS,
            description=f'{CONTEXT_RULE} It is never returned. `""` clears it.',
        ),
        STORABLE,
    ] = ""
    questions: Annotated[
        list[AskedQuestion],
        Field(
            min_length=1,
            max_length=content.QUESTIONS_MAX,
            description=(
                "All questions of the form in their order, each a plain string or an object. They "
                "replace those of the draft; one without an id keeps the id that its text had."
            ),
        ),
    ] = []
    follow_up_mode: Annotated[
        FollowUpMode, Field(description=f"{ONE_QUESTION_RULE} A new draft has `none`.")
    ] = FollowUpMode.NONE
    response_mode: Annotated[
        ResponseMode,
        Field(description="How people are asked to answer. A new draft has `voice_preferred`."),
    ] = ResponseMode.VOICE_PREFERRED
    response_limit: Annotated[
        ResponseLimit,
        Field(description="How many responses the link takes in all. A new draft has `multiple`."),
    ] = ResponseLimit.MULTIPLE
    max_followups_per_question: Annotated[
        int,
        Field(
            ge=0,
            le=content.FOLLOW_UPS_MAX,
            description=(
                "Follow-up questions to one question at most. Until a number is sent it is 0, 2 or "
                "5 for `none`, `smart` and `deep_dive`."
            ),
        ),
        whole_number(content.FOLLOW_UPS_MAX),
    ] = 0
    max_total_questions: Annotated[
        int,
        Field(
            ge=0,
            le=content.TOTAL_QUESTIONS_MAX,
            description=(
                "Questions and follow-up questions for one person at most; the questions of the "
                "form are asked in any case. A new draft has no limit; one that was sent can be "
                "changed here and cleared by the creator."
            ),
        ),
        whole_number(content.TOTAL_QUESTIONS_MAX),
    ] = 0


FIELDS = field_names(FormDraftInput)
_COLUMNS = {
    "context": "private_context",
    "max_followups_per_question": "followups_given",
}


def parse_draft_input(raw: object) -> content.DraftUpdate:
    """Parse the supplied fields of a FormDraftInput. An empty goal or context clears it."""
    return draft_update(parse_input(FormDraftInput, raw))


def draft_update(given: FormDraftInput) -> content.DraftUpdate:
    """Return the supplied fields as columns. raises InvalidInput for an id that is used twice"""
    supplied = given.model_fields_set & FormDraftInput.model_fields.keys()
    changes = {_COLUMNS.get(name, name): getattr(given, name) for name in supplied}
    for name in {"goal", "private_context"} & changes.keys():
        changes[name] = changes[name] or None
    if "questions" in changes:
        changes["questions"] = _question_rows(given.questions)
    return cast(content.DraftUpdate, changes)


def _question_rows(questions: list[str | Question]) -> list[content.QuestionRow]:
    rows = [_question_row(question) for question in questions]
    ids = [row.get("id") for row in rows]
    for position, key in enumerate(ids):
        if key and ids.count(key) > 1:
            problem = f"is {sent(key)}, as another question of this form has it"
            resolution = "Give each question its own id, or leave ids out."
            raise wrong_field(f"questions[{position}].id", problem, resolution)
    return rows


def _question_row(question: str | Question) -> content.QuestionRow:
    if isinstance(question, str):
        return content.QuestionRow(text=question)
    row = content.QuestionRow(text=question.text)
    if question.id:
        row["id"] = question.id
    if question.context:
        row["context"] = question.context
    return row


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
    Field(max_length=PREPARED_MAX_CHARS),
    STORABLE,
    AfterValidator(_not_blank),
]


class FollowUp(InputModel):
    """A follow-up to one question of the form."""

    text: Annotated[FollowUpText, Field(description="What is asked, in one question.")]
    when: Annotated[FollowUpCondition, Field(description="`always` unless sent.")] = (
        FollowUpCondition.ALWAYS
    )


def _given(each: str | FollowUp) -> content.GivenFollowUp:
    asked = FollowUp(text=each) if isinstance(each, str) else each
    return content.GivenFollowUp(text=asked.text, condition=asked.when)


class FollowUpsOfQuestion(InputModel):
    """The follow-ups to one question of the form, as tools take them: their schemas have no keys
    that are free to choose.
    """

    question: Annotated[
        str, Field(description="The id of the question, or its position, from 1, as a string.")
    ]
    prepared: Annotated[
        list[FollowUp],
        Field(description=f"In the order of asking, {PREPARED_MAX} at most. {PROBE_RULE}"),
    ]


def _by_question(given: object) -> object:
    """Return the follow-ups by their question, from any accepted shape."""
    if not isinstance(given, dict | list):
        return given
    most = content.QUESTIONS_MAX * (1 if isinstance(given, dict) else PREPARED_MAX)
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
    """Return a list even of one, without `preparedBy`, so that a response can be sent back."""
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
                AfterValidator(_given),
            ]
        ],
        Field(max_length=PREPARED_MAX),
    ],
]
ToolFollowUps = Annotated[
    PreparedInput, BeforeValidator(_by_question, json_schema_input_type=list[FollowUpsOfQuestion])
]


class FollowUpsInput(InputModel):
    """All prepared follow-ups of a draft."""

    follow_ups: Annotated[
        PreparedInput,
        BeforeValidator(_by_question),
        Field(
            description=(
                "By the id of their question, or its position from 1; an id goes first. A string "
                "is a text that is asked `always`. They replace all that are there: a question "
                f"without an entry has none, `{{}}` clears all. {PROBE_RULE}"
            ),
        ),
    ]


def parse_follow_ups(raw: object) -> content.AgentUpdate:
    """Parse an update that replaces all prepared follow-ups; a response may be sent back."""
    if isinstance(raw, dict):
        raw = {name: value for name, value in raw.items() if name != "draftId"}
    given = parse_input(FollowUpsInput, raw)
    return content.AgentUpdate(follow_ups=cast(content.GivenFollowUps, given.follow_ups))
