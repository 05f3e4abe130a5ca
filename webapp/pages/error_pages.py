"""Rendering of error pages, and of error notes for htmx."""

from collections.abc import Sequence
from http import HTTPStatus
from typing import NamedTuple, TypeAlias

from flask import Flask, Response, current_app, request, url_for
from flask_babel.speaklater import LazyString

from webapp.pages.fragments import VARIES_BY, wants_fragment
from webapp.web.request_origin import says_in_iframe

Words: TypeAlias = str | LazyString

# The templates of `load_pages`, with those they include.
OF_FAULTS = (
    "errors/problem.html",
    "errors/_problem.html",
    "base/public.html",
    "base/_documents_link.html",
    "layout.html",
    "respondent/not_saved.html",
    "respondent/swap.html",
    "base/respondent.html",
    "respondent/_components.html",
    "macros/components.html",
    "macros/asker.html",
    "macros/player.html",
    "macros/theme_switch.html",
)


class Problem(NamedTuple):
    """The heading and text of an error page."""

    title: Words
    lead: Words


class Again(NamedTuple):
    """A request to repeat: a GET, or with fields a POST."""

    address: str
    fields: Sequence[tuple[str, str]] = ()


class Back(NamedTuple):
    """The page to return to, and the label of its link."""

    address: str
    words: Words


def load_pages(app: Flask) -> None:
    """Load the error templates: one error is that no file can be opened."""
    for name in OF_FAULTS:
        app.jinja_env.get_template(name)


def problem(
    what: Problem,
    status: HTTPStatus,
    *,
    kept: str = "",
    again: Again | None = None,
    back: Back | None = None,
) -> Response:
    """A full page, or for htmx a note in place of the response.

    kept   posted text that was not saved, to be copied
    again  the request to repeat
    back   the page to return to
    """
    name = "errors/_problem.html" if wants_fragment() else "errors/problem.html"
    # without context processors: they ask the database who is signed in, and it may be down
    form_address = None if status is HTTPStatus.NOT_FOUND else _form_address()
    template = current_app.jinja_env.get_template(name)
    body = template.render(
        problem=what, kept=kept, again=again, back=back, form_address=form_address
    )
    response = Response(body, status)
    response.vary.update(VARIES_BY)
    return response


def _form_address() -> str | None:
    """The address of the respondent's form, with the iframe parameter; None for creators."""
    token = (request.view_args or {}).get("share_token")
    embed = 1 if says_in_iframe() else None
    return url_for("respond.start", share_token=token, embed=embed) if token else None
