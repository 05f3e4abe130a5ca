"""The list of questions on the review page: add, edit, move, remove.

Pages address questions by position from 1, which the posted revision makes unambiguous. An open
editor also posts the id of its question, because other questions may move meanwhile.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from flask import Response, request, url_for

from webapp.base.errors import ErrorCode, InvalidInput
from webapp.base.vocabulary import FollowUpAuthor, FollowUpCondition
from webapp.pages.creator import draft_view, fields
from webapp.pages.creator.request import creator_blueprint, creator_id
from webapp.pages.fragments import go_to, wants_fragment
from webapp.records import drafts
from webapp.records.content.draft_input import PREPARED_MAX, parse_draft_input, parse_follow_ups
from webapp.records.content.model import DraftUpdate, PreparedFollowUp, QuestionRow

LIST = "questions/_questions.html"
ROW = "questions/_question_row.html"
WITH_PREVIEW = "questions/_row_and_preview.html"
NEW = QuestionRow(id="", text="")
Questions: TypeAlias = list[QuestionRow]

bp = creator_blueprint("questions", "/drafts/<draft_id>/questions")


@dataclass(frozen=True, slots=True)
class Opened:
    """The question that is being added, changed or removed.

    position  from 1; 0 = a new question
    question  the question as typed
    writes    the number of the follow-up that has the focus, 0 = the question
    theirs    the saved question, after a conflict
    after     the id of the question before a new one, "" = at the end
    """

    position: int = 0
    question: QuestionRow = field(default_factory=lambda: NEW)
    writes: int = 0
    theirs: QuestionRow | None = None
    leaving: bool = False
    unsaved: bool = False
    wrong_follow_up: bool = False
    after: str = ""

    @property
    def follow_ups(self) -> Sequence[PreparedFollowUp]:
        """The prepared follow-ups as typed."""
        return self.question.get("follow_ups", ())

    @property
    def key(self) -> str:
        """A short hash that identifies the question in element ids."""
        return hashlib.sha256((self.question["id"] or self.after).encode()).hexdigest()[:12]


@bp.get("")
def show(draft_id: str) -> Response:
    """Show the list without an editor; focus the question after which a new one was begun."""
    draft = drafts.get_draft(creator_id(), draft_id)
    begun_at = _position(draft, _after())
    at: dict[str, Any] = {"focus": begun_at, "asked": begun_at or len(draft.questions)}
    return draft_view.shown(draft, WITH_PREVIEW, "questions", rows=LIST, opened=None, **at)


@bp.get("/row")
def show_row(draft_id: str) -> Response:
    """Show one question without its editor; nothing if it was removed meanwhile."""
    draft = drafts.get_draft(creator_id(), draft_id)
    position = _position(draft, request.args.get("question", ""))
    if not position:
        return draft_view.shown(draft, "questions/_removed_row.html", "questions")
    at: dict[str, Any] = dict.fromkeys(("position", "focus", "asked"), position)
    return draft_view.shown(draft, WITH_PREVIEW, "questions", rows=ROW, opened=None, **at)


@bp.get("/new", endpoint="write")
@bp.get("/<int(min=1):position>/edit")
def edit(draft_id: str, position: int = 0) -> Response:
    """Show the editor of one question, or of a new one `after` another or at the end.

    `?follow_up=` is the number of the follow-up to focus.
    """
    draft = drafts.get_draft(creator_id(), draft_id)
    writes = min(max(request.args.get("follow_up", 0, type=int), 0), PREPARED_MAX)
    return _editing(draft, replace(_opened(draft, position), writes=writes))


@bp.get("/<int(min=1):position>/remove")
def ask_removal(draft_id: str, position: int) -> Response:
    """Ask before removing one question."""
    draft = drafts.get_draft(creator_id(), draft_id)
    opened = _opened(draft, position)
    return _editing(draft, replace(opened, leaving=opened.position > 0))


@bp.post("", endpoint="add")
@bp.post("/<int(min=1):position>")
def save(draft_id: str, position: int = 0) -> Response:
    """Save the question under its id, or add it, `after` another one or at the end.

    A question that was removed meanwhile is added at the end.
    """
    draft = drafts.get_draft(creator_id(), draft_id)
    place = _named(draft, position)
    return _rearranged(draft, place) or _save_words(draft, place, ROW if position else LIST)


@bp.post("/<int(min=1):position>/remove")
def remove(draft_id: str, position: int) -> Response:
    """Remove one question."""
    draft = drafts.get_draft(creator_id(), draft_id)
    place = _named(draft_view.as_posted_from(draft), position)
    done = f"Question {place} removed." if place else ""
    return _save_order(draft, lambda rows: _without(rows, place), focus=place - 1, done=done)


@bp.post("/<int(min=1):position>/position")
def move(draft_id: str, position: int) -> Response:
    """Move the question to position `to`."""
    draft = drafts.get_draft(creator_id(), draft_id)
    count = len(draft.questions)
    to = min(max(request.form.get("to", position, type=int), 1), count)

    def moved(rows: Questions) -> Questions:
        others = _without(rows, position)
        return [*others[: to - 1], *rows[position - 1 : position], *others[to - 1 :]]

    # the focus returns to the button that was used; keys count as the Edit button
    pressed = "edit" if request.form.get("by") == "keys" else "up" if to < position else "down"
    done = f"Moved to {to} of {count}." if position <= count else ""
    return _save_order(draft, moved, focus=to, focus_on=pressed, done=done)


def _save_words(draft: drafts.Draft, position: int, part: str) -> Response:
    """Save the typed question in place of the one at `position`; 0 adds a new one."""
    before = draft_view.as_posted_from(draft)
    new_at = (_position(before, _after()) or len(before.questions)) + 1

    def written(rows: Questions) -> Questions:
        before = rows[position - 1] if 0 < position <= len(rows) else NEW
        question = _typed_question(before)
        if before is NEW and not question["text"]:
            words = "write the question, or cancel"
            raise InvalidInput(ErrorCode.VALIDATION_FAILED, words, "", "text")
        if position:
            return [*rows[: position - 1], question, *rows[position:]]
        return [*rows[: new_at - 1], question, *rows[new_at - 1 :]]

    result = draft_view.attempt(draft, _changing(written))
    if isinstance(result, drafts.Draft):
        place = position or new_at
        if request.form.get("then") == "next" and place <= len(result.questions):
            # open an editor for a new question below the one just saved
            after = result.questions[place - 1]["id"]
            if not wants_fragment():
                return go_to(url_for("questions.write", draft_id=draft.id, after=after))
            return _answered(draft, result, LIST, **_around(result, Opened(after=after)))
        at = dict.fromkeys(("position", "focus", "asked"), place)
        return _answered(draft, result, part, **at)
    place = _named(draft, position)
    opened = _as_typed(_opened(draft, place))
    if isinstance(result, InvalidInput):
        # the error about a duplicate follow-up may name a question as its field
        wrong = result.field.startswith("followUps") or "of a follow-up" in result.message
        opened = replace(opened, wrong_follow_up=wrong)
    elif opened.position:
        opened = replace(opened, theirs=draft.questions[place - 1])
    return _answered(draft, result, part, position=opened.position, opened=opened, focus=0)


def _rearranged(draft: drafts.Draft, position: int) -> Response | None:
    """Show the editor with a follow-up moved up or removed by its button, without saving.

    None without such a button, and on an outdated page, whose conflict `_save_words` reports.
    """
    if fields.revision() != draft.revision:
        return None
    up, out = (request.form.get(name, 0, type=int) for name in ("up", "out"))
    opened = _as_typed(_opened(draft, position))
    rows = list(opened.follow_ups)
    if not (1 < up <= len(rows) or 0 < out <= len(rows)):
        return None
    row = rows.pop((up or out) - 1)
    if up:
        rows.insert(up - 2, row)
    writes = up - 1 if up else min(out, max(len(rows), 1))
    question: QuestionRow = {**opened.question, "follow_ups": rows}
    return _editing(draft, replace(opened, question=question, writes=writes, unsaved=True))


def _save_order(
    draft: drafts.Draft, change: Callable[[Questions], Questions], *, focus: int, **more: str
) -> Response:
    result = draft_view.attempt(draft, _changing(change))
    return _answered(draft, result, LIST, focus=focus, asked=focus or 1, **more)


def _answered(draft: drafts.Draft, result: draft_view.Result, part: str, **more: Any) -> Response:
    """Respond to a save: htmx swaps `part`, the row or the list; a full page shows the list."""
    values = {"part": part, "editor": LIST, "inside": part, "opened": None} | more
    return draft_view.answered(draft, result, anchor="questions", **values)


def _editing(draft: drafts.Draft, opened: Opened) -> Response:
    rows = ROW if opened.position else LIST
    return draft_view.edited(draft, LIST, inside=WITH_PREVIEW, rows=rows, **_around(draft, opened))


def _around(draft: drafts.Draft, opened: Opened) -> dict[str, Any]:
    """Return the variables of an editor and of the preview at its question, which may be new."""
    values: dict[str, Any] = {"opened": opened, "position": opened.position, "focus": -1}
    if opened.position:
        return values | {"asked": opened.position}
    before = _position(draft, opened.after) or len(draft.questions)
    questions = [*draft.questions[:before], NEW, *draft.questions[before:]]
    return values | {"previewed": questions, "asked": before + 1}


def _changing(change: Callable[[Questions], Questions]) -> Callable[[drafts.Draft], DraftUpdate]:
    """Return `change` with the validation of the API, which raises InvalidInput."""

    def changed(draft: drafts.Draft) -> DraftUpdate:
        rows = change([*draft.questions])
        sent = [{key: value for key, value in row.items() if key != "follow_ups"} for row in rows]
        parsed = parse_draft_input({"questions": sent})["questions"] if rows else []
        prepared = {
            str(number): [{"text": each["text"], "when": each["condition"]} for each in given]
            for number, row in enumerate(rows, start=1)
            if (given := row.get("follow_ups"))
        }
        parse_follow_ups({"followUps": prepared})
        for question, row in zip(parsed, rows, strict=True):
            if "follow_ups" in row:
                question["follow_ups"] = row["follow_ups"]
        return DraftUpdate(questions=parsed)

    return changed


def _as_typed(opened: Opened) -> Opened:
    question: QuestionRow = {"id": opened.question["id"], **_typed_question(opened.question)}
    return replace(opened, question=question)


def _typed_question(before: QuestionRow) -> QuestionRow:
    row = QuestionRow(text=fields.typed("text"))
    if before["id"]:
        row["id"] = before["id"]
    if hint := fields.typed("hint"):
        row["context"] = hint
    if follow_ups := _typed_follow_ups(before.get("follow_ups", ())):
        row["follow_ups"] = follow_ups
    return row


def _typed_follow_ups(before: Sequence[PreparedFollowUp]) -> list[PreparedFollowUp]:
    """Return the follow-ups that have text, in order; unchanged ones keep their author.

    A page without fields for follow-ups changes none.
    """
    if "follow_up-1" not in request.form:
        return list(before)
    found = []
    for number in range(1, PREPARED_MAX + 1):
        text = " ".join(fields.typed(f"follow_up-{number}").split("\n"))
        posted = request.form.get(f"condition-{number}", "")
        known = posted in set(FollowUpCondition)
        condition = FollowUpCondition(posted) if known else FollowUpCondition.ALWAYS
        new = PreparedFollowUp(text=text, condition=condition, prepared_by=FollowUpAuthor.CREATOR)
        same = (each for each in before if (each["text"], each["condition"]) == (text, condition))
        if text:
            found.append(next(same, new))
    return found


def _after() -> str:
    """Return the id of the question before a new one, "" = at the end."""
    return request.values.get("after", "")


def _opened(draft: drafts.Draft, position: int) -> Opened:
    """Open the question at `position`, or else a new one, at the end if `after` was removed."""
    if 0 < position <= len(draft.questions):
        return Opened(position, draft.questions[position - 1])
    return Opened(after=_after() if _position(draft, _after()) else "")


def _without(rows: Questions, position: int) -> Questions:
    return [row for at, row in enumerate(rows, start=1) if at != position]


def _named(draft: drafts.Draft, position: int) -> int:
    """Return the position of the posted question id; without an id, `position`."""
    named = request.form.get("question", "")
    return _position(draft, named) if named else position


def _position(draft: drafts.Draft, question_id: str) -> int:
    """Return the position from 1 of the question with this id, 0 if there is none."""
    ids = [question["id"] for question in draft.questions]
    return ids.index(question_id) + 1 if question_id in ids else 0
