"""The kind of each request: its audience, and the format of its responses.

A blueprint names its kind where it is registered. Whoever asks before there is a route, or where no
route was found, goes by the address.
"""

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from enum import Enum, auto
from typing import Any, TypeAlias, cast

from flask import Blueprint, Flask, Response, current_app, request
from flask.typing import ResponseReturnValue


class RequestKind(Enum):
    """Of pages, for whom; else, which programs ask."""

    CREATOR_PAGE = auto()
    RESPONDENT_PAGE = auto()  # without a session, in the reader's language
    PUBLIC_PAGE = auto()
    API = auto()
    AGENT = auto()  # with a private agent token
    MCP = auto()
    OAUTH = auto()
    STATIC = auto()
    PROBE = auto()  # of a supervisor


Hooks: TypeAlias = dict[str | None, list[Callable[..., Any]]]  # by blueprint
KIND = "askback.request_kind"  # in the WSGI environment
PAGES = {RequestKind.CREATOR_PAGE, RequestKind.RESPONDENT_PAGE, RequestKind.PUBLIC_PAGE}
REST = {RequestKind.API, RequestKind.AGENT}  # their refusals are JSON of four fields
PROGRAMS = {*REST, RequestKind.MCP}  # no browser asks: no cookie, no CSRF token, no form
# with everything below; the longest that fits
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
LONGEST = max(address.count("/") for address in ADDRESSES) + 1  # in parts, the first one is empty
# told by the address alone: what has no session is known before there is a route
BY_ADDRESS = {
    *PROGRAMS,
    RequestKind.RESPONDENT_PAGE,
    RequestKind.PROBE,
    RequestKind.STATIC,
}


class UnknownKind(RuntimeError):
    """A blueprint has no kind, or a route another one than its address says."""


def register(app: Flask, blueprint: Blueprint, kind: RequestKind) -> None:
    """Register the blueprint; all its requests are of this kind."""
    _kinds(app)[blueprint.name] = kind
    app.register_blueprint(blueprint)


def require_kinds(app: Flask) -> None:
    """Look at all blueprints and routes, once they are registered. Raises UnknownKind."""
    without = app.blueprints.keys() - _kinds(app).keys()
    if without:
        raise UnknownKind(f"no kind of request: {', '.join(sorted(without))}")
    for rule in app.url_map.iter_rules():
        kind, by_address = _of_endpoint(app, rule.endpoint), of_address(rule.rule)
        if kind and kind != by_address and {kind, by_address} & BY_ADDRESS:
            raise UnknownKind(f"{rule.rule} is {kind}, and its address says {by_address}")


def request_kind() -> RequestKind:
    """The kind of the current request; a page of nobody known counts as public.

    Not to be called before the request is routed: the result is kept.
    """
    kind: RequestKind | None = request.environ.get(KIND)  # asked for by most hooks
    if kind is None:
        routed = request.blueprint and _kinds(current_app)[request.blueprint]
        kind = routed or of_address(request.path) or RequestKind.PUBLIC_PAGE
        request.environ[KIND] = kind
    return kind


def of_address(path: str) -> RequestKind | None:
    """The kind of requests to this path, None for pages of creators and of the public."""
    parts = path.split("/", LONGEST)[:LONGEST]
    beginnings = ("/".join(parts[:count]) for count in range(len(parts), 1, -1))
    return next((ADDRESSES[each] for each in beginnings if each in ADDRESSES), None)


@contextmanager
def hooks_without(app: Flask, kinds: Collection[RequestKind]) -> Iterator[None]:
    """Requests of these kinds pass none of the hooks that the block registers for all requests.

    Flask would call each of them, even where it returns at once. Without the hooks that only
    browsers need, the application takes 11 % less processor time to answer `GET /api/forms/{id}`.
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


def _of_endpoint(app: Flask, endpoint: str) -> RequestKind | None:
    return _kinds(app).get(endpoint.rpartition(".")[0])


def _kinds(app: Flask) -> dict[str, RequestKind]:
    kinds: dict[str, RequestKind] = app.extensions.setdefault("request_kinds", {})
    return kinds
