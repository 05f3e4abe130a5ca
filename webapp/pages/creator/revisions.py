"""The history of a draft, restoring revisions, and the notice of changes while a page is open."""

from collections.abc import Callable
from functools import partial
from http import HTTPStatus

from flask import Blueprint, Response, render_template, request
from flask.typing import ResponseReturnValue
from flask_babel import gettext as _

from webapp.base.database import utc_now
from webapp.base.errors import InvalidInput, StateConflict
from webapp.base.vocabulary import DraftStatus
from webapp.drafts import returns, revisions
from webapp.pages.creator import draft_view
from webapp.pages.creator.request import (
    agent_names,
    asked_revision,
    creator_id,
    limit_writes,
    posted_revision,
    require_creator,
)
from webapp.pages.fragments import fragment, nothing_new, page_or_fragment
from webapp.records import drafts
from webapp.records.content.model import DraftUpdate
from webapp.records.drafts import Draft

REVISIONS_SHOWN = 20

bp = Blueprint("history", __name__, url_prefix="/drafts/<draft_id>")
bp.before_request(require_creator)
limit_writes(bp)


@bp.get("/history")
def show(draft_id: str) -> ResponseReturnValue:
    """Revisions and confirmations, newest first; `?before=` continues after the last of a page."""
    draft = drafts.get_draft(creator_id(), draft_id)
    found = revisions.list_revisions(
        draft, before=asked_revision("before") or None, limit=REVISIONS_SHOWN
    )
    grants = [revision.author for revision in found]
    grants += [word.grant_id for revision in found for word in revision.confirmations]
    last = found[-1].number if found else 1
    return render_template(
        "drafts/revisions.html",
        draft=draft,
        revisions=found,
        returned=returns.list_returns(draft.id),
        names=agent_names(grants),
        more=last if last > 1 else 0,
    )


@bp.post("/restore")
def restore(draft_id: str) -> ResponseReturnValue:
    """Restore revision `to` as a new revision, which undoes any change."""
    return _go_back(draft_id, lambda draft: revisions.back_to(draft, posted_revision("to")))


@bp.post("/changes/<key>/put-back")
def put_back(draft_id: str, key: str) -> ResponseReturnValue:
    """Undo one of the changes that the page listed `since` a revision."""
    return _go_back(
        draft_id, lambda draft: revisions.put_back(draft, posted_revision("since"), key)
    )


@bp.post("/changes/<key>/accept")
def accept(draft_id: str, key: str) -> ResponseReturnValue:
    """Mark one of the changes as read; `focus` is the position of its question, 0 for none."""
    revision, since = posted_revision(), posted_revision("since")
    draft = drafts.get_draft(creator_id(), draft_id)
    try:
        revisions.accept_change(
            creator_id(), draft_id, key, revision=revision, since=since, now=utc_now()
        )
    except StateConflict as problem:
        return _refused(draft, problem)
    position = posted_revision("focus")
    return draft_view.whole(draft, focus=position or "changes")


@bp.get("/now")
def now(draft_id: str) -> ResponseReturnValue:
    """The page at the current revision, swapped around open editors."""
    return draft_view.whole(drafts.get_draft(creator_id(), draft_id), focus="changes")


@bp.get("/rev")
def tell_changes(draft_id: str) -> ResponseReturnValue:
    """A notice if the draft is at another revision than the page shows or was notified of, or was
    sent back or kept meanwhile.
    """
    draft = drafts.get_draft(creator_id(), draft_id)
    state = str(draft.revision) if draft.status is DraftStatus.DRAFT else draft.status
    changed = state != request.args.get("have")
    if str(returns.standing_count(draft)) != request.args.get("returned", "0"):
        state += f".{draft.return_count}"
    if state in {request.args.get("have"), request.args.get("notified")}:
        return nothing_new()
    grant = revisions.last_agent_since(draft, asked_revision("have"))
    agent = agent_names([grant]).get(grant or "", _("An agent")) if grant else ""
    return fragment(
        "drafts/_new_revision.html",
        trigger="askback:published" if draft.status is DraftStatus.PUBLISHED else None,
        decides="decides" in request.args,
        **{"draft": draft, "state": state, "agent": agent, "changed": changed},
    )


def _go_back(draft_id: str, change: Callable[[Draft], DraftUpdate]) -> Response:
    draft = drafts.get_draft(creator_id(), draft_id)
    result = draft_view.attempt(draft, partial(_of_shown, change))
    if isinstance(result, Draft):
        return draft_view.whole(
            result,
            trigger=draft_view.step(result),
            focus="saved",
            done=_("Change undone."),
            **draft_view.undoable(result),
        )
    return _refused(draft, result)


def _refused(draft: Draft, problem: InvalidInput | StateConflict) -> Response:
    """The list of changes as it is now, with the message."""
    refused = isinstance(problem, InvalidInput)
    return page_or_fragment(
        "drafts/review.html",
        "drafts/_changes.html",
        status=HTTPStatus.UNPROCESSABLE_ENTITY if refused else HTTPStatus.CONFLICT,
        refusal=draft_view.in_plain_words(problem) if isinstance(problem, InvalidInput) else "",
        outdated=not refused,
        writes_title=False,
        saved_from=0,
        focus="changes",
        **draft_view.context(draft),
    )


def _of_shown(change: Callable[[Draft], DraftUpdate], draft: Draft) -> DraftUpdate:
    """Undoing depends on the whole draft, so it must be at the revision that the page showed."""
    drafts.require_revision(draft, posted_revision())
    return change(draft)
