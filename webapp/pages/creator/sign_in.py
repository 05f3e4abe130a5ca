"""Signing in and out, known browsers, and the check of the creator's own password."""

import hashlib
import re
import secrets
import time
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from typing import Any

from flask import Blueprint, Flask, Response, after_this_request, render_template, request, session
from flask_babel import gettext as _
from flask_limiter import RouteLimit
from flask_login import current_user, login_required, login_user, logout_user
from itsdangerous import BadSignature, URLSafeSerializer

from webapp.base.config import Settings, settings
from webapp.base.database import utc_now
from webapp.base.database.failures import STORAGE_FAILURES
from webapp.base.errors import InvalidInput, NotFound, Outcome, StateConflict, TooBusy
from webapp.oauth.connections import end_grants
from webapp.pages import errors
from webapp.pages.creator.request import Acting, acting, creator_id
from webapp.pages.fragments import go_to, wants_fragment
from webapp.records.accounts import browser_sessions, credentials, invites, models
from webapp.records.audit import AuditKind
from webapp.web import browser_cookies, deferred_writes, request_audit
from webapp.web.extensions import login
from webapp.web.limiter import client_network, is_failure, limiter

COOKIE = browser_cookies.BrowserCookie("askback_device", max_age=365 * 24 * 3600)


def known_device() -> str | None:
    """Return the id of this browser if it has signed in to the account in the form before."""
    cookie = COOKIE.read()
    account = models.find_account(request.form.get("email", "")) if cookie else None
    with suppress(BadSignature):
        return str(_signer(account).loads(cookie)) if account else None
    return None


def _signer(account: models.Account) -> URLSafeSerializer:
    """Return a signer bound to the password hash, which is salted and so belongs to one account."""
    return URLSafeSerializer(settings().secret_key, salt=f"device {account.password_hash}")


READ_CHARS = 400  # of a User-Agent header, which may have any length
# the first match wins: most browsers also send the names of others
BROWSERS = (
    ("Edg(e|A|iOS)?/", "Edge"),
    ("OPR/|Opera", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Firefox/|FxiOS/", "Firefox"),
    ("CriOS/|Chrome/|Chromium/", "Chrome"),
    ("Version/.*Safari/", "Safari"),
)
SYSTEMS = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("CrOS", "ChromeOS"),
    ("Macintosh|Mac OS X", "macOS"),
    ("Linux|X11", "Linux"),
)

RECENT_SECONDS = 600  # after that, irreversible actions ask for the password again
# limits of failed sign-ins; known browsers are exempt from the last two
ACCOUNT_RATE = "5/minute;20/hour"  # to one account, from one network address or known browser
ACCOUNT_TOTAL_RATE = "100/hour;500/day"  # to one account
ADDRESS_RATE = "30/minute"  # from one network address
AGAIN = {"Retry-After": errors.RETRY_SECONDS}
SIGNED_IN_AT = "signed_in_at"

bp = Blueprint("sign_in", __name__)


def init_app(app: Flask, config: Settings) -> None:
    """Configure session cookies and load the account of a session.

    SameSite is Lax: with Strict, a creator who follows a link from an agent would be signed out.
    """
    app.config.update(
        SESSION_COOKIE_NAME="__Host-askback_session" if config.secure else "askback_session",
        SESSION_COOKIE_SECURE=config.secure,
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SAMESITE="Lax",
        SESSION_COOKIE_PATH="/",
        SESSION_PROTECTION="basic",
        PERMANENT_SESSION_LIFETIME=browser_sessions.SESSION_LIFETIME,
        # the session ends with its row; a late response must not restore an older cookie
        SESSION_REFRESH_EACH_REQUEST=False,
        # a form left open overnight still works; the token is bound to the session
        WTF_CSRF_TIME_LIMIT=None,
    )
    login.init_app(app)


@login.user_loader  # type: ignore[untyped-decorator]
def find_session_account(session_id: str) -> models.Account | None:
    """Return the account of a session cookie; None ends the session."""
    now = utc_now()
    account = browser_sessions.find_session_account(session_id, now=now)
    if account is not None and account.active_at <= now - browser_sessions.ACTIVE_EVERY:
        active = partial(
            browser_sessions.note_active,
            session_id,
            address=request_audit.network_address(),
            now=now,
        )
        deferred_writes.write_later(("active", session_id), active)
    return account


@login.unauthorized_handler  # type: ignore[untyped-decorator]
def ask_to_sign_in() -> Response:
    """Redirect to the sign-in page, which returns to this address; htmx gets a 401 and a note."""
    return errors.signed_out() if wants_fragment() else go_to(errors.login_url())


@bp.get("/login")
def show_sign_in() -> Response | str:
    """Show the sign-in form; redirect a creator who is signed in."""
    if current_user.is_authenticated:
        return go_to(errors.next_page())
    return render_template("account/sign_in.html", refusal=None)


def _tried_account() -> str | None:
    """Return the id of the posted account; None if it is unknown or the database unavailable."""
    with suppress(*STORAGE_FAILURES):
        known = models.find_account(request.form.get("email", ""))
        return known.id if known else None
    return None


def _account_key() -> str:
    """Return a hash of the posted email address: limits store no address in clear text."""
    email = models.normal_email(request.form.get("email", ""))
    return hashlib.sha256(email.encode()).hexdigest()


OF_SIGN_IN: dict[str, Any] = {
    "deduct_when": is_failure,
    "on_breach": request_audit.telling_refusals(AuditKind.SIGN_IN, _tried_account),
}
OF_STRANGERS = OF_SIGN_IN | {"exempt_when": lambda: known_device() is not None}


@bp.post("/login")
@limiter.limit(
    lambda: ACCOUNT_RATE,
    key_func=lambda: known_device() or f"{_account_key()} {client_network()}",
    **OF_SIGN_IN,
)
@limiter.limit(lambda: ACCOUNT_TOTAL_RATE, key_func=_account_key, **OF_STRANGERS)
@limiter.limit(lambda: ADDRESS_RATE, key_func=client_network, **OF_STRANGERS)
def sign_in() -> Response | tuple[str, int]:
    """Sign in; a wrong password and an unknown address get the same answer after the same time."""
    given = request.form.get("email", ""), request.form.get("password", "")
    try:
        account = credentials.find_sign_in(*given)
    except TooBusy:
        page = render_template("account/sign_in.html", refusal="busy")
        return Response(page, HTTPStatus.SERVICE_UNAVAILABLE, AGAIN)
    if account is None or account.disabled_at is not None:
        request_audit.note_failure(AuditKind.SIGN_IN, _tried_account(), **_visiting())
        refusal = "disabled" if account else "wrong"
        page = render_template("account/sign_in.html", refusal=refusal)
        return page, HTTPStatus.UNPROCESSABLE_ENTITY
    start_session(account)
    return go_to(errors.next_page())


@bp.post("/logout")
def sign_out() -> Response:
    """End the session of this browser, which invalidates every copy of its cookie."""
    browser_sessions.end_session(current_user.get_id(), **acting())
    logout_user()
    session.clear()
    return go_to("/login")


@bp.post("/logout/everywhere")
@login_required  # type: ignore[untyped-decorator]
def sign_out_everywhere() -> Response:
    """End every browser session of the account."""
    browser_sessions.end_sessions(current_user.id, **acting())
    return sign_out()


@bp.get("/join/<token>")
def show_invite(token: str, refusal: Outcome | None = None) -> str:
    """Show the form of a one-time link; a GET does not use the link up."""
    invite = invites.get_invite(token, now=utc_now())
    return render_template("account/join.html", invite=invite, refusal=refusal)


@bp.post("/join/<token>")
@limiter.limit(
    lambda: ADDRESS_RATE,
    key_func=client_network,
    deduct_when=is_failure,
    on_breach=request_audit.telling_refusals(AuditKind.LINK_USED),
)
def accept_invite(token: str) -> Response | tuple[str, int]:
    """Create the account or set its new password, then sign in."""
    given = {name: request.form.get(name, "") for name in ("email", "name", "password")}
    act = _visiting()
    try:
        account = invites.accept_invite(token, **given, **act, also=ending_agents(act))
    except NotFound:
        request_audit.note_failure(AuditKind.LINK_USED, None, **act)
        raise
    except (InvalidInput, StateConflict, TooBusy) as refusal:
        page = show_invite(token, refusal)
        if isinstance(refusal, TooBusy):
            return Response(page, HTTPStatus.SERVICE_UNAVAILABLE, AGAIN)
        return page, HTTPStatus.UNPROCESSABLE_ENTITY
    start_session(account)
    return go_to(errors.HOME)


@bp.errorhandler(NotFound)
def link_gone(gone: NotFound) -> Response:
    """Report that a one-time link was used, has expired or never was one."""
    return errors.problem(errors.Problem(_(gone.message), _(gone.resolution)), HTTPStatus.GONE)


@bp.get("/account/deleted")
def show_farewell() -> str:
    """Show the page after the deletion of an account, which ended the session."""
    return render_template("account/deleted.html")


def ending_agents(act: Acting) -> credentials.Also | None:
    """Return a function that disconnects all agents, None if that was not chosen."""
    return partial(end_grants, **act) if "end_agents" in request.form else None


def start_session(account: models.Account) -> None:
    """Start a new session without the data of the old one, against session fixation."""
    account.session_id = browser_sessions.begin_session(
        account,
        replaced=current_user.get_id(),
        now=utc_now(),
        by=request_audit.creator(),
        browser=browser_in_words(request.headers.get("User-Agent", "")),
    )
    session.clear()
    session.permanent = True
    session[SIGNED_IN_AT] = int(time.time())
    login_user(account)
    device = _signer(account).dumps(secrets.token_hex(16))  # valid until the password changes

    @after_this_request
    def remember_device(response: Response) -> Response:
        COOKIE.keep(response, device)
        return response


def signed_in_recently() -> bool:
    """Return whether this browser session began with a password in the last ten minutes."""
    return int(session.get(SIGNED_IN_AT, 0)) > time.time() - RECENT_SECONDS


def _visiting() -> Acting:
    """Return the current time and a visitor who is not signed in."""
    return Acting(now=utc_now(), by=request_audit.visitor())


def limited_tries(kind: AuditKind) -> RouteLimit:
    """Limit the failed attempts of an account to ACCOUNT_RATE; refusals are audited as `kind`."""
    return limiter.limit(
        lambda: ACCOUNT_RATE,
        key_func=creator_id,
        deduct_when=is_failure,
        on_breach=request_audit.telling_refusals(kind, creator_id, by=request_audit.creator),
    )


def require_own_password(kind: AuditKind) -> None:
    """Require the password in the field `current`, unless this browser signed in recently.

    kind    the audit kind of a wrong password
    raises  InvalidInput
    """
    if signed_in_recently():
        return
    try:
        credentials.check_own_password(current_user, request.form.get("current", ""))
    except InvalidInput as refusal:
        note_wrong_password(kind, refusal)
        raise


def note_wrong_password(kind: AuditKind, refusal: InvalidInput) -> None:
    """Audit the attempt if the refusal is about the field `current`."""
    if refusal.field == "current":
        request_audit.note_failure(kind, creator_id(), **acting())


def browser_in_words(user_agent: str) -> str:
    """Describe a browser, such as "Firefox on Linux"; leave out an unknown browser or system."""
    read = user_agent[:READ_CHARS]
    known = (
        next((name for pattern, name in names if re.search(pattern, read)), "")
        for names in (BROWSERS, SYSTEMS)
    )
    return " on ".join(filter(None, known))
