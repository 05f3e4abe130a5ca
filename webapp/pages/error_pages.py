"""The page that tells of a fault, or the note inside another page: what it is made of."""

from http import HTTPStatus
from typing import NamedTuple, TypeAlias

from flask import Flask, Response, current_app, request, url_for
from flask_babel.speaklater import LazyString

from webapp.pages.fragments import VARIES_BY, wants_fragment
from webapp.web.iframes import says_in_iframe

Words: TypeAlias = str | LazyString

# With what they are made of, for `load_pages`.
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
    "macros/theme_switch.html",
)


class Problem(NamedTuple):
    """A heading, and sentences that say what is safe and what to do next."""

    title: Words
    lead: Words


class Again(NamedTuple):
    """An address to call again; with fields, to post them to."""

    address: str
    fields: dict[str, str] | None = None


class Back(NamedTuple):
    """Where somebody came from, and the words of the link to it."""

    address: str
    words: Words


def load_pages(app: Flask) -> None:
    """Read the pages that tell of faults: one is that no file can be opened any more."""
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
    """A page of its own, or a note for htmx to put where the answer would have stood.

    kept   words that were posted and not saved, for their writer to copy
    again  what to try once more
    back   where to go instead
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
    """Where a respondent can begin again, in the frame that they are in; None for creators."""
    token = (request.view_args or {}).get("share_token")
    embed = 1 if says_in_iframe() else None
    return url_for("respond.start", share_token=token, embed=embed) if token else None
