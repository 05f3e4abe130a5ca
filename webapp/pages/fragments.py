"""Helpers for requests and responses of pages: htmx or full page, redirects, text, pictures.

`HX-*` request headers only choose the representation; they never authorise anything.
"""

from http import HTTPStatus
from typing import Any, cast

from flask import Response, abort, redirect, render_template
from htmx_flask import make_response, request

# all three select the body, so caches must tell them apart
VARIES_BY = ("HX-Request", "HX-Boosted", "HX-History-Restore-Request")


def wants_fragment() -> bool:
    """Return whether htmx swaps the response into a page; if not, it needs a full page."""
    htmx = request.htmx
    return bool(htmx) and not htmx.boosted and not htmx.history_restore_request


def shown_address() -> str | None:
    """Return the address of the open page as htmx sent it, unverified; None without htmx."""
    return cast(str, request.htmx.current_url or "") if request.htmx else None


def page_or_fragment(
    page: str,
    fragment: str,
    *,
    status: int = HTTPStatus.OK,
    trigger: str | dict[str, Any] | None = None,
    **context: Any,
) -> Response:
    """Render the template `fragment` for htmx, otherwise `page`, which includes it."""
    body = render_template(fragment if wants_fragment() else page, **context)
    return drawn(body, status=status, trigger=trigger)


def drawn(
    body: str,
    *,
    status: int = HTTPStatus.OK,
    trigger: str | dict[str, Any] | None = None,
    push_url: str | None = None,
) -> Response:
    """Return a response whose body depends on `wants_fragment`, with the Vary header for it."""
    answer = make_response(body, status, trigger=trigger, push_url=push_url)
    response = cast(Response, answer)
    response.headers.add("Vary", ", ".join(VARIES_BY))
    return response


def fragment(template: str, **context: Any) -> Response:
    """Render a part of a page that only htmx requests."""
    return page_or_fragment(template, template, **context)


def go_to(url: str) -> Response:
    """Redirect with 303 for a plain form, with `HX-Redirect` for htmx.

    The browser follows a 303 by itself, so htmx would not see its headers.
    """
    if not wants_fragment():
        return cast(Response, redirect(url, HTTPStatus.SEE_OTHER))
    response = cast(Response, make_response("", HTTPStatus.NO_CONTENT, redirect=url))
    response.vary.update(VARIES_BY)
    return response


def nothing_new() -> Response:
    """Return 204 to a poll without changes, so that htmx leaves the page unchanged."""
    return Response(status=HTTPStatus.NO_CONTENT)


def typed_text(name: str) -> str:
    """Return a posted field with line feeds as the only line ends; "" if it was not posted."""
    return with_line_feeds(request.form.get(name, ""))


def with_line_feeds(text: str) -> str:
    """Replace carriage returns so that all line ends are line feeds."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def as_picture(content: bytes | None) -> Response:
    """Serve a creator's PNG, whose address has its digest, so caches keep it; 404 for None."""
    if content is None:
        abort(HTTPStatus.NOT_FOUND)
    headers = {"Cache-Control": "private, max-age=31536000, immutable"}
    return Response(content, mimetype="image/png", headers=headers)
