"""The account page of a creator: name, picture, password, browsers, activity, deletion."""

from collections.abc import Iterable
from http import HTTPStatus
from itertools import groupby
from operator import attrgetter

from flask import Blueprint, Response, render_template, request, session
from flask_login import current_user, logout_user
from sqlalchemy import select

from webapp.base.database import db, from_millis, to_millis, utc_now
from webapp.base.errors import ErrorCode, InvalidInput
from webapp.drafts import form_settings
from webapp.oauth.account_deletion import delete_account, list_inventory
from webapp.pages.creator import fields, sign_in
from webapp.pages.creator.request import acting, creator_id, limit_writes, require_creator
from webapp.pages.fragments import as_picture, go_to
from webapp.records import audit, drafts, forms
from webapp.records.accounts import browser_sessions, credentials, models
from webapp.voice.audio_inspection import NotPicture, redraw
from webapp.voice.child_process import ChildBusy

PAGE = "/account"
NO_PICTURE = (
    "That is no picture that we can draw.",
    "Choose another one: PNG, JPEG or WebP, at most 2 MB.",
)
NOT_NOW = "No picture can be drawn just now.", "Try again in a minute."

bp = Blueprint("account", __name__)
bp.before_request(require_creator)


@bp.get(PAGE)
def show(refusal: InvalidInput | None = None) -> str:
    """Show the account page; `?saved=` names the part that was just changed."""
    return render_template(
        "account/show.html",
        refusal=refusal,
        accents=models.ACCENTS,
        languages=models.CREATOR_LANGUAGES,
        browsers=browser_sessions.list_sessions(creator_id(), now=utc_now()),
    )


@bp.post("/account/details")
def change_details() -> Response | tuple[str, int]:
    """Save the name, organisation, colour and language."""
    form = request.form
    name, language = form.get("name", ""), form.get("language", current_user.language)
    asker = form.get("organisation", ""), form.get("accent", "")
    try:
        credentials.change_details(creator_id(), name, language, *asker)
    except InvalidInput as refusal:
        return show(refusal), HTTPStatus.UNPROCESSABLE_ENTITY
    return go_to(f"{PAGE}?saved=details")


@bp.post("/account/picture")
@limit_writes
def change_picture() -> Response | tuple[str, int]:
    """Set the account's picture: a posted file, decoded and encoded again."""
    file = request.files.get("picture")
    if file:
        file.seek(0)  # the request may run a second time, after a deadlock
    try:
        form_settings.set_picture(creator_id(), redraw(file.read() if file else b""))
    except (NotPicture, ChildBusy) as failure:
        is_busy = isinstance(failure, ChildBusy)
        said = NOT_NOW if is_busy else NO_PICTURE
        page = show(InvalidInput(ErrorCode.VALIDATION_FAILED, *said, field="picture"))
        return page, HTTPStatus.SERVICE_UNAVAILABLE if is_busy else HTTPStatus.UNPROCESSABLE_ENTITY
    return go_to(f"{PAGE}?saved=picture")


@bp.post("/account/picture/remove")
def remove_picture() -> Response:
    """Remove the account's picture."""
    form_settings.set_picture(creator_id(), b"")
    return go_to(f"{PAGE}?saved=picture")


@bp.get("/account/picture/<digest>")
def show_picture(digest: str) -> Response:
    """Serve the picture of the signed-in account."""
    return as_picture(form_settings.read_picture(creator_id(), digest))


@bp.post("/account/password")
@sign_in.limited_tries(audit.AuditKind.PASSWORD_CHANGED)
def change_password() -> Response | tuple[str, int]:
    """Set a new password; only this browser stays signed in."""
    given = request.form.get("current", ""), request.form.get("password", "")
    try:
        act = acting()
        also = sign_in.ending_agents(act)
        account = credentials.change_password(creator_id(), *given, **act, also=also)
    except InvalidInput as refusal:
        sign_in.note_wrong_password(audit.AuditKind.PASSWORD_CHANGED, refusal)
        return show(refusal), HTTPStatus.UNPROCESSABLE_ENTITY
    sign_in.start_session(account)
    return go_to(f"{PAGE}?saved=password")


@bp.get("/account/delete")
def show_deletion(refusal: InvalidInput | None = None) -> str:
    """Show everything that a deletion removes; a GET changes nothing."""
    return render_template(
        "account/delete.html",
        inventory=list_inventory(creator_id(), now=utc_now()),
        refusal=refusal,
        ask_password=not sign_in.signed_in_recently(),
    )


@bp.post("/account/delete")
@sign_in.limited_tries(audit.AuditKind.ACCOUNT_DELETED)
def delete() -> Response | tuple[str, int]:
    """Delete the account; requires the password, unless this browser signed in recently."""
    try:
        sign_in.require_own_password(audit.AuditKind.ACCOUNT_DELETED)
    except InvalidInput as refusal:
        return show_deletion(refusal), HTTPStatus.UNPROCESSABLE_ENTITY
    delete_account(creator_id(), **acting())
    logout_user()
    session.clear()
    return go_to("/account/deleted")


EVENTS_ON_PAGE = 50
READS_AS = attrgetter("kind", "outcome", "subject", "actor", "client_id", "client_name", "address")


@bp.get("/account/activity")
def show_activity() -> str:
    """Show a page of audit events; `?before=` is the last event of the previous page."""
    at = fields.asked_position()
    before = (from_millis(at[0]), at[1]) if at else None
    events = audit.list_events(creator_id(), limit=EVENTS_ON_PAGE + 1, before=before)
    shown = events[:EVENTS_ON_PAGE]
    return render_template(
        "account/activity.html",
        # equal events in a row take one line: the newest one, with their number
        lines=[
            (same[0], sum(each.count for each in same))
            for same in (list(found) for _, found in groupby(shown, READS_AS))
        ],
        titles=_titles(shown),
        older=f"{to_millis(shown[-1].at)}-{shown[-1].id}" if len(events) > len(shown) else "",
    )


def _titles(events: Iterable[audit.AuditEvent]) -> dict[str, str]:
    """Return titles by id of the account's drafts and forms that still exist."""
    subjects = {event.subject for event in events if event.subject}
    found: dict[str, str] = {}
    for table in (drafts.Draft, forms.Form):
        mine = (table.account_id == creator_id(), table.deleted_at.is_(None))
        query = select(table.id, table.title).where(table.id.in_(subjects), *mine)
        found |= {row.id: row.title for row in db.session.execute(query) if row.title}
    return found


@bp.post("/account/browsers/end")
def end_browser() -> Response:
    """Sign out one browser, which may be the current one."""
    browser_sessions.end_browser(creator_id(), request.form.get("handle", ""), **acting())
    return go_to(f"{PAGE}?saved=browser")


@bp.post("/account/browsers/end-others")
def end_other_browsers() -> Response:
    """Sign out every browser but the current one."""
    browser_sessions.end_other_sessions(creator_id(), current_user.get_id(), **acting())
    return go_to(f"{PAGE}?saved=browsers")
