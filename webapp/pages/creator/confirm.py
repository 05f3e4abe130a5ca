"""The creator's confirmation of one exact revision; only a browser session can give it.

A GET never confirms, because programs also fetch links.
"""

from http import HTTPStatus
from typing import Any

from flask import Response, render_template, request, url_for
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
def ask(draft_id: str) -> Response | str:
    """Show the form as respondents will see it and explain confirming, or list missing parts."""
    draft = drafts.get_draft(creator_id(), draft_id)
    if draft.status is DraftStatus.PUBLISHED:
        return draft_view.go_to_form(draft, "forms.share")
    return render_template("confirmation/confirm.html", **draft_view.context(draft))


@bp.post("")
@limit_publishes
def confirm(draft_id: str) -> Response:
    """Confirm the revision and hash that the page showed; publish, unless `then` is `agent`."""
    account, revision = creator_id(), fields.revision()
    given: dict[str, Any] = {
        "revision": revision,
        "shown_hash": request.form.get("shown_hash", ""),
        "shown": agreements.posted(),
        **acting(),
    }
    try:
        if request.form.get("then") == "agent":
            confirmations.confirm_draft(account, draft_id, **given)
            wakeups().notify(draft_id)
            revisions.mark_seen(account, draft_id, revision, now=given["now"])
            return go_to(url_for("drafts.review", draft_id=draft_id))
        published = publishing.confirm_and_publish(account, draft_id, **given)
    except StateConflict as problem:
        return _refused(drafts.get_draft(account, draft_id), problem)
    wakeups().notify(draft_id)
    return go_to(url_for("forms.share", form_id=published.form.id))


def _refused(draft: drafts.Draft, problem: StateConflict) -> Response:
    """Show why the confirmation was refused: changes since the page was shown, or missing parts."""
    if draft.status is DraftStatus.PUBLISHED:
        return draft_view.go_to_form(draft, "forms.share")
    is_incomplete = problem.code == ErrorCode.DRAFT_INCOMPLETE
    name = "confirmation/confirm.html" if is_incomplete else "confirmation/stale.html"
    posted = fields.revision(), request.form.get("shown_hash")
    body = render_template(
        name,
        since_shown=draft_view.since_shown(draft),
        same=posted == (draft.revision, draft.content_hash),
        on_page=agreements.posted().on_page.used_by(draft),
        shown_revision=fields.revision(),
        **draft_view.context(draft),
    )
    return Response(body, HTTPStatus.CONFLICT)
