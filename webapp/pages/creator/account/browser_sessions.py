"""The browser sessions of an account: listed by browser and system, ended one by one."""

import re

from flask import Blueprint, Response, request
from flask_login import current_user

from webapp.base.database import utc_now
from webapp.pages.creator.request import creator_id, require_creator
from webapp.pages.fragments import go_to
from webapp.records.accounts import browser_sessions
from webapp.records.accounts.browser_sessions import SignIn
from webapp.web import request_audit

READ_CHARS = 400  # of a User-Agent header, whose length its sender chooses
# the first match counts: most browsers include the names of others
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

bp = Blueprint("browsers", __name__, url_prefix="/account/browsers")
bp.before_request(require_creator)


@bp.post("/end")
def end() -> Response:
    """Sign one browser out; the current one, too, if it is named."""
    handle = request.form.get("handle", "")
    browser_sessions.end_browser(creator_id(), handle, now=utc_now(), by=request_audit.creator())
    return go_to("/account?saved=browser")


@bp.post("/end-others")
def end_others() -> Response:
    """Sign out every browser but the current one."""
    here = current_user.get_id()
    browser_sessions.end_other_sessions(
        creator_id(), here, now=utc_now(), by=request_audit.creator()
    )
    return go_to("/account?saved=browsers")


def list_browsers() -> list[SignIn]:
    """The browser sessions of the creator's account, most recently active first."""
    return browser_sessions.list_sessions(creator_id(), now=utc_now())


def browser_in_words(user_agent: str) -> str:
    """Such as "Firefox on Linux"; shorter if only one is known, empty if neither is."""
    read = user_agent[:READ_CHARS]
    known = (_first(BROWSERS, read), _first(SYSTEMS, read))
    return " on ".join(name for name in known if name)


def _first(names: tuple[tuple[str, str], ...], user_agent: str) -> str:
    return next((name for pattern, name in names if re.search(pattern, user_agent)), "")
