"""Published forms: the list, one form with its responses by person, its link, its end."""

import re
from typing import Any

import segno
from flask import Blueprint, render_template, request, url_for
from flask.typing import ResponseReturnValue
from markupsafe import Markup
from sqlalchemy import Row

from webapp.config import settings
from webapp.database import from_millis, to_millis, utc_now
from webapp.domain import drafts, forms, publishing, responses
from webapp.domain.content import form_settings, most_questions
from webapp.domain.responses import SessionAnswers
from webapp.domain.terms import ConfirmationMethod, FormStatus
from webapp.pages.desk import agent_names, creator_id, require_creator
from webapp.pages.fragments import go_to, page_or_fragment

PERSONS_SHOWN = 20

bp = Blueprint("forms", __name__, url_prefix="/forms")
bp.before_request(require_creator)


@bp.get("")
def show_all() -> ResponseReturnValue:
    """Every form of the creator, newest first: those that take answers, then the others."""
    found = forms.list_forms(creator_id())
    return render_template(
        "forms/list.html",
        live=[form for form in found if form.status is FormStatus.PUBLISHED],
        ended=[form for form in found if form.status is not FormStatus.PUBLISHED],
    )


@bp.get("/<form_id>")
def show(form_id: str) -> ResponseReturnValue:
    """Responses by person, newest first; `?before=` continues after the last one of a page."""
    form = forms.get_form(creator_id(), form_id)
    found = responses.list_sessions(form.id, before=_before(), limit=PERSONS_SHOWN + 1)
    return page_or_fragment(
        "forms/show.html",
        "forms/_persons.html",
        view="persons",
        persons=found[:PERSONS_SHOWN],
        more=_position(found[PERSONS_SHOWN - 1]) if len(found) > PERSONS_SHOWN else "",
        **_context(form),
    )


@bp.get("/<form_id>/settings")
def show_settings(form_id: str) -> ResponseReturnValue:
    """What was published: it cannot change any more."""
    form = forms.get_form(creator_id(), form_id)
    return render_template(
        "forms/settings.html",
        view="settings",
        settings=form_settings(form),
        most_questions=most_questions(form),
        **_context(form),
    )


@bp.get("/<form_id>/share")
def share(form_id: str) -> ResponseReturnValue:
    """The link of a form, to copy or to scan."""
    form = forms.get_form(creator_id(), form_id)
    address = _share_url(form)
    return render_template("forms/share.html", form=form, share_url=address, qr=_qr(address))


@bp.post("/<form_id>/close")
def close(form_id: str) -> ResponseReturnValue:
    """Take no more answers; reversible."""
    forms.close_form(creator_id(), form_id, now=utc_now())
    return go_to(url_for("forms.show", form_id=form_id))


@bp.post("/<form_id>/reopen")
def reopen(form_id: str) -> ResponseReturnValue:
    """Take answers again."""
    forms.reopen_form(creator_id(), form_id)
    return go_to(url_for("forms.show", form_id=form_id))


def _context(form: Row[Any]) -> dict[str, Any]:
    """What stands above every view of a form."""
    draft = drafts.get_draft(creator_id(), form.draft_id)
    confirmation = publishing.find_confirmation(draft)
    attested = confirmation and confirmation.method is ConfirmationMethod.AGENT_ATTESTED
    names = agent_names([confirmation.grant_id] if confirmation and attested else [])
    completed = form.completed_stamp
    return {
        "form": form,
        "share_url": _share_url(form),
        "attested_by": next(iter(names.values()), "") if attested else "",
        "is_attested": bool(attested),
        "unfinished": form.answered_count - form.response_count,
        "last_completed_at": from_millis(completed) if completed else None,
        "now_millis": to_millis(utc_now()),
    }


def _share_url(form: Row[Any]) -> str:
    return f"{settings().public_url}/r/{form.share_token}"


def _qr(address: str) -> Markup:
    """The code of an address as SVG, dark on white in both colour schemes."""
    code = segno.make(address, error="m", micro=False)
    drawn = code.svg_inline(omitsize=True, border=2, dark="#10241c", svgclass=None, lineclass=None)
    return Markup(drawn)  # noqa: S704  # drawn by segno from numbers, holds no text


def _position(person: SessionAnswers) -> str:
    return f"{person.session.created_at}-{person.session.id}"


def _before() -> tuple[int, str] | None:
    """The position in the address; anything else than one of ours starts from the top."""
    found = re.fullmatch(r"([0-9]{1,13})-(\w{1,40})", request.args.get("before", ""), re.ASCII)
    return (int(found[1]), found[2]) if found else None
