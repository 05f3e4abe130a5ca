"""Where a respondent goes on after a POST, as a page or as a redirect."""

from flask import Response

from webapp.domain.respondents.steps import Place
from webapp.pages.fragments import wants_fragment
from webapp.pages.respondent import rendering
from webapp.pages.respondent.form_data import FormData
from webapp.pages.respondent.visit import Visit, posted_visit


def next_question(
    share_token: str,
    posted: FormData,
    place: Place | None,
    visit: Visit | None = None,
    *,
    inked: int = 0,
) -> Response:
    """The question at a place, the check page for None; `visit` where it is known.

    inked  number of the scripted question that was answered just now, 0 for none
    """
    if not by_get(posted):
        visit = visit or posted_visit(share_token, posted)
        return rendering.question_or_check(visit, place, inked=inked)
    if place is None:
        return rendering.redirect_to("respond.check", share_token)
    return rendering.redirect_to("respond.ask", share_token, place)


def inked_by(answered: Place) -> int:
    """The number of the stroke that an answer draws; follow-ups have none."""
    return 0 if answered.follow_up else answered.number


def by_get(posted: FormData) -> bool:
    """True if the next page can be fetched by GET: the cookie names this session."""
    return posted.remembered and not wants_fragment()
