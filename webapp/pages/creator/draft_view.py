"""Responses and template variables shared by the pages of one draft."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime
from http import HTTPStatus
from typing import Any, NamedTuple

from flask import Response, request, url_for

from webapp.answers.session import most_asked_with
from webapp.base.database import db, utc_now
from webapp.base.errors import ErrorCode, InvalidInput, StateConflict
from webapp.base.vocabulary import DraftStatus
from webapp.drafts import confirmations, editing, publishing, reviews, revisions
from webapp.oauth import connections
from webapp.pages.creator import agreements, fields
from webapp.pages.creator.request import creator_id
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
NOTHING_DONE: dict[str, Any] = {"message": "", "focus": "", "conflict": False, "saved_from": 0}
Result = Draft | InvalidInput | StateConflict


class Unseen(NamedTuple):
    """The changes and notes of agents since the revision that the creator saw last.

    `since` is that revision, `asked` the request with which the creator sent the draft back.
    """

    changes: list[Change]
    since: int
    seen_at: datetime | None
    notes: list[tuple[str, str]]
    asked: DraftReturn | None = None

    def counts(self) -> list[tuple[str, int]]:
        """Count the changes of questions by kind, and all others as "changed"; omit zeros."""
        kinds = Counter(
            each.kind if each.part == "question" else Kind.CHANGED for each in self.changes
        )
        return [(kind, kinds[kind]) for kind in Kind if kinds[kind]]


def go_to_form(draft: Draft, endpoint: str) -> Response:
    """Redirect to a page of the published form; to the inbox if the form is deleted."""
    form = publishing.find_published_form(draft.id)
    return go_to(url_for(endpoint, form_id=form.id) if form else url_for("inbox.show"))


def attempt(draft: Draft, change: Callable[[Draft], content.DraftUpdate]) -> Result:
    """Apply the creator's change to the revision that the page showed, or return the error.

    change  computes the update from the draft
    Raises every conflict except that of a changed revision. Refreshes `draft`. The new revision
    counts as seen if the creator had seen everything before, or nothing yet. A change that is
    already stored is not made twice: the request repeats one whose response was lost.
    """
    account, now, revision = creator_id(), utc_now(), fields.revision()
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
        db.session.expire_all()  # reload `draft` and everything that was read with it
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
    """Return the base of the posted change.

    The revision that the page showed if the creator made the next one, else the draft itself.
    """
    if not _own_next(draft):
        return draft
    return revisions.find_revision(draft, fields.revision()) or draft


def _own_next(draft: Draft) -> Draft | None:
    """Return the revision after the one that the page showed if the creator made it."""
    made = revisions.find_revision(draft, fields.revision() + 1)
    own = draft.status is DraftStatus.DRAFT and made is not None and made.author is None
    return made if own else None


def since_shown(draft: Draft) -> Sequence[Change]:
    """Return the changes since the revision that the posted page showed."""
    shown = revisions.find_revision(draft, fields.revision())
    return differences(shown, draft) if shown else ()


def unseen(draft: Draft) -> Unseen:
    """Return the agents' changes and notes since the last view, or else the current note."""
    view = revisions.find_view(draft.id)
    notes = reviews.list_notes(draft, view.revision if view else 0)
    names = connections.agent_names(note.author for note in notes) if notes else {}
    said = [(names.get(note.author, "An agent"), note.agent_note) for note in notes]
    before = revisions.find_revision(draft, view.revision) if view else None
    if view is None or before is None:
        return Unseen([], 0, None, said)
    found = revisions.unseen_changes(draft, before, view.accepted)
    return Unseen(found, view.revision, view.seen_at, said, _asked_before(draft, view.revision))


def _asked_before(draft: Draft, seen: int) -> DraftReturn | None:
    """Return the last request for changes if an agent has answered it and that is unread."""
    if not draft.return_count or draft.returned_at:
        return None
    last = reviews.list_returns(draft.id)[-1:]
    return last[0] if last and seen <= last[0].revision < draft.revision else None


def context(draft: Draft, **more: Any) -> dict[str, Any]:
    """Return the variables that every template of one draft may use, with `more`.

    `terms` is how this server processes the answers to this draft.
    """
    confirmation = confirmations.find_confirmation(draft.id)
    is_confirmed = confirmations.is_current(confirmation, draft)
    names = connections.agent_names([draft.author, draft.created_by])
    made_by = draft.created_by or ""
    may_publish = made_by and connections.find_live_account(made_by, now=utc_now())
    agent = names.get(made_by, "")
    missing, changed, offered = content.missing_parts(draft), unseen(draft), agreements.offered()
    stored = {each.name: getattr(draft, each.column) for each in content.DRAFT_SETTINGS}
    values = {
        "draft": draft,
        "stored": {name: "" if value is None else value for name, value in stored.items()},
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
        "question_notes": reviews.notes_on_questions(draft),
    }
    return NOTHING_DONE | values | more


def shown(
    draft: Draft,
    template: str,
    anchor: str,
    *,
    trigger: dict[str, Any] | None = None,
    **more: Any,
) -> Response:
    """Show one part for reading; without htmx, redirect to the whole page."""
    if wants_fragment():
        return fragment(template, trigger=trigger, **context(draft, **more))
    saved_from = more.get("saved_from") or None
    page = url_for("drafts.review", draft_id=draft.id, saved_from=saved_from, _anchor=anchor)
    return go_to(page)


def whole(draft: Draft, **more: Any) -> Response:
    """Show every part of the page in an out-of-band swap; open editors stay."""
    return shown(draft, ALL_PARTS, "changes", **more)


def saved(draft: Draft, template: str, anchor: str, **more: Any) -> Response:
    """Show one part after a change; `saved_from` is the revision that undoing restores, 0 = none.

    A trigger updates the revision in the other forms of the page.
    """
    before = fields.revision()
    trigger = {"askback:saved": {"from": before, "to": draft.revision}}
    saved_from = before if draft.revision == before + 1 else 0
    return shown(draft, template, anchor, trigger=trigger, **more, saved_from=saved_from)


def answered(
    draft: Draft, result: Result, *, part: str, editor: str, anchor: str, **more: Any
) -> Response:
    """Respond to a save: the part and everything that depends on it, or the editor with the error.

    part, editor  the templates of the part for reading and for editing
    more          the posted text, which the editor keeps (422 and 409)
    """
    if isinstance(result, Draft):
        return saved(result, "drafts/_saved.html", anchor, part=part, **more)
    return edited(draft, editor, result, **more)


def edited(
    draft: Draft, template: str, result: Result | None = None, *, inside: str = "", **more: Any
) -> Response:
    """Show an open editor as a full page; for htmx only `inside`, or else `template`."""
    values = {"editor": template, "in_place": wants_fragment()} | more
    return tried(draft, result, "drafts/edit.html", inside or template, **values)


def tried(draft: Draft, result: Result | None, page: str, part: str, **more: Any) -> Response:
    """Show a page, for htmx a part, with the error of a change: a message (422) or a conflict."""
    message = in_plain_words(result) if isinstance(result, InvalidInput) else ""
    conflict = isinstance(result, StateConflict)
    status = HTTPStatus.UNPROCESSABLE_ENTITY if message else HTTPStatus.OK
    return page_or_fragment(
        page,
        part,
        status=HTTPStatus.CONFLICT if conflict else status,
        **context(draft, message=message, conflict=conflict, **more),
    )


def in_plain_words(problem: InvalidInput) -> str:
    """Return the error message to show at a field, without the field path of API messages."""
    limit = FIELD_LIMITS.get(re.split(r"[.\[]", problem.field)[0])
    if problem.code == ErrorCode.CONTEXT_REQUIRED:
        words = "Smart follow-ups need private context. Write it first, or choose another kind."
    elif problem.code == ErrorCode.INVALID_TEXT:
        words = "There is a character in it that cannot be kept. Type that part again."
    elif "a follow-up " in problem.message:
        words = "Ask it once, as a question or as a follow-up."
    elif limit and "at most" in problem.message:
        words = f"This is longer than {limit} characters. Shorten it a little."
    elif most := MOST.get(problem.field):
        bound = "" if 'is "' in problem.message else f" up to {most}"
        words = f"Enter a whole number{bound}, or leave it empty."
    else:
        reason = problem.message.rstrip(".").partition(": ")[2] or problem.message
        words = reason[:1].upper() + reason[1:] + "."
    return words
