"""A model gets the private context of a form once its creator was shown that it does."""

from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask

from tests.databases import both_databases
from tests.factories import make_draft, make_form
from tests.followups.model_server import ModelServer, asking, model_server
from tests.pages.creator_client import Creator, hidden
from tests.pages.respondent_client import arrive
from webapp.base.config import Settings
from webapp.base.database import utc_now
from webapp.drafts.publishing import publish_draft
from webapp.follow_ups.model_exchange import prepare
from webapp.records import forms

CONTEXT = "Prices rise by 17 percent in May."
ASKING = {"questions": ["What made you switch?"], "followUpMode": "smart", "context": CONTEXT}
ANSWER = "We moved because the contract ended and procurement wanted a single vendor for everything"


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with model_server(asking()) as running:
        yield running


@pytest.fixture
def settings(settings: Settings, model: ModelServer) -> Settings:
    made = settings.model_copy(update=model.settings())
    prepare(made)  # of the four seconds of the first call it may take two
    return made


def answered(app: Flask, form: Any) -> None:
    arrive(app.test_client(), form).answer(1, ANSWER)


def got_it(model: ModelServer) -> bool:
    return CONTEXT in str(model.asked)


@both_databases
def test_whoever_publishes_from_the_page_was_shown_it(
    app: Flask, ann: Creator, model: ModelServer
) -> None:
    with app.app_context():
        draft = make_draft(ann.account.id, **ASKING)
    page = ann.page(f"/drafts/{draft.id}/confirm")
    names = ("revision", "shown_hash", "shown_records", "shown_transcriber", "shown_writer")
    told = {name: hidden(page, name) for name in names}

    ann.post(f"/drafts/{draft.id}/confirm", then="publish", **told)
    with app.app_context():
        [form] = forms.list_forms(ann.account.id)
    answered(app, form)

    assert model.host in page.text
    assert got_it(model)


@both_databases
def test_a_form_from_before_sends_nothing_until_its_creator_agrees(
    app: Flask, ann: Creator, model: ModelServer
) -> None:
    with app.app_context():
        form = make_form(ann.account.id, **ASKING)
    answered(app, form)
    before = got_it(model)

    page = ann.page(f"/forms/{form.id}/follow-ups")
    looked = got_it(model)
    ann.post(f"/forms/{form.id}/follow-ups", shown_writer=hidden(page, "shown_writer"))
    answered(app, form)

    assert (before, looked) == (False, False)
    assert CONTEXT in page.text
    assert got_it(model)


def test_a_form_that_an_agent_published_sends_nothing(
    app: Flask, ann: Creator, model: ModelServer
) -> None:
    with app.app_context():
        draft = make_draft(ann.account.id, **ASKING)
        form = publish_draft(ann.account.id, draft.id, attested_by="grn_1", now=utc_now()).form
    answered(app, form)

    assert model.asked == []
