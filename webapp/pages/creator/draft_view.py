"""What pages show of a draft, with the notes of its agents."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from typing import Any

from flask import Response, request, url_for

from webapp.answers.session import most_asked_with
from webapp.base.database import db, utc_now
from webapp.base.errors import ErrorCode, InvalidInput, StateConflict
from webapp.base.vocabulary import DraftStatus
from webapp.drafts import confirmations, editing, publishing, reviews, revisions
from webapp.oauth import connections
from webapp.pages.creator import agreements, fields
from webapp.pages.creator.request import agent_names, creator_id
from webapp.pages.fragments import fragment, go_to, page_or_fragment, wants_fragment
from webapp.records.content import draft_input, model as content
from webapp.records.content.diff import Change, Kind, differences
from webapp.records.drafts import CREATOR_NOTE_MAX_CHARS, Draft, DraftReturn
from webapp.records.languages import has_phrases
from webapp.web.wakeups import wakeups

FIELD_LIMITS = {
    "title": draft_input.TITLE_MAX_CHARS,
    "reason": content.REASON_MAX_CHARS,
    "goal": draft_input.GOAL_MAX_CHARS,
    "context": draft_input.CONTEXT_MAX_CHARS,
    "note": CREATOR_NOTE_MAX_CHARS,
    "followUps": draft_input.PREPARED_MAX_CHARS,
}
MOST = {setting.name: setting.most for setting in content.NUMBERS}
ALL_PARTS = "drafts/_all_parts_oob.html"
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
    asked: DraftReturn | None = None

    @property
    def elsewhere(self) -> list[Change]:
        """The changes that no question of the draft shows: of its other parts, and questions that
        are gone.
        """
        return [each for each in self.changes if not each.is_of_question]

    def at(self, question_id: str) -> list[Change]:
        """The changes to show at one question."""
        of_questions = (each for each in self.changes if each.is_of_question)
        return [each for each in of_questions if each.question_id == question_id]

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
    Raises other conflicts than a changed revision. Refreshes `draft`. The new revision counts as
    seen if the creator had seen everything before, or nothing yet. A change that is stored already
    is the repeat of a request whose response was lost.
    """
    account, now, revision = creator_id(), utc_now(), fields.posted_revision()
    view = revisions.find_view(draft.id)
    try:
        before, saved = as_posted_from(draft), _own_next(draft)
        if saved is None or not editing.is_made(saved, before, change(before)):
            saved = editing.update_draft(
                account,
                draft.id,
                change(draft),
                author=None,
                now=now,
                expected_revision=revision,
            )
    except (InvalidInput, StateConflict) as problem:
        db.session.expire_all()  # `draft` and what was read with it are read anew
        if isinstance(problem, StateConflict) and problem.code != ErrorCode.REVISION_CONFLICT:
            raise
        return problem
    wakeups().notify(draft.id)
    if view is None or view.revision >= revision:
        revisions.mark_seen(account, draft.id, saved.revision, now=now)
    elif view.accepted:
        revisions.keep_accepted(saved, revision)
    return saved


def as_posted_from(draft: Draft) -> Draft:
    """The base of the posted change: the revision that the page showed if the next one is the
    creator's own, else the draft itself.
    """
    if not _own_next(draft):
        return draft
    return revisions.find_revision(draft, fields.posted_revision()) or draft


def _own_next(draft: Draft) -> Draft | None:
    """The revision after the one that the page showed, current or superseded, if the creator made
    it.
    """
    made = revisions.find_revision(draft, fields.posted_revision() + 1)
    own = draft.status is DraftStatus.DRAFT and made is not None and made.author is None
    return made if own else None


def since_shown(draft: Draft) -> Sequence[Change]:
    """What changed since the revision that the posted page showed."""
    shown = revisions.find_revision(draft, fields.posted_revision())
    return differences(shown, draft) if shown else ()


def unseen(draft: Draft) -> Unseen:
    """What agents changed since the revision viewed last, and said: else about the current one."""
    view = revisions.find_view(draft.id)
    standing = reviews.current_note(draft)
    notes = reviews.list_notes(draft, view.revision if view else 0)
    notes = notes or ([standing] if standing else [])
    names = agent_names(note.author for note in notes) if notes else {}
    said = [(names.get(note.author, "An agent"), note.text) for note in notes]
    before = revisions.find_revision(draft, view.revision) if view else None
    if view is None or before is None:
        return Unseen([], 0, None, said)
    found = revisions.unseen_changes(draft, before, view.accepted)
    return Unseen(found, view.revision, view.seen_at, said, _asked_before(draft, view.revision))


def _asked_before(draft: Draft, seen: int) -> DraftReturn | None:
    """The last sending back, if an agent has written since and the creator has not read that."""
    if not draft.return_count or draft.returned_at:
        return None
    last = confirmations.list_returns(draft.id)[-1:]
    return last[0] if last and seen <= last[0].revision < draft.revision else None


def context(draft: Draft) -> dict[str, Any]:
    """The variables that every template of one draft may use; `terms` is what happens here to what
    people answer, as far as this draft uses it.
    """
    confirmation = confirmations.find_confirmation(draft.id)
    is_confirmed = confirmations.is_current(confirmation, draft)
    names = agent_names([draft.author, draft.created_by])
    made_by = draft.created_by or ""
    may_publish = made_by and connections.find_live_account(made_by, now=utc_now())
    agent = names.get(made_by, "")
    missing, changed, offered = content.missing_parts(draft), unseen(draft), agreements.offered()
    stored = {each.name: getattr(draft, each.column) for each in content.DRAFT_SETTINGS}
    return {
        "draft": draft,
        "settings": content.form_settings(draft),
        "stored": {name: "" if value is None else value for name, value in stored.items()},
        "settings_with_messages": WITH_MESSAGES,
        "voice": offered.voice,
        "writer": offered.writer,
        "terms": offered.used_by(draft),
        "asks_follow_ups": content.asks_follow_ups(draft),
        "most_questions": most_asked_with(offered.writer.follow_up_writer, draft),
        "about_minutes": content.about_minutes,
        "prepared": sum(len(question.get("follow_ups", ())) for question in draft.questions),
        "has_phrases": has_phrases(draft),
        "missing": missing,
        "can_decide": not (missing or changed.changes or draft.returned_at),
        "author": names.get(draft.author or "", ""),
        "agent": agent,
        "waits": agent if may_publish and not is_confirmed else "",
        "confirmation": confirmation,
        "is_confirmed": is_confirmed,
        "asked": request.values.get("preview", 1, type=int),
        "unseen": changed,
        "question_notes": confirmations.standing_notes(draft),
    }


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
        saved_from = more.get("saved_from") or None
        page = url_for("drafts.review", draft_id=draft.id, saved_from=saved_from, _anchor=anchor)
        return go_to(page)
    values = {"message": "", "conflict": False, "saved_from": 0, "focus": ""} | context(draft)
    return fragment(template, trigger=trigger, **values | more)


def whole(draft: Draft, **more: Any) -> Response:
    """Every part of the page for an out-of-band swap; open editors stay."""
    return shown(draft, ALL_PARTS, "changes", **more)


def saved(draft: Draft, template: str, anchor: str, **more: Any) -> Response:
    """As `shown`, after a change: with the revision that undoing it restores, 0 if nothing changed.

    Other forms of the page that showed the same revision continue from the new one.
    """
    before = fields.posted_revision()
    trigger = {"askback:saved": {"from": before, "to": draft.revision}}
    saved_from = before if draft.revision == before + 1 else 0
    return shown(draft, template, anchor, trigger=trigger, **more, saved_from=saved_from)


def answered(
    draft: Draft, result: Result, *, part: str, editor: str, anchor: str, **more: Any
) -> Response:
    """The response to a save: the part with all that depends on it, or the editor with the error.

    part, editor  the templates of the part as it reads and as it is edited
    more          the posted text, which the editor keeps (422 and 409)
    """
    if isinstance(result, Draft):
        return saved(result, "drafts/_saved.html", anchor, part=part, **more)
    if isinstance(result, InvalidInput):
        return edited(draft, editor, message=in_plain_words(result), **more)
    return edited(draft, editor, conflict=True, **more)


def edited(
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
        words = f"A form holds at most {draft_input.QUESTIONS_MAX} questions."
    elif limit and "at most" in problem.message:
        words = f"This is longer than {limit} characters. Shorten it a little."
    elif most := MOST.get(problem.field):
        bound = "" if 'is "' in problem.message else f" up to {most}"
        words = f"Enter a whole number{bound}, or leave it empty."
    else:
        reason = problem.message.rstrip(".").partition(": ")[2] or problem.message
        words = reason[:1].upper() + reason[1:] + "."
    return words


def wrong_setting(result: Result) -> dict[str, str]:
    """Where the settings form shows a refusal: `wrong` is its field, "" for none; the private
    context has a message of its own, except where it is only missing.
    """
    if not isinstance(result, InvalidInput):
        return {"wrong": "", "context_message": ""}
    is_missing, is_context = result.code == ErrorCode.CONTEXT_REQUIRED, result.field == "context"
    of_setting = result.field if result.field in MOST else ""
    return {
        "wrong": "followUpMode" if is_missing or is_context else of_setting,
        "context_message": in_plain_words(result) if is_context and not is_missing else "",
    }
