"""A creator's own page: name, language, password, browsers, and the end of the account."""

from http import HTTPStatus

from flask import Blueprint, Response, render_template, request, session
from flask.typing import ResponseReturnValue
from flask_login import current_user, logout_user

from webapp.base.database import utc_now
from webapp.base.error_codes import ErrorCode
from webapp.base.errors import InvalidInput
from webapp.base.limits import ACCOUNT_NAME_MAX_CHARS, ORGANISATION_MAX_CHARS
from webapp.drafts import form_settings
from webapp.oauth.account_deletion import delete_account, list_inventory
from webapp.pages.creator.account.browser_sessions import list_browsers
from webapp.pages.creator.account.sign_in import (
    asked_to_end_agents,
    ending_agents,
    limited_tries,
    note_wrong_password,
    require_own_password,
    signed_in_recently,
    start_session,
)
from webapp.pages.creator.request import creator_id, limit_one_write, require_creator
from webapp.pages.fragments import as_picture, go_to
from webapp.records.accounts import credentials
from webapp.records.accounts.models import ACCENTS, CREATOR_LANGUAGES
from webapp.records.audit import AuditKind
from webapp.voice.audio_inspection import AudioBusy, NotPicture, redraw
from webapp.web import request_audit

PAGE = "/account"
PICTURE_TYPES = "PNG, JPEG or WebP, at most 2 MB"
SAVED = ("details", "picture", "password", "browser", "browsers")

bp = Blueprint("account", __name__)


@bp.before_request
def require_somebody() -> ResponseReturnValue | None:
    """All pages here need a signed-in creator, except the farewell."""
    return None if request.endpoint == "account.show_farewell" else require_creator()


@bp.get(PAGE)
def show() -> str:
    """The account page; `saved` names what was just changed."""
    saved = request.args.get("saved", "")
    return _page(saved if saved in SAVED else "")


@bp.post("/account/details")
def change_details() -> ResponseReturnValue:
    """Name, organisation, colour and language."""
    form = request.form
    name, language = form.get("name", ""), form.get("language", current_user.language)
    asker = form.get("organisation", ""), form.get("accent", "")
    try:
        credentials.change_details(creator_id(), name, language, *asker)
    except InvalidInput as refusal:
        return _page(refusal=refusal), HTTPStatus.UNPROCESSABLE_ENTITY
    return go_to(f"{PAGE}?saved=details")


@bp.post("/account/picture")
@limit_one_write
def change_picture() -> ResponseReturnValue:
    """Show the picture of a posted file, drawn anew."""
    file = request.files.get("picture")
    if file:
        file.seek(0)  # a request that met a deadlock is answered once more
    try:
        form_settings.set_picture(creator_id(), redraw(file.read() if file else b""))
    except (NotPicture, AudioBusy) as problem:
        busy = isinstance(problem, AudioBusy)
        refusal = InvalidInput(
            ErrorCode.VALIDATION_FAILED,
            "No picture can be drawn just now." if busy else "That is no picture that we can draw.",
            "Try again in a minute." if busy else f"Choose another one: {PICTURE_TYPES}.",
            field="picture",
        )
        status = HTTPStatus.SERVICE_UNAVAILABLE if busy else HTTPStatus.UNPROCESSABLE_ENTITY
        return _page(refusal=refusal), status
    return go_to(f"{PAGE}?saved=picture")


@bp.post("/account/picture/remove")
def remove_picture() -> ResponseReturnValue:
    """Show no picture any more."""
    form_settings.set_picture(creator_id(), b"")
    return go_to(f"{PAGE}?saved=picture")


@bp.get("/account/picture/<digest>")
def show_picture(digest: str) -> Response:
    """A picture of the account, to its creator."""
    return as_picture(form_settings.read_picture(creator_id(), digest))


@bp.post("/account/password")
@limited_tries(AuditKind.PASSWORD_CHANGED)
def change_password() -> ResponseReturnValue:
    """Set a new password; this browser stays signed in, all others are signed out."""
    given = request.form.get("current", ""), request.form.get("password", "")
    try:
        now, by = utc_now(), request_audit.creator()
        account = credentials.change_password(
            creator_id(), *given, now=now, by=by, also=ending_agents(now, by)
        )
    except InvalidInput as refusal:
        note_wrong_password(AuditKind.PASSWORD_CHANGED, refusal)
        return _page(refusal=refusal), HTTPStatus.UNPROCESSABLE_ENTITY
    start_session(account)
    return go_to(f"{PAGE}?saved=password")


@bp.get("/account/delete")
def show_deletion() -> str:
    """Show what the deletion will delete; GET changes nothing."""
    return _deletion_page()


@bp.post("/account/delete")
@limited_tries(AuditKind.ACCOUNT_DELETED)
def delete() -> ResponseReturnValue:
    """Delete the account, after its creator has just entered the password."""
    try:
        require_own_password(AuditKind.ACCOUNT_DELETED)
    except InvalidInput as refusal:
        return _deletion_page(refusal), HTTPStatus.UNPROCESSABLE_ENTITY
    delete_account(creator_id(), now=utc_now(), by=request_audit.creator())
    logout_user()
    session.clear()
    return go_to("/account/deleted")


@bp.get("/account/deleted")
def show_farewell() -> str:
    """The page after a deletion; it needs no session, because the account is gone."""
    return render_template("account/deleted.html")


def _page(saved: str = "", refusal: InvalidInput | None = None) -> str:
    name = request.form.get("name", current_user.name)[:ACCOUNT_NAME_MAX_CHARS]
    return render_template(
        "account/show.html",
        saved=saved,
        refusal=refusal,
        name=name,
        organisation=request.form.get("organisation", current_user.organisation)[
            :ORGANISATION_MAX_CHARS
        ],
        accents=ACCENTS,
        chosen_accent=request.form.get("accent", current_user.accent),
        languages=CREATOR_LANGUAGES,
        browsers=list_browsers(),
        end_agents=asked_to_end_agents(),
    )


def _deletion_page(refusal: InvalidInput | None = None) -> str:
    inventory = list_inventory(creator_id(), now=utc_now())
    return render_template(
        "account/delete.html",
        inventory=inventory,
        refusal=refusal,
        ask_password=not signed_in_recently(),
    )
