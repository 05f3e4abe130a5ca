"""What pages show of a draft, with the notes of its agents."""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from typing import Any

from flask import Response, request, url_for

from webapp.answers.session import most_asked_with
from webapp.base.database import db, utc_now
from webapp.base.errors import ErrorCode, InvalidInput, StateConflict
from webapp.base.vocabulary import DraftStatus
from webapp.drafts import confirmations, editing as draft_editing, publishing, returns, revisions
from webapp.drafts.returns import ReturnRow
from webapp.drafts.reviews import current_note, list_notes
from webapp.drafts.revisions import keep_accepted, unseen_changes
from webapp.oauth import connections
from webapp.pages.creator import agreements
from webapp.pages.creator.request import agent_names, creator_id, posted_revision
from webapp.pages.fragments import fragment, go_to, page_or_fragment, wants_fragment
from webapp.records.content import model as content
from webapp.records.content.diff import Change, Kind, differences
from webapp.records.content.draft_input import (
    CONTEXT_MAX_CHARS,
    GOAL_MAX_CHARS,
    PREPARED_MAX_CHARS,
    QUESTIONS_MAX,
    TITLE_MAX_CHARS,
)
from webapp.records.drafts import CREATOR_NOTE_MAX_CHARS, Draft
from webapp.records.languages import has_phrases
from webapp.web.wakeups import wakeups

FIELD_LIMITS = {
    "title": TITLE_MAX_CHARS,
    "reason": content.REASON_MAX_CHARS,
    "goal": GOAL_MAX_CHARS,
    "context": CONTEXT_MAX_CHARS,
    "note": CREATOR_NOTE_MAX_CHARS,
    "followUps": PREPARED_MAX_CHARS,
}
MOST = {setting.name: setting.most for setting in content.NUMBERS}
WITH_MESSAGES = ("followUpMode", *MOST)  # the settings that can be refused
Result = Draft | InvalidInput | StateConflict


@dataclass(frozen=True, slots=True)
class Unseen:
    """The changes by agents since `since`, the revision that the creator saw last, and what agents
    said. `asked` is what the creator had asked for when they sent the draft back before.
    """

    changes: list[Change]
    since: int
    seen_at: datetime | None
    notes: list[tuple[str, str]]
    asked: ReturnRow | None = None

    @property
    def elsewhere(self) -> list[Change]:
        """The changes that no question of the draft shows: of its other parts, and questions that
        are gone.
        """
        return [each for each in self.changes if each not in self.in_place]

    @property
    def in_place(self) -> list[Change]:
        """The changes of questions that are there."""
        return [each for each in self.changes if each.is_of_question]

    def at(self, question_id: str) -> list[Change]:
        """The changes to show at one question."""
        return [each for each in self.in_place if each.question_id == question_id]

    def counts(self) -> list[tuple[str, int]]:
        """How many questions were added, removed, moved and reworded, and how much else changed;
        without zeros.
        """
        kinds = Counter(
            each.kind if each.part == "question" else Kind.CHANGED for each in self.changes
        )
        return [(kind, kinds[kind]) for kind in Kind if kinds[kind]]


def go_to_form(draft: Draft, endpoint: str) -> Response:
    """Redirect to this page of the published form; to the inbox if the form is deleted."""
    form = publishing.find_published_form(draft.id)
    return go_to(url_for(endpoint, form_id=form.id) if form else url_for("inbox.show"))


def attempt(draft: Draft, change: Callable[[Draft], content.DraftUpdate]) -> Result:
    """Apply the creator's change of the revision that the page showed, or return why not.

    change  what is asked for, from the draft that it is to change
    Raises other conflicts than a changed revision. Refreshes `draft`.
    """
    try:
        return _save(draft, change)
    except (InvalidInput, StateConflict) as problem:
        db.session.expire_all()  # `draft` and what was read with it are read anew
        if isinstance(problem, StateConflict) and problem.code != ErrorCode.REVISION_CONFLICT:
            raise
        return problem


def as_posted_from(draft: Draft) -> Draft:
    """The base of the posted change: the revision that the page showed if the next one is the
    creator's own, else the draft itself.
    """
    if not _own_next(draft):
        return draft
    return revisions.find_revision(draft, posted_revision()) or draft


def _own_next(draft: Draft) -> Draft | None:
    """The revision after the one that the page showed, current or superseded, if the creator made
    it.
    """
    made = revisions.find_revision(draft, posted_revision() + 1)
    own = draft.status is DraftStatus.DRAFT and made is not None and made.author is None
    return made if own else None


def _save(draft: Draft, change: Callable[[Draft], content.DraftUpdate]) -> Draft:
    """Save; the new revision counts as seen if the creator had seen everything before.

    It does, too, if no view is stored yet. A change that is stored already is the repeat of a
    request whose response was lost.
    """
    view = revisions.find_view(draft.id)
    up_to_date = view is None or view.revision >= posted_revision()
    account, now = creator_id(), utc_now()
    before, saved = as_posted_from(draft), _own_next(draft)
    if saved is None or not draft_editing.is_made(saved, before, change(before)):
        saved = draft_editing.update_draft(
            account,
            draft.id,
            change(draft),
            author=None,
            now=now,
            expected_revision=posted_revision(),
        )
    wakeups().notify(draft.id)
    if up_to_date:
        revisions.mark_seen(account, draft.id, saved.revision, now=now)
    elif view and view.accepted:
        keep_accepted(saved, posted_revision())
    return saved


def _notes_since(draft: Draft, revision: int) -> list[tuple[str, str]]:
    """The agents and their words: of the revisions after this one, else of the current one."""
    standing = current_note(draft)
    notes = list_notes(draft, revision) or ([standing] if standing else [])
    names = agent_names(note.author for note in notes) if notes else {}
    return [(names.get(note.author, "An agent"), note.text) for note in notes]


def since_shown(draft: Draft) -> list[Change]:
    """What changed since the revision that the posted page showed."""
    shown = revisions.find_revision(draft, posted_revision())
    return differences(shown, draft) if shown else []


def unseen(draft: Draft) -> Unseen:
    """What agents changed since the revision viewed last."""
    view = revisions.find_view(draft.id)
    before = revisions.find_revision(draft, view.revision) if view else None
    notes = _notes_since(draft, view.revision if view else 0)
    if view is None or before is None:
        return Unseen([], 0, None, notes)
    found = unseen_changes(draft, before, view.accepted)
    asked = _asked_before(draft, view.revision)
    return Unseen(found, view.revision, view.seen_at, notes, asked)


def _asked_before(draft: Draft, seen: int) -> ReturnRow | None:
    """The last sending back, if an agent has written since and the creator has not read that."""
    if not draft.return_count or draft.returned_at:
        return None
    last = returns.list_returns(draft.id)[-1:]
    return last[0] if last and seen <= last[0].revision < draft.revision else None


def context(draft: Draft) -> dict[str, Any]:
    """The variables that every template of one draft may use."""
    confirmation = confirmations.find_confirmation(draft.id)
    is_confirmed = confirmations.is_current(confirmation, draft)
    names = agent_names([draft.author, draft.created_by])
    agent = names.get(draft.created_by or "", "")
    missing, changed = content.missing_parts(draft), unseen(draft)
    return {
        "draft": draft,
        "settings": content.form_settings(draft),
        "stored": {
            setting.name: _as_typed(draft, setting.column) for setting in content.DRAFT_SETTINGS
        },
        "settings_with_messages": WITH_MESSAGES,
        **_terms(draft),
        "missing": missing,
        "can_decide": not (missing or changed.changes or draft.returned_at),
        "author": names.get(draft.author or "", ""),
        "agent": agent,
        "waits": "" if is_confirmed or not _may_publish(draft) else agent,
        "confirmation": confirmation,
        "is_confirmed": is_confirmed,
        "asked": _preview_position(draft),
        "unseen": changed,
        "question_notes": returns.standing_notes(draft),
    }


def _may_publish(draft: Draft) -> bool:
    """True if the agent that made the draft is connected."""
    made_by = draft.created_by
    return bool(made_by and connections.find_live_account(made_by, now=utc_now()))


def shown(
    draft: Draft,
    template: str,
    anchor: str,
    *,
    trigger: dict[str, Any] | None = None,
    **more: Any,
) -> Response:
    """One part for reading; the whole page without htmx."""
    if not wants_fragment():
        return go_to(
            url_for(
                "drafts.review",
                draft_id=draft.id,
                saved_from=more.get("saved_from") or None,
                _anchor=anchor,
            )
        )
    values = (
        {"message": "", "conflict": False, "saved_from": 0, "focus": ""} | context(draft) | more
    )
    return fragment(template, trigger=trigger, **values)


def answered(
    draft: Draft, result: Result, *, part: str, editor: str, anchor: str, **more: Any
) -> Response:
    """The response to a save: the part with all that depends on it, or the editor with the error.

    part, editor  the templates of the part as it reads and as it is edited
    more          the posted text, which the editor keeps (422 and 409)
    """
    if isinstance(result, Draft):
        # other forms of the page that showed the same revision continue from the new one
        return shown(
            result,
            "drafts/_saved.html",
            anchor,
            trigger=step(result),
            part=part,
            **more | undoable(result),
        )
    if isinstance(result, InvalidInput):
        return editing(draft, editor, message=in_plain_words(result), **more)
    return editing(draft, editor, conflict=True, **more)


def step(saved: Draft) -> dict[str, Any]:
    """An HX-Trigger that moves other forms of the page from the old revision to the new one."""
    return {"askback:saved": {"from": posted_revision(), "to": saved.revision}}


def undoable(saved: Draft) -> dict[str, int]:
    """The revision that undoing the change restores, 0 if nothing changed."""
    before = posted_revision()
    return {"saved_from": before if saved.revision == before + 1 else 0}


def whole(draft: Draft, *, trigger: dict[str, Any] | None = None, **more: Any) -> Response:
    """Every part of the page for an out-of-band swap; open editors stay."""
    return shown(
        draft,
        "drafts/_all_parts_oob.html",
        "changes",
        trigger=trigger,
        **more,
    )


def editing(
    draft: Draft,
    template: str,
    *,
    message: str = "",
    conflict: bool = False,
    inside: str = "",
    **more: Any,
) -> Response:
    """An open editor as a full page; for htmx the part `editor`, or only the part `inside` it."""
    status = HTTPStatus.UNPROCESSABLE_ENTITY if message else HTTPStatus.OK
    values: dict[str, Any] = {"editor": template, "message": message, "conflict": conflict}
    return page_or_fragment(
        "drafts/edit.html",
        inside or template,
        status=HTTPStatus.CONFLICT if conflict else status,
        **values | {"in_place": wants_fragment()} | context(draft) | more,
    )


def in_plain_words(problem: InvalidInput) -> str:
    """The error message at a field, without the field path of API messages."""
    limit = FIELD_LIMITS.get(re.split(r"[.\[]", problem.field)[0])
    if problem.code == ErrorCode.CONTEXT_REQUIRED:
        words = "Smart follow-ups need private context. Write it first, or choose another kind."
    elif problem.code == ErrorCode.INVALID_TEXT:
        words = "There is a character in it that cannot be kept. Type that part again."
    elif "a follow-up " in problem.message:
        words = "Ask it once, as a question or as a follow-up."
    elif problem.field == "questions":
        words = f"A form holds at most {QUESTIONS_MAX} questions."
    elif limit and "at most" in problem.message:
        words = f"This is longer than {limit} characters. Shorten it a little."
    elif most := MOST.get(problem.field):
        bound = "" if 'is "' in problem.message else f" up to {most}"
        words = f"Enter a whole number{bound}, or leave it empty."
    else:
        reason = problem.message.rstrip(".").partition(": ")[2] or problem.message
        words = reason[:1].upper() + reason[1:] + "."
    return words


def wrong_setting(result: Result) -> str:
    """The field of the settings form that a refusal belongs to; "" for none."""
    if not isinstance(result, InvalidInput):
        return ""
    if result.code == ErrorCode.CONTEXT_REQUIRED or result.field == "context":
        return "followUpMode"
    return result.field if result.field in MOST else ""


def wrong_context(result: Result) -> str:
    """The message about the private context in the settings form; "" where it is only missing."""
    if not isinstance(result, InvalidInput) or result.code == ErrorCode.CONTEXT_REQUIRED:
        return ""
    return in_plain_words(result) if result.field == "context" else ""


def _terms(draft: Draft) -> dict[str, Any]:
    """What happens here to what people answer: `terms` is what of it this draft uses."""
    offered = agreements.offered()
    return {
        "voice": offered.voice,
        "writer": offered.writer,
        "terms": offered.used_by(draft),
        "asks_follow_ups": content.asks_follow_ups(draft),
        "most_questions": most_asked_with(offered.writer.follow_up_writer, draft),
        "about_minutes": content.about_minutes,
        "prepared": sum(len(question.get("follow_ups", ())) for question in draft.questions),
        "has_phrases": has_phrases(draft),
    }


def _as_typed(draft: Draft, column: str) -> object:
    value = getattr(draft, column)
    return "" if value is None else value


def _preview_position(draft: Draft) -> int:
    asked = request.values.get("preview", 1, type=int)
    return min(max(asked, 1), max(len(draft.questions), 1))
