"""Reading responses: by question and by person, searched and filtered, one by one; deleting them.

The query string holds all filters, so a view can be bookmarked, shared and reloaded.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import suppress
from datetime import date
from itertools import chain
from typing import Any, NamedTuple

from flask import Response, abort, render_template, request, url_for

from api.wire.forms import share_url
from jobs.queue import hand_over_recordings
from webapp.answers import reading, results, trash
from webapp.answers.batches import recordings_of
from webapp.answers.results import HiddenResponses, ShownAnswer, read_hidden
from webapp.base.config import settings
from webapp.base.database import to_millis, utc_now
from webapp.drafts import confirmations
from webapp.oauth import connections
from webapp.pages.creator import agreements, fields
from webapp.pages.creator.request import acting, creator_blueprint, creator_id
from webapp.pages.filters import drawn_code
from webapp.pages.fragments import fragment, go_to, nothing_new, page_or_fragment, wants_fragment
from webapp.records import forms
from webapp.records.content.model import form_settings
from webapp.records.forms import FormRow
from webapp.records.responses.counters import DAY_MILLIS, EPOCH_DAY, read_days
from webapp.voice import transcripts
from webapp.voice.uploads import FORM_NOTICE_PERCENT

DAYS_SHOWN = 14
WORDS_MAX_CHARS = 200
NAMES = ("q", "sent", "unflagged", "spoken", "followups", "from", "to")

bp = creator_blueprint("results", "/forms/<form_id>")


class Choice(NamedTuple):
    """The chosen filters: parsed, and as typed in `values`; `misread` is an invalid day."""

    filters: results.Filters
    values: dict[str, str]
    misread: str


def _read_choice() -> Choice:
    """Read the search and filters from the query string; ignore invalid values."""
    typed = {name: request.args.get(name, "").strip()[:WORDS_MAX_CHARS] for name in NAMES}
    days = {name: _day(typed[name]) for name in ("from", "to") if typed[name]}
    misread = [typed[name] for name, day in days.items() if day is None]
    values = {name: text for name, text in typed.items() if text and text not in misread}
    since, until = days.get("from"), days.get("to")
    filters = results.Filters(
        words=typed["q"],
        sent_only=bool(typed["sent"]),
        unflagged=bool(typed["unflagged"]),
        spoken=bool(typed["spoken"]),
        follow_ups=bool(typed["followups"]),
        since=(since or 0) * DAY_MILLIS,
        until=results.END_OF_TIME if until is None else (until + 1) * DAY_MILLIS,
    )
    return Choice(filters, values, misread[0] if misread else "")


def _day(text: str) -> int | None:
    """Return the number of a UTC day since the epoch; None if invalid."""
    with suppress(ValueError):
        return (date.fromisoformat(text) - EPOCH_DAY).days
    return None


def get_shown_form(form_id: str) -> tuple[FormRow, HiddenResponses]:
    """Return the creator's form with counts lowered by the responses that are being deleted.

    Returns these responses as well; raises NotFound.
    """
    form = forms.get_form(creator_id(), form_id)
    hidden = read_hidden(form.id)
    lowered = forms.with_counts(
        form,
        started_count=form.started_count - hidden.started,
        answered_count=form.answered_count - hidden.with_answers,
        response_count=form.response_count - hidden.completed,
    )
    return lowered, hidden


@bp.get("")
def by_question(form_id: str) -> Response | str:
    """Show the newest answers to each question, or all answers that match the filters."""
    form, hidden = get_shown_form(form_id)
    choice = _read_choice()
    if choice.filters:
        return _found(form, hidden, choice)
    pages = results.newest_answers(form)
    return render_template(
        "results/questions.html",
        pages=pages,
        **_threads_under(form, [answer for page in pages.values() for answer in page.answers]),
        usual=results.usual_words(form),
        **_layout(form, hidden, "questions", choice),
    )


@bp.get("/questions/<int:number>")
def one_question(form_id: str, number: int) -> Response:
    """Show the answers to question `number`, from 1, that are older than the stamp `before`."""
    form, hidden = get_shown_form(form_id)
    if not 1 <= number <= len(form.questions):
        abort(404)
    question_id = form.questions[number - 1]["id"]
    before = fields.millis("before") or form.last_stamp + 1
    older = results.more_answers(form.id, question_id, before)
    return page_or_fragment(
        "results/question.html",
        "results/_answers.html",
        number=number,
        older=older,
        **_threads_under(form, older.answers),
        **_layout(form, hidden, "questions", _read_choice()),
    )


@bp.get("/people")
def by_person(form_id: str) -> Response:
    """Show the respondents that match the filters with their answers, newest first."""
    form, hidden = get_shown_form(form_id)
    choice = _read_choice()
    found = results.find_people(form.id, choice.filters, before=fields.asked_position())
    return page_or_fragment(
        "results/people.html",
        "results/_people.html",
        people=found.people,
        threads=reading.threads_of(form, found.people),
        recordings=recordings_of(answer for person in found.people for answer in person.answers),
        further=_further("results.by_person", form, choice, "-".join(map(str, found.before or ()))),
        new_people=reading.new_among(form, found.people),
        **_layout(form, hidden, "people", choice),
    )


@bp.get("/new")
def new_answers(form_id: str) -> Response:
    """Show the number of answers after the stamp `since`; 204 if none came after `seen`."""
    last_stamp = forms.get_form(creator_id(), form_id).last_stamp
    since = fields.millis("since") or last_stamp
    if max(since, fields.millis("seen")) >= last_stamp:
        return nothing_new()
    form, hidden = get_shown_form(form_id)
    return fragment(
        "results/_new_answers.html",
        form=form,
        since=since,
        count=results.count_newer(form.id, since),
        unread=reading.count_unread([form.id])[form.id],
        funnel=results.read_funnel(form, hidden),
    )


@bp.post("/people/<session_id>/attachments/<attachment_id>/try-again")
def try_again(form_id: str, session_id: str, attachment_id: str) -> Response:
    """Retry a failed transcription, and go back to the response."""
    host, now = settings().transcriber_host, utc_now()
    transcripts.try_again(creator_id(), form_id, attachment_id, transcriber=host, now=now)
    hand_over_recordings([attachment_id])
    return go_to(url_for("results.show", form_id=form_id, session_id=session_id))


@bp.get("/settings")
def show_settings(form_id: str) -> str:
    """Show the published content and settings, read-only."""
    form, hidden = get_shown_form(form_id)
    return render_template(
        "forms/settings.html",
        settings=form_settings(form),
        **agreements.of_form(form),
        **_layout(form, hidden, "settings", _read_choice()),
    )


@bp.get("/unread")
def show_next(form_id: str) -> Response:
    """Redirect to the newest unread response, or to the newest."""
    form = forms.get_form(creator_id(), form_id)
    session_id = reading.newest_response(form)
    if session_id is None:
        return go_to(url_for("results.by_question", form_id=form_id))
    return go_to(url_for("results.show", form_id=form_id, session_id=session_id))


@bp.get("/people/<session_id>")
def show(form_id: str, session_id: str) -> str:
    """Show all answers of one person."""
    form = forms.get_form(creator_id(), form_id)
    response = reading.get_response(form, session_id)
    return render_template(
        "results/response.html",
        form=form,
        response=response,
        person=response.person,
        recordings=recordings_of(response.person.answers, with_transcripts=True),
        now_millis=to_millis(utc_now()),
        undo_seconds=trash.RESPONSE_UNDO_SECONDS,
    )


@bp.post("/people/<session_id>/read")
def mark_read(form_id: str, session_id: str) -> Response:
    """Mark this response as read; without htmx, redirect to the next unread one."""
    account = creator_id()
    reading.mark_read(account, form_id, session_id, fields.millis("stamp"))
    if wants_fragment():
        return nothing_new()
    following = reading.next_unread(forms.get_form(account, form_id), session_id)
    return go_to(url_for("results.show", form_id=form_id, session_id=following or session_id))


@bp.post("/read")
def mark_all_read(form_id: str) -> Response:
    """Mark every response up to the posted stamp as read."""
    reading.mark_all_read(creator_id(), form_id, fields.millis("stamp"))
    return go_to(url_for("results.by_question", form_id=form_id))


@bp.post("/people/<session_id>/delete")
def delete(form_id: str, session_id: str) -> Response:
    """Delete one response; the list of responses offers to undo it."""
    trash.delete_response(creator_id(), form_id, session_id, **acting())
    return go_to(url_for("results.by_person", form_id=form_id, deleted=1))


@bp.get("/automated/delete")
def ask_automated(form_id: str) -> str:
    """Ask before deleting all responses that look automated, and show their number."""
    form = forms.get_form(creator_id(), form_id)
    return render_template(
        "deleted_responses/automated.html",
        form=form,
        count=trash.count_automated(form.id),
        undo_seconds=trash.RESPONSE_UNDO_SECONDS,
    )


@bp.post("/automated/delete")
def delete_automated(form_id: str) -> Response:
    """Delete all responses that look automated; the list of responses offers to undo it."""
    trash.delete_automated(creator_id(), form_id, **acting())
    return go_to(url_for("results.by_person", form_id=form_id, deleted=1))


@bp.post("/deletions/<deletion_id>/undo")
def undo(form_id: str, deletion_id: str) -> Response:
    """Undo a deletion and show the restored responses; say so if nothing can be undone."""
    undone = trash.undo_deletion(creator_id(), form_id, deletion_id, **acting())
    if undone and undone.session_id:
        return go_to(url_for("results.show", form_id=form_id, session_id=undone.session_id))
    return go_to(url_for("results.by_person", form_id=form_id, undone=None if undone else 0))


@bp.get("/deletions")
def show_notes(form_id: str) -> Response:
    """Show the notes about deletions; 204 if their state equals the parameter `have`."""
    form = forms.get_form(creator_id(), form_id)
    notes = _deletion_notes(form.id)
    if notes["deletion_state"] == request.args.get("have"):
        return nothing_new()
    return fragment("deleted_responses/_notes.html", form=form, **notes)


def _deletion_notes(form_id: str) -> dict[str, Any]:
    """Return the template variables for the notes about deletions that are not finished.

    `has_automated` is true if some responses look automated and are not being deleted.
    """
    found = trash.list_deletions(form_id)
    all_deleted = any(each.session_id is None for each in found)
    return {
        "deletions": found,
        "deletion_state": "-".join(f"{each.id[-6:]}{each.begun:d}" for each in found),
        "undo_seconds": trash.RESPONSE_UNDO_SECONDS,
        "has_automated": not all_deleted and trash.has_automated(form_id),
    }


def _found(form: FormRow, hidden: HiddenResponses, choice: Choice) -> str:
    found = results.find_answers(form.id, choice.filters, before=fields.millis("before") or None)
    shown = reading.first_answers(found.answers)
    answers: dict[str, list[ShownAnswer]] = defaultdict(list)
    for answer in shown:
        answers[answer.parent_question_id or answer.question_id].append(answer)
    return render_template(
        "results/found.html",
        answers=answers,
        counts=Counter(each.parent_question_id or each.question_id for each in found.answers),
        **_threads_under(form, shown),
        count=len(found.answers),
        further=_further("results.by_question", form, choice, str(found.before or "")),
        **_layout(form, hidden, "questions", choice),
    )


def _threads_under(form: FormRow, answers: Sequence[ShownAnswer]) -> dict[str, Any]:
    """Return the follow-ups to show under listed answers, and the recordings of all."""
    follow_ups = reading.follow_ups_of(form, answers)
    parts = [part.answer for parts in follow_ups.values() for part in parts if part.answer]
    recordings = recordings_of(chain(answers, parts))
    return {"follow_ups": follow_ups, "recordings": recordings}


def _further(endpoint: str, form: FormRow, choice: Choice, before: str) -> str:
    """Return the address of the next page with the same filters; "" at the end."""
    if not before:
        return ""
    return url_for(endpoint, form_id=form.id, before=before, **choice.values)  # type: ignore[arg-type]


def _layout(form: FormRow, hidden: HiddenResponses, view: str, choice: Choice) -> dict[str, Any]:
    """Return the template variables for the header of every view; `filled` is a percentage."""
    now, most = utc_now(), settings().limit_form_bytes
    published_for = (now.date() - form.published_at.date()).days + 1
    days = min(max(published_for, 1), DAYS_SHOWN)
    address = share_url(form.share_token)
    return {
        "form": form,
        "view": view,
        "choice": choice,
        "needle": choice.filters.needle,
        "unread": reading.count_unread([form.id])[form.id],
        "share_url": address,
        "qr": "" if form.answered_count else drawn_code(address),
        "funnel": results.read_funnel(form, hidden),
        "days": read_days(form.id, now, days=days, hidden=hidden.days),
        "now_millis": to_millis(now),
        "filled": form.answer_bytes * 100 // most,
        "is_full": forms.is_full(form.answer_bytes, most),
        "notice_percent": FORM_NOTICE_PERCENT,
        **_deletion_notes(form.id),
        **approval(form),
    }


def approval(form: FormRow) -> dict[str, Any]:
    """Return the confirmation with which the form was published, and the agent that attested it.

    The agent is "" if its connection is deleted.
    """
    signed = confirmations.find_confirmation(form.draft_id)
    names = connections.agent_names([signed.grant_id] if signed else [])
    return {"signed": signed, "attested_by": next(iter(names.values()), "")}
