"""The creator's confirmation of one exact revision; only a browser session can give it.

A GET never confirms, because programs also fetch links.
"""

from http import HTTPStatus

from flask import Response, render_template, request, url_for
from flask.typing import ResponseReturnValue
from werkzeug.exceptions import Forbidden

from webapp.base.database.failures import STORAGE_FAILURES
from webapp.base.errors import ErrorCode, StateConflict
from webapp.base.vocabulary import DraftStatus
from webapp.drafts import confirmations, publishing, revisions
from webapp.pages import errors
from webapp.pages.creator import agreements, draft_view, fields
from webapp.pages.creator.request import acting, creator_blueprint, creator_id, limit_publishes
from webapp.pages.fragments import go_to
from webapp.records import drafts
from webapp.records.content.model import missing_parts
from webapp.records.drafts import Draft
from webapp.web import request_kind
from webapp.web.wakeups import wakeups


def refuse_programs() -> None:
    """Refuse requests with an agent's token and forms posted from another site."""
    if "Authorization" in request.headers:
        raise Forbidden
    if request.method == "POST" and not request_kind.is_same_origin():
        raise Forbidden


bp = creator_blueprint("confirm", "/drafts/<draft_id>/confirm", before=refuse_programs)
for failure in STORAGE_FAILURES:
    bp.register_error_handler(failure, errors.offer_again)


@bp.get("")
def ask(draft_id: str) -> ResponseReturnValue:
    """Show the form as respondents will see it and explain confirming, or list missing parts."""
    draft = drafts.get_draft(creator_id(), draft_id)
    if draft.status is DraftStatus.PUBLISHED:
        return draft_view.go_to_form(draft, "forms.share")
    return _page("confirmation/confirm.html", draft, HTTPStatus.OK)


@bp.post("")
@limit_publishes
def confirm(draft_id: str) -> ResponseReturnValue:
    """Confirm the revision and hash that the page showed; publish, unless `then` is `agent`."""
    try:
        return _confirm(draft_id)
    except StateConflict as problem:
        return _refused(drafts.get_draft(creator_id(), draft_id), problem)


def _confirm(draft_id: str) -> Response:
    account, revision, act = creator_id(), fields.posted_revision(), acting()
    shown_hash, shown = request.form.get("shown_hash", ""), agreements.posted()
    if request.form.get("then") == "agent":
        confirmations.confirm_draft(
            account, draft_id, revision=revision, shown_hash=shown_hash, shown=shown, **act
        )
        wakeups().notify(draft_id)
        revisions.mark_seen(account, draft_id, revision, now=act["now"])
        return go_to(url_for("drafts.review", draft_id=draft_id))
    published = publishing.confirm_and_publish(
        account, draft_id, revision=revision, shown_hash=shown_hash, shown=shown, **act
    )
    wakeups().notify(draft_id)
    return go_to(url_for("forms.share", form_id=published.form.id))


def _refused(draft: Draft, problem: StateConflict) -> Response:
    """Show why the confirmation was refused: changes since the page was shown, or missing parts."""
    if draft.status is DraftStatus.PUBLISHED:
        return draft_view.go_to_form(draft, "forms.share")
    if problem.code == ErrorCode.DRAFT_INCOMPLETE:
        return _page("confirmation/confirm.html", draft, HTTPStatus.CONFLICT)
    return _page("confirmation/stale.html", draft, HTTPStatus.CONFLICT)


def _to_add(draft: Draft) -> list[tuple[str, str]]:
    """Return a label and the editor's address for each missing part."""
    page = url_for("drafts.review", draft_id=draft.id)
    context = "Write the private context that smart follow-ups need"
    parts = {
        "title": ("Write a title", f"{page}/title/edit"),
        "questions": ("Add a question", f"{page}/questions/new"),
        "context": (context, f"{page}/context/edit"),
    }
    for number in range(1, len(draft.questions) + 1):
        at = f"Write question {number}", f"{page}/questions/{number}/edit"
        parts[f"questions[{number - 1}].text"] = at
    return [parts[field] for field in missing_parts(draft)]


def _page(template: str, draft: Draft, status: HTTPStatus) -> Response:
    posted = fields.posted_revision(), request.form.get("shown_hash")
    shown = agreements.posted()
    on_page, offered = shown.on_page.used_by(draft), shown.offered.used_by(draft)
    body = render_template(
        template,
        to_add=_to_add(draft),
        since_shown=draft_view.since_shown(draft),
        same=posted == (draft.revision, draft.content_hash),
        voice_changed=on_page.voice != offered.voice,
        writer_changed=on_page.writer != offered.writer,
        asker_changed=on_page.asker != offered.asker,
        shown_revision=fields.posted_revision(),
        **draft_view.context(draft),
    )
    return Response(body, status)
