"""What arrives while a page of results is open is put into it, in place."""

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from flask import Blueprint, request
from flask.typing import ResponseReturnValue

from webapp.answers import by_question, search, threads, unread
from webapp.answers.by_question import ShownAnswer
from webapp.answers.export import recordings_of
from webapp.base.config import settings
from webapp.base.database import to_millis, utc_now
from webapp.pages.creator.request import creator_id, require_creator
from webapp.pages.creator.results import threads_under
from webapp.pages.creator.results_filters import lower_counts, stamp
from webapp.pages.fragments import fragment, nothing_new
from webapp.records import forms
from webapp.records.forms import FormRow

NEWS_SHOWN = 30  # at once in an open page; more are a page of their own
COUNTED = 99
VIEWS = ("questions", "people")

bp = Blueprint("news", __name__, url_prefix="/forms/<form_id>")
bp.before_request(require_creator)


@bp.get("/new")
def new_answers(form_id: str) -> ResponseReturnValue:
    """The answers after the stamp `since`, for the lists of `view`; 204 without any change.

    total   how many the open page was told of before
    newest  the element that the newest of them is
    missed  set once a page was told of more than was put into it
    """
    stored = forms.get_form(creator_id(), form_id)
    since, view = stamp("since") or stored.last_stamp, request.args.get("view", "")
    if since >= stored.last_stamp:
        return nothing_new()
    form, hidden = lower_counts(stored)
    found = by_question.newer_answers(form, since, NEWS_SHOWN + 1)
    in_place = view in VIEWS and "missed" not in request.args and len(found) <= NEWS_SHOWN
    inserted = _people(form, found) if view == "people" else _answers(form, found)
    now = utc_now()
    return fragment(
        "results/_news.html",
        form=form,
        view=view,
        needle="",
        most=COUNTED,
        total=min(int(_told("total", "[0-9]{1,3}") or 0) + len(found), COUNTED + 1),
        missed=not in_place,
        unread=unread.count_unread([form.id])[form.id],
        under_way=len({each.session_id for each in found if not each.is_sent}),
        funnel=hidden.lower_funnel(form, by_question.read_funnel(form)),
        transcriber=settings().transcriber_host,
        now_millis=to_millis(now),
        **(inserted if in_place and found else {"newest": _told("newest", "[a-z_0-9-]{1,80}")}),
    )


def _answers(form: FormRow, found: Sequence[ShownAnswer]) -> dict[str, Any]:
    """Their threads by id of the question."""
    first = threads.first_answers(found)
    answers: dict[str, list[ShownAnswer]] = defaultdict(list)
    for each in first:
        answers[each.parent_question_id or each.question_id].append(each)
    newest = f"answer-{first[0].id}" if first else ""
    usual = by_question.usual_words(form)
    return {"newest": newest, "answers": answers, "usual": usual, **threads_under(form, first)}


def _people(form: FormRow, found: Sequence[ShownAnswer]) -> dict[str, Any]:
    """Those who gave them, with all their answers."""
    people = search.people_of(form.id, {each.session_id for each in found})
    return {
        "newest": f"person-{found[0].session_id}" if found else "",
        "people": people,
        "threads": threads.threads_of(form, people),
        "recordings": recordings_of(each for person in people for each in person.answers),
        "new_people": {each.session.id for each in people},
    }


def _told(name: str, pattern: str) -> str:
    """A parameter of the address that the page before this one was given; "" if it is not ours."""
    text = request.args.get(name, "")
    return text if re.fullmatch(pattern, text) else ""
