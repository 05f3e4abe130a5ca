"""A form as its creator's pages and files show it: without responses that are deleted just now."""

from dataclasses import replace
from typing import NamedTuple

from webapp.domain.forms import models as forms
from webapp.domain.forms.models import FormRow
from webapp.domain.results.hidden_responses import HiddenResponses, read_hidden
from webapp.pages.creator.request import creator_id


class ShownForm(NamedTuple):
    """The form with lower counts, and what they are lowered by."""

    form: FormRow
    hidden: HiddenResponses


def get_shown_form(form_id: str) -> ShownForm:
    """The creator's form, its counts lowered by what is deleted just now; raises NotFound"""
    return lower_counts(forms.get_form(creator_id(), form_id))


def lower_counts(form: FormRow) -> ShownForm:
    """A form as it was read, its counts lowered by what is deleted just now."""
    hidden = read_hidden(form.id)
    lowered = replace(
        form,
        started_count=form.started_count - hidden.started,
        answered_count=form.answered_count - hidden.with_answers,
        response_count=form.response_count - hidden.completed,
    )
    return ShownForm(lowered, hidden)
