"""What pages read and answer: htmx or a full page, redirects, typed text, pictures.

`HX-*` request headers only choose the representation; nothing is authorized by them.
"""

from http import HTTPStatus
from typing import Any, cast

from flask import Response, abort, redirect, render_template
from htmx_flask import make_response, request

# all three select the body, so caches must tell them apart
VARIES_BY = ("HX-Request", "HX-Boosted", "HX-History-Restore-Request")
VARY = ", ".join(VARIES_BY)


def wants_fragment() -> bool:
    """True if htmx swaps the response into a page, False if a full page is needed."""
    htmx = request.htmx
    return bool(htmx) and not htmx.boosted and not htmx.history_restore_request


def shown_address() -> str | None:
    """The address of the open page, as sent by htmx; None without htmx. Not to be trusted."""
    return cast(str, request.htmx.current_url or "") if request.htmx else None


def page_or_fragment(
    page: str,
    fragment: str,
    *,
    status: int = HTTPStatus.OK,
    trigger: str | dict[str, Any] | None = None,
    push_url: str | None = None,
    **context: Any,
) -> Response:
    """The template `fragment` for htmx, `page` (which includes it) for everybody else."""
    template = fragment if wants_fragment() else page
    body = render_template(template, **context)
    return drawn(body, status=status, trigger=trigger, push_url=push_url)


def drawn(
    body: str,
    *,
    status: int = HTTPStatus.OK,
    trigger: str | dict[str, Any] | None = None,
    push_url: str | None = None,
) -> Response:
    """A body chosen by `wants_fragment`, with the Vary header of that choice."""
    answer = make_response(body, status, trigger=trigger, push_url=push_url)
    response = cast(Response, answer)
    response.headers.add("Vary", VARY)
    return response


def fragment(
    template: str, *, trigger: str | dict[str, Any] | None = None, **context: Any
) -> Response:
    """A part of a page that only htmx requests."""
    return drawn(render_template(template, **context), trigger=trigger)


def go_to(url: str) -> Response:
    """Redirect: 303 for a plain form, `HX-Redirect` for htmx.

    The browser follows a 303 by itself, so htmx would not see its headers.
    """
    if not wants_fragment():
        return cast(Response, redirect(url, HTTPStatus.SEE_OTHER))
    response = cast(Response, make_response("", HTTPStatus.NO_CONTENT, redirect=url))
    response.vary.update(VARIES_BY)
    return response


def nothing_new() -> Response:
    """204 for a poll without changes: htmx leaves the page unchanged."""
    return Response(status=HTTPStatus.NO_CONTENT)


def typed_text(name: str) -> str:
    """A posted field with line feeds as the only line ends; "" if it was not posted."""
    return with_line_feeds(request.form.get(name, ""))


def with_line_feeds(text: str) -> str:
    """The text with line feeds as the only line ends."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def as_picture(content: bytes | None) -> Response:
    """The PNG of who asks, whose address has its digest: it never changes. 404 for none."""
    if content is None:
        abort(HTTPStatus.NOT_FOUND)
    headers = {"Cache-Control": "private, max-age=31536000, immutable"}
    return Response(content, mimetype="image/png", headers=headers)
