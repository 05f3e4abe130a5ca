"""Error pages, and the redirects to the sign-in page and back."""

import json
import logging
import math
import re
from contextlib import suppress
from http import HTTPStatus
from typing import NamedTuple
from urllib.parse import urlsplit

from flask import Flask, Response, current_app, g, request
from flask_babel import lazy_gettext as _, ngettext
from flask_limiter import RateLimitExceeded
from flask_login import current_user
from flask_wtf.csrf import CSRFError, generate_csrf
from itsdangerous import BadSignature, URLSafeTimedSerializer
from jinja2 import meta
from limits import RateLimitItem
from werkzeug.exceptions import HTTPException

from webapp.base.config import settings
from webapp.base.database import release_connections
from webapp.base.database.failures import STORAGE_FAILURES, is_away
from webapp.base.errors import InvalidInput, NotFound, Outcome, RateLimited, StateConflict, TooBusy
from webapp.pages.filters import translated
from webapp.pages.fragments import VARIES_BY, shown_address, typed_text, wants_fragment
from webapp.web import hosts, limiter, request_kind, url_converters

HOME = "/drafts"
RETURN_SECONDS = 3600  # lifetime of the signed `next` parameter
# no second slash, no backslash and no white space, which browsers turn into a slash or drop
OWN_PATH = re.compile(r"/(?!/)[!-\[\]-~]*")


def login_url() -> str:
    """Return the sign-in address; its `next` is the requested page, with htmx the open page."""
    shown = shown_address()
    if shown is None:
        remembered = request.method == "GET" or request.endpoint == "consent.decide"
        going = url_converters.current_address() if remembered else ""
    else:
        going = own_page(shown)
    return f"/login?next={_serializer().dumps(going)}" if going else "/login"


def next_page() -> str:
    """Return the page to show after sign-in.

    Only a signed `next` is used, so no link can redirect to another site.
    """
    try:
        page: str = _serializer().loads(request.args.get("next", ""), max_age=RETURN_SECONDS)
    except BadSignature:
        return HOME
    return page


def own_page(address: str) -> str:
    """Return the path and query of an address on this site, "" for any other address."""
    with suppress(ValueError):
        parts = urlsplit(address)
        query = url_converters.quoted_query(parts.query)
        path = parts._replace(scheme="", netloc="", query=query, fragment="").geturl()
        return path if parts.netloc == request.host and is_own_path(path) else ""
    return ""


def is_own_path(path: str) -> bool:
    """Return whether a redirect to this path and query stays on this site."""
    return OWN_PATH.fullmatch(path) is not None


def _serializer() -> URLSafeTimedSerializer:
    return URLSafeTimedSerializer(current_app.config["SECRET_KEY"], salt="after-sign-in")


class Problem(NamedTuple):
    """The heading and text of an error page, some of which are translated when it is shown."""

    title: str
    lead: str


def load_pages(app: Flask, *more: str) -> None:
    """Load the error templates and `more`, and the templates that they include, early.

    Later, the error may be that no file can be opened.
    """
    env = app.jinja_env
    names: list[str | None] = ["errors/problem.html", "errors/_problem.html", *more]
    names += ["respondent/not_saved.html", "respondent/swap.html", "base/respondent.html"]
    for name in filter(None, names):  # which grows
        source, _name, _changed = env.loader.get_source(env, name)  # type: ignore[union-attr]
        env.get_template(name)
        found = meta.find_referenced_templates(env.parse(source))
        names += [each for each in found if each not in names]


def problem(
    what: Problem,
    status: HTTPStatus,
    *,
    kept: str = "",
    again: bool = False,
    back: tuple[str, str] | None = None,
) -> Response:
    """Return an error page; htmx gets a note to swap in.

    kept   posted text that was not saved; the page shows it for copying
    again  a button repeats the request
    back   address and label of a link
    """
    name = "errors/_problem.html" if wants_fragment() else "errors/problem.html"
    # without context processors: they query the database, which may be down
    template = current_app.jinja_env.get_template(name)
    body = template.render(problem=what, status=status, kept=kept, again=again, back=back)
    response = Response(body, status)
    response.vary.update(VARIES_BY)
    return response


RETRY_SECONDS = "5"

log = logging.getLogger("askback.pages")

GONE = Problem(
    _("There is nothing at this address."),
    _(
        "It may be mistyped, or what was here has been removed. "
        "If it belongs to somebody else, only they can open it."
    ),
)
STALE_PAGE = Problem(
    _("This page was open for too long."),
    _("Nothing was changed. Go back, reload the page and do it once more."),
)
SIGNED_IN_AGAIN = Problem(
    _("You have signed in again since this page was opened."),
    _("Nothing is lost. Do it once more."),
)
PROBLEMS = {
    HTTPStatus.BAD_REQUEST: Problem(
        _("We couldn’t read that request."),
        _("Nothing was changed. Go back and try once more."),
    ),
    HTTPStatus.FORBIDDEN: Problem(
        _("This is not allowed from here."),
        _("Nothing was changed. Open the page in your browser, signed in, and do it there."),
    ),
    HTTPStatus.NOT_FOUND: GONE,
    HTTPStatus.METHOD_NOT_ALLOWED: Problem(
        _("That’s not possible here."),
        _("Nothing was changed. Go back and use the buttons of the page."),
    ),
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: Problem(
        _("That is too much at once."),
        _(
            "Nothing was saved. Press Back in your browser: your words are still there. "
            "Shorten them, then send them again."
        ),
    ),
    HTTPStatus.INTERNAL_SERVER_ERROR: Problem(
        _("Something broke on our side."),
        _("The error has been logged. What was saved before is safe."),
    ),
    HTTPStatus.SERVICE_UNAVAILABLE: Problem(
        _("We can’t reach the database right now."),
        _("What was saved before is safe. Wait a little, then try again."),
    ),
}
TOO_MUCH_BESIDE = Problem(
    PROBLEMS[HTTPStatus.REQUEST_ENTITY_TOO_LARGE].title,
    _("Nothing was saved. Your words are still here: shorten them, then send them again."),
)
LIMITS = {
    "minute": _("The limit is %(num)s in a minute."),
    "hour": _("The limit is %(num)s in an hour."),
    "day": _("The limit is %(num)s in a day."),
}
NOT_PUBLISHED = Problem(
    PROBLEMS[HTTPStatus.SERVICE_UNAVAILABLE].title,
    # not translated: creators read English
    "Nothing is lost. Wait a little, then try again: that never publishes twice.",
)
WORDS_KEPT = "Nothing was changed, and nothing you wrote is lost."
STATUSES: dict[type[Outcome], HTTPStatus] = {
    InvalidInput: HTTPStatus.UNPROCESSABLE_ENTITY,
    NotFound: HTTPStatus.NOT_FOUND,
    StateConflict: HTTPStatus.CONFLICT,
    TooBusy: HTTPStatus.SERVICE_UNAVAILABLE,
}


def init_app(app: Flask) -> None:
    """Register a handler for every exception that page routes raise."""
    app.register_error_handler(Outcome, outcome)
    app.register_error_handler(CSRFError, stale_page)
    for failure in STORAGE_FAILURES:
        app.register_error_handler(failure, storage_failed)


def outcome(error: Outcome) -> Response:
    """Show the API message of an expected failure, translated if possible."""
    if isinstance(error, RateLimited):
        return _too_many(error.seconds)
    status = STATUSES.get(type(error), HTTPStatus.BAD_REQUEST)
    if status is HTTPStatus.NOT_FOUND:
        return problem(GONE, status)
    said = problem(Problem(translated(error.message), translated(error.resolution)), status)
    if isinstance(error, TooBusy):
        said.headers["Retry-After"] = RETRY_SECONDS
    return said


def stale_page(_error: CSRFError) -> Response:
    """Report a missing, foreign or expired CSRF token, with the typed text.

    If the creator has signed in again since, htmx gets the CSRF token of the new session.
    """
    if not wants_fragment():
        return problem(STALE_PAGE, HTTPStatus.BAD_REQUEST, kept=_typed_by_creator())
    if not current_user.is_authenticated:
        return signed_out()
    response = problem(SIGNED_IN_AGAIN, HTTPStatus.BAD_REQUEST)
    response.headers["HX-Trigger"] = json.dumps({"askback:token": {"token": generate_csrf()}})
    return response


def signed_out() -> Response:
    """Tell htmx that the session has ended.

    The script of the page redirects to sign-in, or shows a note while an editor is open.
    """
    body = current_app.jinja_env.get_template("errors/_signed_out.html").render()
    response = Response(body, HTTPStatus.UNAUTHORIZED)
    response.headers["HX-Redirect"] = login_url()
    response.vary.update(VARIES_BY)
    return response


def http_problem(error: HTTPException) -> Response:
    """Show any other HTTP error, and keep its headers, such as `Allow`."""
    if isinstance(error, RateLimitExceeded):
        return _too_many(limiter.seconds_to_wait(error), limit_sentence(error.limit.limit))
    if isinstance(error, hosts.UnknownHost):
        # for the operator, in English: other people use the configured host
        at_other_name = Problem(
            "This server does not answer under this name.",
            f"Open it at {settings().public_url}. If you run it: PUBLIC_URL and "
            "TRUSTED_HOSTS say which names it has, and a proxy in front has to pass on Host.",
        )
        return problem(at_other_name, HTTPStatus.BAD_REQUEST)
    status = HTTPStatus(error.code or HTTPStatus.INTERNAL_SERVER_ERROR)
    what = PROBLEMS.get(status, PROBLEMS[HTTPStatus.BAD_REQUEST])
    if status is HTTPStatus.REQUEST_ENTITY_TOO_LARGE and wants_fragment():
        what = TOO_MUCH_BESIDE
    response = problem(what, status)
    for name, value in error.get_headers():
        if name not in {"Content-Type", "Content-Length"}:
            response.headers.add(name, value)
    return response


def too_many_writes(error: RateLimitExceeded) -> Response:
    """Report a rate limit on a creator's form: keep the text, and offer to send it again."""
    sentence = f"{WORDS_KEPT} {limit_sentence(error.limit.limit)}".strip()
    return _too_many(limiter.seconds_to_wait(error), sentence, kept=_typed_by_creator(), again=True)


def _too_many(seconds: int, sentence: str = "", *, kept: str = "", again: bool = False) -> Response:
    """Return a 429 page with the minutes to wait, rounded up; `sentence` states the limit."""
    wait = ngettext(
        "Wait %(num)s minute, then try again.",
        "Wait %(num)s minutes, then try again.",
        math.ceil(seconds / 60),
    )
    page = Problem(_("Too many tries in a short time."), f"{sentence} {wait}".strip())
    response = problem(page, HTTPStatus.TOO_MANY_REQUESTS, kept=kept, again=again)
    response.headers["Retry-After"] = str(seconds)
    return response


def limit_sentence(limit: RateLimitItem) -> str:
    """Describe the limit in a sentence; "" for a period without a name."""
    message = LIMITS.get(limit.GRANULARITY.name) if limit.multiples == 1 else None
    return str(message) % {"num": limit.amount} if message else ""


def storage_failed(
    error: Exception,
    what: Problem = PROBLEMS[HTTPStatus.SERVICE_UNAVAILABLE],
    *,
    again: bool = False,
) -> Response:
    """Report that the database is locked, full or unavailable; htmx gets a note.

    again   repeats a POST, too
    raises  `error` itself if it is a programming error
    """
    if not is_away(error):
        raise error
    log.exception("storage failed")
    release_connections()
    g.storage_failed = True
    again = again or request.method == "GET"
    response = problem(what, HTTPStatus.SERVICE_UNAVAILABLE, kept=_typed_by_creator(), again=again)
    response.headers["Retry-After"] = RETRY_SECONDS
    return response


def offer_again(error: Exception) -> Response:
    """Report a storage failure and offer to repeat the POST, which must be idempotent."""
    if request.method == "POST" and request_kind.is_same_origin():
        return storage_failed(error, NOT_PUBLISHED, again=True)
    return storage_failed(error)


def _typed_by_creator() -> str:
    """Return the text posted from the creator's editors; "" for a cross-site form."""
    if not request_kind.is_same_origin():
        return ""
    return "\n\n".join(filter(None, map(typed_text, ("text", "hint", "origins", "note"))))
