"""What only the creator knows stays with them, in any language; no log holds what people say."""

import logging
from collections.abc import Iterator
from html import unescape
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select, update

from tests.factories import make_form
from tests.followups.model_server import ModelServer, asking, model_server, status, written
from tests.pages.creator_client import Creator, creator
from tests.proof.follow_ups.people import Person
from tests.proof.follow_ups.secrets_told import TOLD, Told
from tests.proof.follow_ups.test_model_behaviours import arrive
from webapp.base.config import Settings
from webapp.base.database import db
from webapp.records.accounts.models import Account
from webapp.records.follow_ups import FollowUp
from webapp.records.forms import Form

EXPORTS = ("export.csv", "export.json")
in_all_languages = pytest.mark.parametrize("told", TOLD.values(), ids=TOLD)
in_some_languages = pytest.mark.parametrize(
    "told",
    [
        pytest.param(told, id=name, marks=pytest.mark.prove if number % 4 else ())
        for number, (name, told) in enumerate(TOLD.items())
    ],
)


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with model_server(asking()) as running:
        yield running


@pytest.fixture
def settings(settings: Settings, model: ModelServer) -> Settings:
    return settings.model_copy(update=model.settings())


@pytest.fixture
def ann(app: Flask, account: Account) -> Creator:
    return creator(app, account)


@pytest.fixture
def form(app: Flask, ann: Creator, settings: Settings, told: Told) -> Any:
    app.extensions.pop("model_breaker", None)
    asks = {"followUpMode": "deep_dive", "context": told.context}
    with app.app_context():
        made = make_form(ann.account.id, title=told.question, questions=[told.question], **asks)
        db.session.execute(update(Form).values(follow_up_writer=settings.follow_up_writer))
        db.session.commit()
        return made


def through_the_form(person: Person, told: Told) -> None:
    """Answers, wrong turns and corrections; each answer asks the model."""
    person.answer("/q/1", told.answer)
    person.on_from("/q/1")
    person.answer("/q/1/f/1", told.answer + " 1")
    person.on_from("/q/1/f/1")
    person.answer("/q/1", told.answer + " 2")
    person.on_from("/q/1")
    person.answer("/q/1/f/9", told.answer)
    for path in ("/q/1/open", "/q/1/f/1/open", "/check/open", "/resume"):
        person.post(path)
    person.post("/q/1/f/1/elsewhere", answer=told.answer)
    person.post("/check")
    person.post("/sent")


def follow_ups(app: Flask) -> str:
    with app.app_context():
        return "\n".join(db.session.scalars(select(FollowUp.question_text)))


@in_all_languages
def test_the_context_stays_with_its_creator(
    app: Flask,
    ann: Creator,
    form: Any,
    told: Told,
    model: ModelServer,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    seen = []
    for answer in (
        asking(told.leaking),
        asking(told.context),
        written(told.context),
        status(500, told.context),
    ):
        model.answer = answer
        person = arrive(app, form)
        through_the_form(person, told)
        seen += [unescape(each.body) for each in person.seen]
    exports = [ann.page(f"/forms/{form.id}/{name}").data.decode() for name in EXPORTS]

    assert told.secret in model.asked[0].system
    assert "Unusable leak" in caplog.text
    assert told.answer in exports[0]
    for kept in (*seen, *exports, caplog.text, follow_ups(app)):
        assert told.secret not in kept
        assert told.leaking not in kept


@in_some_languages
def test_no_log_holds_an_answer(
    app: Flask, form: Any, told: Told, model: ModelServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    for answer in (asking("?" + told.answer), written(told.answer), status(400, told.answer)):
        model.answer = answer
        through_the_form(arrive(app, form), told)

    rare = told.answer.rstrip("。").split()[-1]
    assert rare in model.asked[0].user
    assert "no follow-up of the model" in caplog.text
    assert rare not in caplog.text
