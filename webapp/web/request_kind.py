"""Tells the kind of a request, where it comes from, and what it accepts."""

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from enum import Enum, auto
from typing import Any, TypeAlias, cast

from flask import Blueprint, Flask, Response, current_app, g, request
from flask.typing import ResponseReturnValue
from werkzeug.datastructures import ImmutableMultiDict, LanguageAccept, MIMEAccept, MultiDict
from werkzeug.exceptions import HTTPException
from werkzeug.http import parse_accept_header

from webapp.base.config import settings


class RequestKind(Enum):
    """Who a request comes from: readers of a kind of page, or a kind of program."""

    CREATOR_PAGE = auto()
    RESPONDENT_PAGE = auto()  # without a session, in the reader's language
    PUBLIC_PAGE = auto()
    API = auto()
    AGENT = auto()  # calls with a private agent token
    MCP = auto()
    OAUTH = auto()
    STATIC = auto()
    PROBE = auto()  # from a supervisor


Hooks: TypeAlias = dict[str | None, list[Callable[..., Any]]]  # by blueprint
KIND = "askback.request_kind"  # in the WSGI environment
PAGES = {RequestKind.CREATOR_PAGE, RequestKind.RESPONDENT_PAGE, RequestKind.PUBLIC_PAGE}
REST = {RequestKind.API, RequestKind.AGENT}  # refused with JSON of four fields
PROGRAMS = {*REST, RequestKind.MCP}  # no browser: no cookie, CSRF token or form
# each prefix covers all paths below it; the longest match counts
ADDRESSES = {
    "/api": RequestKind.API,
    "/api/agent": RequestKind.AGENT,
    "/api/.well-known": RequestKind.OAUTH,
    "/healthz": RequestKind.PROBE,
    "/mcp/app": RequestKind.MCP,
    "/mcp/app/.well-known": RequestKind.OAUTH,
    "/oauth/register": RequestKind.OAUTH,
    "/oauth/revoke": RequestKind.OAUTH,
    "/oauth/token": RequestKind.OAUTH,
    "/about": RequestKind.RESPONDENT_PAGE,
    "/privacy": RequestKind.RESPONDENT_PAGE,
    "/r": RequestKind.RESPONDENT_PAGE,
    "/readyz": RequestKind.PROBE,
    "/static": RequestKind.STATIC,
    "/.well-known": RequestKind.OAUTH,
}
LONGEST = max(address.count("/") for address in ADDRESSES) + 1  # in parts; the first is empty


def register(app: Flask, blueprint: Blueprint, kind: RequestKind) -> None:
    """Register the blueprint, whose requests are all of this kind."""
    _kinds(app)[blueprint.name] = kind
    app.register_blueprint(blueprint)


def request_kind() -> RequestKind:
    """Return the kind of the current request; an unknown page counts as public.

    Call it only after routing, because the result is kept.
    """
    kind: RequestKind | None = request.environ.get(KIND)  # most hooks need it
    if kind is None:
        routed = request.blueprint and _kinds(current_app)[request.blueprint]
        kind = routed or of_address(request.path) or RequestKind.PUBLIC_PAGE
        request.environ[KIND] = kind
    return kind


def of_address(path: str) -> RequestKind | None:
    """Return the kind of requests to this path; None for creator and public pages."""
    parts = path.split("/", LONGEST)[:LONGEST]
    beginnings = ("/".join(parts[:count]) for count in range(len(parts), 1, -1))
    return next((ADDRESSES[each] for each in beginnings if each in ADDRESSES), None)


@contextmanager
def hooks_without(app: Flask, kinds: Collection[RequestKind]) -> Iterator[None]:
    """Exempt requests of these kinds from the hooks that the block registers for all requests.

    Flask calls every hook, even one that returns at once. Without the hooks that only browsers
    need, the application takes 11 % less processor time to answer `GET /api/forms/{id}`.
    """
    phases = app.before_request_funcs, app.after_request_funcs, app.teardown_request_funcs
    by_phase = cast(tuple[Hooks, ...], phases)
    outside = [hooks.pop(None, []) for hooks in by_phase]
    yield
    before, after, teardown = (hooks.pop(None, []) for hooks in by_phase)
    for hooks, kept in zip(by_phase, outside, strict=True):
        hooks[None] = kept

    @app.before_request
    def begin() -> ResponseReturnValue | None:
        for hook in () if request_kind() in kinds else before:
            answer: ResponseReturnValue | None = hook()
            if answer is not None:
                return answer
        return None

    @app.after_request
    def finish(response: Response) -> Response:
        for hook in () if request_kind() in kinds else reversed(after):
            response = hook(response)
        return response

    @app.teardown_request
    def end(error: BaseException | None) -> None:
        for hook in () if request_kind() in kinds else reversed(teardown):
            hook(error)


def _kinds(app: Flask) -> dict[str, RequestKind]:
    kinds: dict[str, RequestKind] = app.extensions.setdefault("request_kinds", {})
    return kinds


NO_FORM: MultiDict[str, str] = ImmutableMultiDict()
# Fetch, section 2.2.5: request destinations
FRAMES = {"iframe", "frame", "embed", "object"}


def is_same_origin() -> bool:
    """Return whether a browser header says that the request has our origin; False without one."""
    site, ours = request.headers.get("Sec-Fetch-Site"), _origin_is_ours()
    return site == "same-origin" and ours is not False or site is None and ours is True


def is_from_another_site() -> bool:
    """Return whether a browser header says that the request is cross-site; False without one."""
    site = request.headers.get("Sec-Fetch-Site")
    return site in {"cross-site", "same-site"} or _origin_is_ours() is False


def _origin_is_ours() -> bool | None:
    """Return whether the header Origin names us; None without one.

    `null` does not: under `Referrer-Policy: same-origin` our pages send their origin.
    """
    origin = request.headers.get("Origin")
    if origin is None:
        return None
    if origin == settings().public_url:  # parsing the host takes longer than all else here
        return True
    # behind a proxy that ends TLS, the request may look like plain http
    return origin in {request.host_url.rstrip("/"), f"https://{request.host}"}


def is_prefetch() -> bool:
    """Return whether a browser or mail program prefetches the page."""
    return "prefetch" in request.headers.get("Sec-Purpose", request.headers.get("Purpose", ""))


def says_in_iframe() -> bool:
    """Return whether the page is in an iframe, where we neither read nor set cookies.

    Either the address says so (`embed=1`) or `Sec-Fetch-Dest` does. Requests by scripts in an
    iframe lack that header value.
    """
    if "framed" not in g:
        in_frame = request.headers.get("Sec-Fetch-Dest") in FRAMES
        g.framed = in_frame or request.args.get("embed") == "1"
    return bool(g.framed)


def posted_by_respondent() -> MultiDict[str, str]:
    """Return the form that a respondent posted; empty without one."""
    if (
        request.method == "POST"
        and request.url_rule
        and request_kind() is RequestKind.RESPONDENT_PAGE
    ):
        with suppress(HTTPException):  # too large: the route refuses it
            return request.form
    return NO_FORM


READ_CHARS = 1000  # several times what browsers send


def accepted_languages() -> LanguageAccept:
    """Return the accepted language tags with their quality, best first."""
    return parse_accept_header(_beginning("Accept-Language"), LanguageAccept)


def accepts_gzip() -> bool:
    """Return whether the client accepts gzip."""
    return parse_accept_header(_beginning("Accept-Encoding")).quality("gzip") > 0


def accepts(media_type: str) -> bool:
    """Return whether the client accepts this type; without an Accept header it accepts any."""
    said = _beginning("Accept")
    return not said.strip() or parse_accept_header(said, MIMEAccept)[media_type] > 0


def _beginning(header: str) -> str:
    return request.headers.get(header, "")[:READ_CHARS]
