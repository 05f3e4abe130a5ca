"""The content of drafts and forms: questions, texts and settings."""

import hashlib
from enum import StrEnum
from typing import NamedTuple, TypeAlias, TypedDict, cast

import orjson
from sqlalchemy import JSON, Text
from sqlalchemy.orm import Mapped, mapped_column

from webapp.base import database, vocabulary
from webapp.base.errors import ErrorCode, path_of, wrong_field
from webapp.base.text import in_one_line

QUESTIONS_MAX = 20  # contract; written by agents or creators
FOLLOW_UPS_MAX = 50  # contract
TOTAL_QUESTIONS_MAX = 50  # contract; with follow-ups
REASON_MAX_CHARS = 200


class PreparedFollowUp(TypedDict):
    """A follow-up that was written before anybody answered, as stored in JSON."""

    text: str
    condition: vocabulary.FollowUpCondition
    prepared_by: vocabulary.FollowUpAuthor


class QuestionRow(TypedDict, total=False):
    """A question as stored in JSON, without empty fields. `context` is a public line of help;
    `follow_ups` are in the order of asking.
    """

    id: str
    text: str
    context: str
    follow_ups: list[PreparedFollowUp]


class GivenFollowUp(TypedDict):
    """A follow-up as an agent sends it."""

    text: str
    condition: vocabulary.FollowUpCondition


GivenFollowUps: TypeAlias = dict[str, list[GivenFollowUp]]  # by id or position of the question


class DraftUpdate(TypedDict, total=False):
    """Values by content column. A change has only those supplied; its questions may lack ids."""

    title: str
    goal: str | None
    private_context: str | None
    questions: list[QuestionRow]
    follow_up_mode: vocabulary.FollowUpMode
    response_mode: vocabulary.ResponseMode
    response_limit: vocabulary.ResponseLimit
    followups_given: int | None
    max_total_questions: int | None
    public_reason: str | None


class AgentUpdate(DraftUpdate, total=False):
    """A change by an agent; `follow_ups` replace all prepared ones, stored with the questions."""

    follow_ups: GivenFollowUps


class DraftSetting(NamedTuple):
    """A setting of drafts and of the forms that they become."""

    column: str
    name: str
    default: StrEnum | None
    most: int = 0


# in the order of the review page
DRAFT_SETTINGS = (
    DraftSetting("follow_up_mode", "followUpMode", vocabulary.FollowUpMode.NONE),
    DraftSetting("followups_given", "maxFollowupsPerQuestion", None, FOLLOW_UPS_MAX),
    DraftSetting("max_total_questions", "maxTotalQuestions", None, TOTAL_QUESTIONS_MAX),
    DraftSetting("response_mode", "responseMode", vocabulary.ResponseMode.VOICE_PREFERRED),
    DraftSetting("response_limit", "responseLimit", vocabulary.ResponseLimit.MULTIPLE),
)
CHOICES = tuple(setting for setting in DRAFT_SETTINGS if not setting.most)
NUMBERS = tuple(setting for setting in DRAFT_SETTINGS if setting.most)
ENUMS = {setting.column: type(setting.default) for setting in DRAFT_SETTINGS if setting.default}


class FormSettings(NamedTuple):
    """All settings, with the defaults filled in."""

    follow_up_mode: vocabulary.FollowUpMode
    response_mode: vocabulary.ResponseMode
    response_limit: vocabulary.ResponseLimit
    max_followups_per_question: int
    max_total_questions: int | None


class Content:
    """Columns shared by `Draft` and `Form`. Respondents never see `private_context`;
    `public_reason` tells them in one line why they are asked.
    """

    title: Mapped[str] = mapped_column(Text)
    goal: Mapped[str | None] = mapped_column(Text)
    private_context: Mapped[str | None] = mapped_column(Text)
    questions: Mapped[list[QuestionRow]] = mapped_column(JSON)
    follow_up_mode: Mapped[vocabulary.FollowUpMode]
    response_mode: Mapped[vocabulary.ResponseMode]
    response_limit: Mapped[vocabulary.ResponseLimit]
    followups_given: Mapped[int | None]
    max_total_questions: Mapped[int | None]
    public_reason: Mapped[str | None] = mapped_column(Text)


CONTENT_COLUMNS = (
    "title",
    "public_reason",
    "goal",
    "private_context",
    "questions",
    *(setting.column for setting in DRAFT_SETTINGS),
)


def form_settings(content: Content) -> FormSettings:
    """Return all settings of a draft, a form or a row of either's columns."""
    given = content.followups_given
    return FormSettings(
        content.follow_up_mode,
        content.response_mode,
        content.response_limit,
        vocabulary.DEFAULT_FOLLOW_UPS[content.follow_up_mode] if given is None else given,
        content.max_total_questions,
    )


def most_questions(content: Content) -> int:
    """Return the most questions that one respondent gets, with follow-ups up to both caps."""
    scripted = len(content.questions)
    cap = follow_ups_cap(content.follow_up_mode, content.followups_given)
    return most_with_follow_ups(scripted, scripted * cap, content.max_total_questions)


def asks_follow_ups(content: Content) -> bool:
    """Return True if mode and caps leave room for a follow-up question."""
    return most_questions(content) > len(content.questions)


def follow_ups_cap(mode: vocabulary.FollowUpMode, given: int | None) -> int:
    """Return the most follow-ups to one question; `given` is the chosen number, if any."""
    if mode is vocabulary.FollowUpMode.NONE:
        return 0
    return vocabulary.DEFAULT_FOLLOW_UPS[mode] if given is None else given


def most_with_follow_ups(scripted: int, follow_ups: int, max_total: int | None) -> int:
    """Return the number of scripted questions, which are all asked, plus follow-ups that fit."""
    most = scripted + follow_ups
    return most if max_total is None else max(scripted, min(most, max_total))


def snapshot(content: Content) -> DraftUpdate:
    """Return the content columns of a draft, a form or a row of either, by name."""
    return cast(DraftUpdate, {name: getattr(content, name) for name in CONTENT_COLUMNS})


def content_hash(content: Content) -> str:
    """Return the SHA-256 of everything that a confirmation covers, as canonical JSON."""
    covered = {
        **snapshot(content),
        "followups_given": form_settings(content).max_followups_per_question,
    }
    if content.public_reason is None:  # as before the column existed
        del covered["public_reason"]
    return hashlib.sha256(orjson.dumps(covered, option=orjson.OPT_SORT_KEYS)).hexdigest()


def clean_reason(text: str) -> str | None:
    """Return the public reason as stored, in one line; None if empty. Raises InvalidInput."""
    reason = in_one_line(text)
    if len(reason) > REASON_MAX_CHARS:
        problem = f"has {len(reason)} characters; at most {REASON_MAX_CHARS} are allowed"
        raise wrong_field("reason", problem, "Say it in one short sentence.")
    return reason or None


def about_minutes(scripted: int, most: int) -> int:
    """Estimate a respondent's minutes, at least 1: 45 s per question, 20 per possible follow-up."""
    return max(1, round((45 * scripted + 20 * (most - scripted)) / 60))


def missing_parts(content: Content) -> dict[str, str]:
    """Return what prevents publishing: phrases for a sentence, by the path of the field."""
    missing = {} if content.title.strip() else {"title": "a title"}
    if not content.questions:
        missing["questions"] = "a question"
    for position, question in enumerate(content.questions):
        if not question["text"].strip():
            missing[f"questions[{position}].text"] = "words for every question"
    if lacks_context(content):
        missing["context"] = "the private context that smart follow-ups need"
    return missing


def lacks_context(content: Content) -> bool:
    """Return True if follow-ups are `smart` and the private context they need is empty."""
    smart = content.follow_up_mode is vocabulary.FollowUpMode.SMART
    return smart and not (content.private_context or "").strip()


def merged(changes: DraftUpdate, before: list[QuestionRow], *, by_agent: bool) -> DraftUpdate:
    """Return the new values of content columns; questions of `before` may keep their ids.

    by_agent  its questions come without follow-ups; the stored ones stay as they are unless
              `changes` is an AgentUpdate with others
    """
    given = changes.copy()
    prepared = cast(AgentUpdate, given).pop("follow_ups", None)
    keys: dict[str, str] = {}
    if "questions" in given:
        given["questions"] = _with_ids(given["questions"], before)
        if by_agent:
            kept = {row["id"]: row["follow_ups"] for row in before if "follow_ups" in row}
            for row in given["questions"]:
                if row["id"] in kept:
                    row["follow_ups"] = kept[row["id"]]
    if prepared is not None:
        questions = given.get("questions", before)
        keys = _question_keys(questions, prepared)
        given["questions"] = [
            _prepared(row, prepared.get(keys.get(row["id"], ""), [])) for row in questions
        ]
    if "questions" in given:
        _require_different(given["questions"], keys)
    return given


def _question_keys(questions: list[QuestionRow], prepared: GivenFollowUps) -> dict[str, str]:
    ids = [row["id"] for row in questions]
    by_position = {str(place): key for place, key in enumerate(ids, start=1)}
    found: dict[str, str] = {}
    for key in prepared:
        question_id = key if key in ids else by_position.get(key)
        path = path_of(("followUps", key))
        if question_id is None:
            which = f"Send the id of a question, or its position, from 1 to {len(ids)}."
            none_yet = "Send the questions first, or with the same call."
            problem = "is neither the id nor the position of a question of this draft"
            raise wrong_field(path, problem, which if ids else none_yet)
        if question_id in found:
            problem = f"is the question that {path_of(('followUps', found[question_id]))} names"
            raise wrong_field(path, problem, "Send all follow-ups to a question under one key.")
        found[question_id] = key
    return found


def _prepared(question: QuestionRow, given: list[GivenFollowUp]) -> QuestionRow:
    """Return the question with an agent's follow-ups; an unchanged one keeps its author."""
    row = question.copy()
    before = row.pop("follow_ups", [])
    if given:
        by_creator = vocabulary.FollowUpAuthor.CREATOR
        made = [PreparedFollowUp(**each, prepared_by=by_creator) for each in given]
        by_agent = vocabulary.FollowUpAuthor.AGENT
        row["follow_ups"] = [
            each if each in before else PreparedFollowUp(**each | {"prepared_by": by_agent})
            for each in made
        ]
    return row


def _require_different(questions: list[QuestionRow], keys: dict[str, str]) -> None:
    """Refuse a text that would be asked twice; `keys`: what follow-ups were sent under."""
    asked = {_compared(row["text"]): place for place, row in enumerate(questions)}
    earlier: set[str] = set()
    for number, row in enumerate(questions, start=1):
        key = keys.get(row["id"])
        for place, each in enumerate(row.get("follow_ups", [])):
            text = _compared(each["text"])
            path = path_of(("followUps", key or row["id"], place, "object", "text"))
            reason = "is a follow-up of this form already"
            if text in asked:
                reason = f"is the text of question {asked[text] + 1}"
                if key is None:
                    path = f"questions[{asked[text]}].text"
                    reason = f"is the text of a follow-up to question {number}"
            elif text not in earlier:
                earlier.add(text)
                continue
            raise wrong_field(path, reason, "Ask it once, as a question or as a follow-up.")


def _compared(text: str) -> str:
    return " ".join(text.split()).casefold()


def _with_ids(questions: list[QuestionRow], before: list[QuestionRow]) -> list[QuestionRow]:
    """Give questions without an id that of an equal earlier one, so that repeats change nothing."""
    taken = {question["id"] for question in questions if "id" in question}
    free: dict[str, list[str]] = {}
    for old in reversed(before):
        if old["id"] not in taken:
            free.setdefault(old["text"], []).append(old["id"])

    def id_of(question: QuestionRow) -> str:
        known = free.get(question["text"])
        return question.get("id") or (known.pop() if known else database.new_id("q"))

    return [{**question, "id": id_of(question)} for question in questions]


def require_context(content: Content) -> None:
    """Raise InvalidInput `context_required` if smart follow-ups lack their private context."""
    if lacks_context(content):
        resolution = (
            "Send `context` with a summary of what the follow-ups should know, or another"
            " followUpMode."
        )
        problem, code = "smart follow-ups need a private context", ErrorCode.CONTEXT_REQUIRED
        raise wrong_field("context", problem, resolution, code)
