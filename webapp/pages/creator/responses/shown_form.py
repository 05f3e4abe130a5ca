"""A form as its creator's pages and files show it: without responses that are deleted just now."""

from dataclasses import replace

from webapp.domain.forms import models as forms
from webapp.domain.forms.models import FormRow
from webapp.domain.results.hidden_responses import read_hidden
from webapp.pages.creator.request import creator_id


def get_shown_form(form_id: str) -> FormRow:
    """The creator's form, its counts lowered by what is deleted just now; raises NotFound"""
    form = forms.get_form(creator_id(), form_id)
    hidden = read_hidden(form.id)
    return replace(
        form,
        started_count=form.started_count - hidden.started,
        answered_count=form.answered_count - hidden.with_answers,
        response_count=form.response_count - hidden.completed,
    )
