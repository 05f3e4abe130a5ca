"""The results pages: by question and by person, searched and filtered.

All choices are in the query string, so a view can be bookmarked, shared and reloaded.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from http import HTTPStatus
from itertools import chain
from typing import Any

from flask import Blueprint, abort, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from api.wire.forms import share_url
from jobs.queue import hand_over_recordings
from webapp.answers import by_question as results
from webapp.answers import search, threads, unread
from webapp.answers.by_question import HiddenResponses, ShownAnswer
from webapp.answers.export import recordings_of
from webapp.base.config import settings
from webapp.base.database import from_millis, to_millis, utc_now
from webapp.base.limits import FORM_NOTICE_PERCENT
from webapp.base.vocabulary import ConfirmationMethod
from webapp.drafts import confirmations
from webapp.pages.creator.request import agent_names, creator_id, limit_writes, require_creator
from webapp.pages.creator.response_deletion import deletion_notes
from webapp.pages.creator.results_filters import (
    Choice,
    answer_before,
    day_chart,
    days_since,
    get_shown_form,
    lower_counts,
    person_before,
    position,
    read_choice,
    stamp,
)
from webapp.pages.creator.terms import follow_up_writer, spoken_answers
from webapp.pages.filters import drawn_code
from webapp.pages.fragments import fragment, nothing_new, page_or_fragment
from webapp.records import forms
from webapp.records.content.model import form_settings
from webapp.records.forms import FormRow
from webapp.records.responses.counters import read_days
from webapp.voice import transcripts

bp = Blueprint("results", __name__, url_prefix="/forms/<form_id>")
bp.before_request(require_creator)
limit_writes(bp)


@bp.get("")
def by_question(form_id: str) -> ResponseReturnValue:
    """The newest answers to each question, or all answers that pass the filters."""
    form, hidden = get_shown_form(form_id)
    choice = read_choice()
    if choice.filters:
        return _found(form, hidden, choice)
    pages = results.newest_answers(form)
    return render_template(
        "results/questions.html",
        pages=pages,
        **threads_under(form, [answer for page in pages.values() for answer in page.answers]),
        usual=results.usual_words(form),
        **_layout(form, hidden, "questions", choice),
    )


@bp.get("/questions/<int:number>")
def one_question(form_id: str, number: int) -> ResponseReturnValue:
    """Older answers to question `number`, from 1; `before` says from where."""
    form, hidden = get_shown_form(form_id)
    if not 1 <= number <= len(form.questions):
        abort(404)
    question_id = form.questions[number - 1]["id"]
    before = stamp("before") or form.last_stamp + 1
    older = results.more_answers(form.id, question_id, before)
    return page_or_fragment(
        "results/question.html",
        "results/_answers.html",
        number=number,
        older=older,
        **threads_under(form, older.answers),
        **_layout(form, hidden, "questions", read_choice()),
    )


@bp.get("/people")
def by_person(form_id: str) -> ResponseReturnValue:
    """All respondents, newest first, with their answers."""
    form, hidden = get_shown_form(form_id)
    choice = read_choice()
    found = search.find_people(form.id, choice.filters, before=person_before())
    return page_or_fragment(
        "results/people.html",
        "results/_people.html",
        people=found.people,
        threads=threads.threads_of(form, found.people),
        recordings=recordings_of(answer for person in found.people for answer in person.answers),
        further=_address("results.by_person", form, choice, position(found.before)),
        is_first="before" not in request.args,
        new_people=unread.new_among(form, found.people),
        **_layout(form, hidden, "people", choice),
    )


@bp.get("/new")
def new_answers(form_id: str) -> ResponseReturnValue:
    """How many answers came after the stamp `since`, and the figures; 204 if none after `seen`."""
    stored = forms.get_form(creator_id(), form_id)
    since = stamp("since") or stored.last_stamp
    if max(since, stamp("seen") or 0) >= stored.last_stamp:
        return nothing_new()
    form, hidden = lower_counts(stored)
    return fragment(
        "results/_new_answers.html",
        form=form,
        since=since,
        view=request.args.get("view", ""),
        count=results.count_newer(form.id, since),
        unread=unread.count_unread([form.id])[form.id],
        funnel=hidden.lower_funnel(form, results.read_funnel(form)),
    )


@bp.post("/people/<session_id>/attachments/<attachment_id>/try-again")
def try_again(form_id: str, session_id: str, attachment_id: str) -> ResponseReturnValue:
    """Have a recording written down that could not be, and go back to its person."""
    host, now = settings().transcriber_host, utc_now()
    recording = transcripts.try_again(
        creator_id(), form_id, attachment_id, transcriber=host, now=now
    )
    hand_over_recordings([recording])
    person = url_for("responses.show", form_id=form_id, session_id=session_id)
    return redirect(person, HTTPStatus.SEE_OTHER)


@bp.get("/settings")
def show_settings(form_id: str) -> ResponseReturnValue:
    """The published content and settings, read-only."""
    form, hidden = get_shown_form(form_id)
    return render_template(
        "forms/settings.html",
        settings=form_settings(form),
        **spoken_answers.of_form(form),
        **follow_up_writer.of_form(form),
        **_layout(form, hidden, "settings", read_choice()),
    )


def _found(form: FormRow, hidden: HiddenResponses, choice: Choice) -> ResponseReturnValue:
    found = search.find_answers(form.id, choice.filters, before=answer_before())
    shown = threads.first_answers(found.answers)
    answers: dict[str, list[ShownAnswer]] = defaultdict(list)
    for answer in shown:
        answers[answer.parent_question_id or answer.question_id].append(answer)
    return render_template(
        "results/found.html",
        answers=answers,
        counts=Counter(each.parent_question_id or each.question_id for each in found.answers),
        **threads_under(form, shown),
        count=len(found.answers),
        further=_address("results.by_question", form, choice, position(found.before)),
        is_first="before" not in request.args,
        **_layout(form, hidden, "questions", choice),
    )


def threads_under(form: FormRow, answers: Sequence[ShownAnswer]) -> dict[str, Any]:
    """What is under answers in a list: their follow-ups, and all recordings."""
    follow_ups = threads.follow_ups_of(form, answers)
    parts = [part.answer for parts in follow_ups.values() for part in parts if part.answer]
    recordings = recordings_of(chain(answers, parts))
    return {"follow_ups": follow_ups, "recordings": recordings}


def _address(endpoint: str, form: FormRow, choice: Choice, before: str | None) -> str:
    """The address of the next page of the same choice; "" at the end."""
    if before is None:
        return ""
    return url_for(endpoint, form_id=form.id, before=before, **choice.values)  # type: ignore[arg-type]


def _layout(form: FormRow, hidden: HiddenResponses, view: str, choice: Choice) -> dict[str, Any]:
    """The template variables of the header of every view."""
    now = utc_now()
    days = hidden.lower_days(read_days(form.id, now, days=days_since(form.published_at, now)))
    address = share_url(settings().public_url, form.share_token)
    return {
        "form": form,
        "view": view,
        "choice": choice,
        "needle": choice.filters.needle,
        "unread": unread.count_unread([form.id])[form.id],
        "share_url": address,
        "transcriber": settings().transcriber_host,
        "qr": "" if form.answered_count else drawn_code(address),
        "funnel": hidden.lower_funnel(form, results.read_funnel(form)),
        "days": days,
        "chart": day_chart(days),
        "last_answer_at": from_millis(form.last_stamp) if form.answered_count else None,
        "now_millis": to_millis(now),
        **deletion_notes(form.id),
        **_room(form),
        **_whose_word(form),
    }


def _room(form: FormRow) -> dict[str, Any]:
    """Used storage of the form in per cent, and whether an answer of maximum length is refused."""
    most = settings().limit_form_bytes
    return {
        "filled": form.answer_bytes * 100 // most,
        "is_full": forms.is_full(form.answer_bytes, most),
        "notice_percent": FORM_NOTICE_PERCENT,
    }


def _whose_word(form: FormRow) -> dict[str, Any]:
    """Whether an agent's attestation published the form, and its name; "" if it is deleted."""
    confirmation = confirmations.find_confirmation(form.draft_id)
    attested = confirmation and confirmation.method is ConfirmationMethod.AGENT_ATTESTED
    names = agent_names([confirmation.grant_id] if confirmation and attested else [])
    return {"is_attested": bool(attested), "attested_by": next(iter(names.values()), "")}
