"""The list of questions on the review page: write, change, move, remove.

Pages address questions by position from 1, which the posted revision makes unambiguous.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from flask import Blueprint, Response, request
from flask.typing import ResponseReturnValue

from webapp.domain import drafts
from webapp.domain.content import QuestionRow
from webapp.domain.draft_input import DraftChanges, parse_draft_input
from webapp.domain.drafts import Draft
from webapp.domain.errors import InvalidInput
from webapp.pages import review
from webapp.pages.desk import creator_id, posted_revision, require_creator, typed

LIST = "drafts/_questions.html"

bp = Blueprint("questions", __name__, url_prefix="/drafts/<draft_id>/questions")
bp.before_request(require_creator)


@dataclass(frozen=True, slots=True)
class Opened:
    """The one question that is being written, changed or removed; `position` 0 = a new one."""

    position: int
    text: str = ""
    hint: str = ""
    theirs: QuestionRow | None = None
    leaving: bool = False


@bp.get("")
def show(draft_id: str) -> ResponseReturnValue:
    """The list of questions; `focus` names the one that was just left."""
    draft = drafts.get_draft(creator_id(), draft_id)
    focus = request.args.get("focus", 0, type=int)
    return review.shown(draft, LIST, "questions", opened=None, focus=focus)


@bp.get("/new")
def write(draft_id: str) -> ResponseReturnValue:
    """The list with an editor for a new question at its end."""
    draft = drafts.get_draft(creator_id(), draft_id)
    return review.editing(draft, LIST, opened=Opened(0), focus=-1)


@bp.get("/<int(min=1):position>/edit")
def edit(draft_id: str, position: int) -> ResponseReturnValue:
    """The list with one question open."""
    draft = drafts.get_draft(creator_id(), draft_id)
    return review.editing(draft, LIST, opened=_opened(draft, position), focus=-1)


@bp.get("/<int(min=1):position>/remove")
def ask_removal(draft_id: str, position: int) -> ResponseReturnValue:
    """The list with one question that is about to go."""
    draft = drafts.get_draft(creator_id(), draft_id)
    opened = Opened(position, leaving=True) if _has(draft, position) else None
    return review.editing(draft, LIST, opened=opened, focus=-1)


@bp.post("")
def add(draft_id: str) -> ResponseReturnValue:
    """A question at the end."""
    return _save_words(draft_id, 0, lambda rows: [*rows, _typed_question({})])


@bp.post("/<int(min=1):position>")
def save(draft_id: str, position: int) -> ResponseReturnValue:
    """The question's new words; its id stays."""

    def replaced(rows: list[QuestionRow]) -> list[QuestionRow]:
        rows[position - 1] = _typed_question(rows[position - 1])
        return rows

    return _save_words(draft_id, position, replaced)


@bp.post("/<int(min=1):position>/remove")
def remove(draft_id: str, position: int) -> ResponseReturnValue:
    """Take one question out of the list."""
    return _save_order(
        draft_id, position, position - 1, lambda rows: rows[: position - 1] + rows[position:]
    )


@bp.post("/<int(min=1):position>/position")
def move(draft_id: str, position: int) -> ResponseReturnValue:
    """The question to position `to`, the others in their order around it."""
    to = request.form.get("to", position, type=int)

    def moved(rows: list[QuestionRow]) -> list[QuestionRow]:
        row = rows.pop(position - 1)
        rows.insert(max(to, 1) - 1, row)
        return rows

    return _save_order(draft_id, position, to, moved)


def _save_words(
    draft_id: str, position: int, change: Callable[[list[QuestionRow]], list[QuestionRow]]
) -> Response:
    draft = drafts.get_draft(creator_id(), draft_id)
    result = review.attempt(draft, lambda: _changed(draft, position, change))
    if isinstance(result, Draft):
        return _answered(draft, result, opened=None, focus=position or len(result.questions))
    opened = _opened(draft, position)
    if not isinstance(result, InvalidInput):
        opened = _opened_after_conflict(draft, position)
    typed_in = Opened(opened.position, typed("text"), typed("hint"), opened.theirs)
    return _answered(draft, result, opened=typed_in, focus=0)


def _save_order(
    draft_id: str,
    position: int,
    focus: int,
    change: Callable[[list[QuestionRow]], list[QuestionRow]],
) -> Response:
    draft = drafts.get_draft(creator_id(), draft_id)
    result = review.attempt(draft, lambda: _changed(draft, position, change))
    return _answered(draft, result, opened=None, focus=focus)


def _answered(draft: Draft, result: review.Result, **more: Any) -> Response:
    return review.answered(draft, result, part=LIST, editor=LIST, anchor="questions", **more)


def _changed(
    draft: Draft,
    position: int,
    change: Callable[[list[QuestionRow]], list[QuestionRow]],
) -> DraftChanges:
    """The new list; no change where the position is not there, as on a page of another revision."""
    if position and not _has(draft, position):
        return DraftChanges()
    rows = change([*draft.questions])
    return parse_draft_input({"questions": rows}) if rows else DraftChanges(questions=[])


def _typed_question(before: QuestionRow) -> QuestionRow:
    row = QuestionRow(text=typed("text"))
    if "id" in before:
        row["id"] = before["id"]
    if hint := typed("hint"):
        row["context"] = hint
    return row


def _opened(draft: Draft, position: int) -> Opened:
    if not _has(draft, position):
        return Opened(0)
    question = draft.questions[position - 1]
    return Opened(position, question["text"], question.get("context", ""))


def _opened_after_conflict(draft: Draft, position: int) -> Opened:
    """Where the question of the outdated page stands now; gone means that it would be new."""
    before = drafts.find_revision(draft, posted_revision())
    if before is None or not 0 < position <= len(before.questions):
        return Opened(0)
    wanted = before.questions[position - 1]["id"]
    for place, question in enumerate(draft.questions, 1):
        if question["id"] == wanted:
            return Opened(place, theirs=question)
    return Opened(0)


def _has(draft: Draft, position: int) -> bool:
    return 0 < position <= len(draft.questions)
