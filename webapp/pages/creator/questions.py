"""The list of questions on the review page: add, edit, move, remove.

Pages address questions by position from 1, which the posted revision makes unambiguous. An open
editor names its question, too: others may move while it is open.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from flask import Response, request, url_for
from flask.typing import ResponseReturnValue

from webapp.base.errors import ErrorCode, InvalidInput
from webapp.base.vocabulary import FollowUpAuthor, FollowUpCondition
from webapp.drafts import revisions
from webapp.pages.creator import draft_view
from webapp.pages.creator.request import creator_blueprint, creator_id, posted_revision, typed
from webapp.pages.fragments import go_to, wants_fragment
from webapp.records import drafts
from webapp.records.content.draft_input import PREPARED_MAX, parse_draft_input, parse_follow_ups
from webapp.records.content.model import DraftUpdate, PreparedFollowUp, QuestionRow
from webapp.records.drafts import Draft

LIST = "questions/_questions.html"
ROW = "questions/_question_row.html"
WITH_PREVIEW = "questions/_row_and_preview.html"

bp = creator_blueprint("questions", "/drafts/<draft_id>/questions")


@dataclass(frozen=True, slots=True)
class Opened:
    """The one question that is being added, changed or removed.

    position    from 1; 0 = a new one
    follow_ups  the prepared ones as they are written
    writes      the number of the follow-up that has the focus, 0 = the question
    after       the id of the question that a new one follows, "" = at the end
    """

    position: int
    id: str = ""
    text: str = ""
    hint: str = ""
    follow_ups: Sequence[PreparedFollowUp] = ()
    writes: int = 0
    theirs: QuestionRow | None = None
    leaving: bool = False
    unsaved: bool = False
    wrong_follow_up: bool = False
    after: str = ""

    @property
    def key(self) -> str:
        """A short identifier of the question for element ids."""
        return hashlib.sha256((self.id or self.after).encode()).hexdigest()[:12]


@bp.get("")
def show(draft_id: str) -> ResponseReturnValue:
    """The list without an editor; the focus returns to where a new question was begun."""
    draft = drafts.get_draft(creator_id(), draft_id)
    begun_at = _position(draft, _after())
    at: dict[str, Any] = {"focus": begun_at, "asked": _shown(draft, begun_at), "rows": LIST}
    return draft_view.shown(draft, WITH_PREVIEW, "questions", opened=None, **at)


@bp.get("/row")
def show_row(draft_id: str) -> ResponseReturnValue:
    """One question without its editor; empty if it was removed meanwhile."""
    draft = drafts.get_draft(creator_id(), draft_id)
    position = _position(draft, request.args.get("question", ""))
    if not position:
        return draft_view.shown(draft, "questions/_removed_row.html", "questions")
    at: dict[str, Any] = {"position": position, "focus": position, "asked": position, "rows": ROW}
    return draft_view.shown(draft, WITH_PREVIEW, "questions", opened=None, **at)


@bp.get("/new")
def write(draft_id: str) -> ResponseReturnValue:
    """The list with an editor for a new question `after` another, or at its end."""
    draft = drafts.get_draft(creator_id(), draft_id)
    return _editing(draft, _new(draft, _after()))


@bp.get("/<int(min=1):position>/edit")
def edit(draft_id: str, position: int) -> ResponseReturnValue:
    """The editor of one question; `?follow_up=` is the number of the one to write."""
    draft = drafts.get_draft(creator_id(), draft_id)
    writes = min(max(request.args.get("follow_up", 0, type=int), 0), PREPARED_MAX)
    return _editing(draft, replace(_opened(draft, position), writes=writes))


@bp.get("/<int(min=1):position>/remove")
def ask_removal(draft_id: str, position: int) -> ResponseReturnValue:
    """Ask before removing one question."""
    draft = drafts.get_draft(creator_id(), draft_id)
    return _editing(draft, replace(_opened(draft, position), leaving=_has(draft, position)))


@bp.post("")
def add(draft_id: str) -> ResponseReturnValue:
    """Add a question `after` another, or at the end."""
    draft = drafts.get_draft(creator_id(), draft_id)
    return _rearranged(draft, 0) or _save_words(draft, 0, LIST)


@bp.post("/<int(min=1):position>")
def save(draft_id: str, position: int) -> ResponseReturnValue:
    """Save the question under its id; one removed meanwhile is added at the end."""
    draft = drafts.get_draft(creator_id(), draft_id)
    place = _named(draft, position)
    return _rearranged(draft, place) or _save_words(draft, place, ROW)


@bp.post("/<int(min=1):position>/remove")
def remove(draft_id: str, position: int) -> ResponseReturnValue:
    """Remove one question."""
    draft = drafts.get_draft(creator_id(), draft_id)
    place = _named(draft_view.as_posted_from(draft), position)
    gone = slice(place - 1, place) if place else slice(0)

    def without(rows: list[QuestionRow]) -> list[QuestionRow]:
        del rows[gone]
        return rows

    done = f"Question {place} removed." if place else ""
    return _save_order(draft, place, without, focus=place - 1, done=done)


@bp.post("/<int(min=1):position>/position")
def move(draft_id: str, position: int) -> ResponseReturnValue:
    """Move the question to position `to`."""
    draft = drafts.get_draft(creator_id(), draft_id)
    to = request.form.get("to", position, type=int)
    to = min(max(to, 1), len(draft.questions))

    def moved(rows: list[QuestionRow]) -> list[QuestionRow]:
        row = rows.pop(position - 1)
        rows.insert(to - 1, row)
        return rows

    done = f"Moved to {to} of {len(draft.questions)}."
    notice = {"focus_on": _pressed(position, to), "done": done if _has(draft, position) else ""}
    return _save_order(draft, position, moved, focus=to, **notice)


def _save_words(draft: Draft, position: int, part: str) -> Response:
    """The typed question instead of the one at `position`, or as a new one (0)."""
    before = draft_view.as_posted_from(draft)
    new_at = (_position(before, _after()) or len(before.questions)) + 1

    def written(rows: list[QuestionRow]) -> list[QuestionRow]:
        place = slice(position - 1, position) if position else slice(new_at - 1, new_at - 1)
        rows[place] = [_typed_question(rows[position - 1] if position else {})]
        return rows

    result = draft_view.attempt(draft, partial(_changed, position, written))
    if isinstance(result, Draft):
        place = position or new_at
        if request.form.get("then") == "next" and _has(result, place):
            return _next(draft, result, place)
        at = {"position": place, "focus": place, "asked": place}
        return _answered(draft, result, part, opened=None, **at)
    opened = _opened(draft, position)
    if isinstance(result, InvalidInput):
        opened = replace(opened, wrong_follow_up=_is_of_follow_up(result))
    else:
        opened = _opened_after_conflict(draft, position)
    return _answered(
        draft, result, part, position=opened.position, opened=_as_typed(opened), focus=0
    )


def _is_of_follow_up(problem: InvalidInput) -> bool:
    """Also where the refusal names the question that asks the same."""
    return problem.field.startswith("followUps") or "of a follow-up" in problem.message


def _rearranged(draft: Draft, position: int) -> Response | None:
    """The editor with a follow-up moved `up` or left out, where a button of it was pressed; nothing
    is saved. None on an outdated page, which shows the conflict first.
    """
    if posted_revision() != draft.revision:
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
    return _editing(draft, replace(opened, follow_ups=rows, writes=writes, unsaved=True))


def _as_typed(opened: Opened) -> Opened:
    follow_ups = _typed_follow_ups(opened.follow_ups)
    return replace(opened, text=typed("text"), hint=typed("hint"), follow_ups=follow_ups)


def _next(draft: Draft, saved: Draft, place: int) -> Response:
    """The response to a save that begins the next question below the one at `place`."""
    opened = _new(saved, saved.questions[place - 1]["id"])
    if not wants_fragment():
        return go_to(url_for("questions.write", draft_id=saved.id, after=opened.after))
    at = {"position": 0, "focus": -1} | _previewed(saved, opened)
    return _answered(draft, saved, LIST, opened=opened, **at)


def _save_order(
    draft: Draft,
    position: int,
    change: Callable[[list[QuestionRow]], list[QuestionRow]],
    *,
    focus: int,
    **more: str,
) -> Response:
    result = draft_view.attempt(draft, partial(_changed, position, change))
    at: dict[str, Any] = {"focus": focus, "asked": _shown(draft, focus or 1)}
    return _answered(draft, result, LIST, opened=None, **at, **more)


def _pressed(position: int, to: int) -> str:
    """The control of a moved question that was used to move it: the keys work on any of them."""
    if request.form.get("by") == "keys":
        return "edit"
    return "up" if to < position else "down"


def _answered(draft: Draft, result: draft_view.Result, part: str, **more: Any) -> Response:
    """`part` is what htmx swaps, the row or the list; a page of its own always has the list."""
    return draft_view.answered(
        draft, result, part=part, editor=LIST, inside=part, anchor="questions", **more
    )


def _editing(draft: Draft, opened: Opened) -> Response:
    at: dict[str, Any] = {"position": opened.position, "focus": -1} | _previewed(draft, opened)
    rows = ROW if opened.position else LIST
    return draft_view.editing(draft, LIST, inside=WITH_PREVIEW, rows=rows, opened=opened, **at)


def _previewed(draft: Draft, opened: Opened) -> dict[str, Any]:
    """What the preview shows next to an editor: its question, a new one among the others."""
    if opened.position:
        return {"asked": opened.position}
    before = _position(draft, opened.after) or len(draft.questions)
    new = QuestionRow(id="", text="")
    questions = [*draft.questions[:before], new, *draft.questions[before:]]
    return {"previewed": questions, "asked": before + 1}


def _changed(
    position: int,
    change: Callable[[list[QuestionRow]], list[QuestionRow]],
    draft: Draft,
) -> DraftUpdate:
    """The new list; no change where the position is not there, as on a page of another revision."""
    if position and not _has(draft, position):
        return DraftUpdate()
    rows = change([*draft.questions])
    return DraftUpdate(questions=_checked(rows) if rows else [])


def _checked(rows: list[QuestionRow]) -> list[QuestionRow]:
    """The rows as an agent may send them, with their follow-ups. Raises InvalidInput."""
    sent = [{key: value for key, value in row.items() if key != "follow_ups"} for row in rows]
    parsed = parse_draft_input({"questions": sent})["questions"]
    prepared = {
        str(number): [{"text": each["text"], "when": each["condition"]} for each in given]
        for number, row in enumerate(rows, start=1)
        if (given := row.get("follow_ups"))
    }
    parse_follow_ups({"followUps": prepared})
    return [
        {**question, "follow_ups": row["follow_ups"]} if "follow_ups" in row else question
        for question, row in zip(parsed, rows, strict=True)
    ]


def _typed_question(before: QuestionRow) -> QuestionRow:
    if not before and not typed("text"):
        raise InvalidInput(ErrorCode.VALIDATION_FAILED, "write the question, or cancel", "", "text")
    row = QuestionRow(text=typed("text"))
    if "id" in before:
        row["id"] = before["id"]
    if hint := typed("hint"):
        row["context"] = hint
    if follow_ups := _typed_follow_ups(before.get("follow_ups", ())):
        row["follow_ups"] = follow_ups
    return row


def _typed_follow_ups(before: Sequence[PreparedFollowUp]) -> list[PreparedFollowUp]:
    """Those with words, in order; one that is as it was keeps who prepared it. A page without
    fields for them changes none.
    """
    if "follow_up-1" not in request.form:
        return list(before)
    found = []
    for number in range(1, PREPARED_MAX + 1):
        text = " ".join(typed(f"follow_up-{number}").split("\n"))
        condition = _typed_condition(number)
        new = PreparedFollowUp(text=text, condition=condition, prepared_by=FollowUpAuthor.CREATOR)
        same = (each for each in before if (each["text"], each["condition"]) == (text, condition))
        if text:
            found.append(next(same, new))
    return found


def _typed_condition(number: int) -> FollowUpCondition:
    posted = request.form.get(f"condition-{number}", "")
    known = posted in set(FollowUpCondition)
    return FollowUpCondition(posted) if known else FollowUpCondition.ALWAYS


def _new(draft: Draft, after: str) -> Opened:
    """Insert a new question behind `after`; at the end if that was removed."""
    return Opened(0, after=after if _position(draft, after) else "")


def _after() -> str:
    """The id of the question that a new one follows, "" at the end."""
    return request.values.get("after", "")


def _opened(draft: Draft, position: int) -> Opened:
    if not _has(draft, position):
        return _new(draft, _after())
    question = draft.questions[position - 1]
    return Opened(
        position,
        question["id"],
        question["text"],
        question.get("context", ""),
        question.get("follow_ups", []),
    )


def _opened_after_conflict(draft: Draft, position: int) -> Opened:
    """The current position of the question of the outdated page; if removed, as a new one."""
    before = revisions.find_revision(draft, posted_revision())
    named = request.form.get("question", "")
    if not named and before and 0 < position <= len(before.questions):
        named = before.questions[position - 1]["id"]
    place = _position(draft, named)
    opened = _opened(draft, place)
    return replace(opened, theirs=draft.questions[place - 1]) if place else opened


def _named(draft: Draft, position: int) -> int:
    """The position of the posted question id; the position in the address without one."""
    named = request.form.get("question", "")
    return _position(draft, named) if named else position


def _position(draft: Draft, question_id: str) -> int:
    """The position from 1 of the question with this id, 0 when there is none."""
    ids = [question["id"] for question in draft.questions]
    return ids.index(question_id) + 1 if question_id in ids else 0


def _shown(draft: Draft, position: int) -> int:
    """The question that the preview turns to: this one, or the last one where there is none."""
    count = len(draft.questions)
    return position if 0 < position <= count else max(count, 1)


def _has(draft: Draft, position: int) -> bool:
    return 0 < position <= len(draft.questions)
