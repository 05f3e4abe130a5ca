"""Trying a draft whose follow-up questions a model writes."""

from collections.abc import Iterator

import pytest
from flask import Flask

from tests.bulk import dump
from tests.followups.model_server import QUESTION, ModelServer, asking, model_server
from tests.pages.creator.test_trial import try_draft
from tests.pages.creator_client import Creator
from webapp.base.config import Settings
from webapp.follow_ups.model_exchange import prepare

FIRST, SECOND = "What made you switch?", "What would you tell a friend?"
ANSWER = "We moved because the contract ended and procurement wanted a single vendor for everything"
CONTEXT = "Prices rise by 17 percent in May; Acme Holding wants to sell."
FIELDS = {
    "questions": [FIRST, SECOND],
    "followUpMode": "smart",
    "context": CONTEXT,
    "prepared": {0: [("What came of it?", "always")]},
}


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with model_server(asking()) as running:
        yield running


@pytest.fixture
def settings(settings: Settings, model: ModelServer) -> Settings:
    made = settings.model_copy(update=model.settings())
    prepare()  # of the four seconds of the first call it may take two
    return made


def test_the_model_asks_as_on_the_form(
    ann: Creator, model: ModelServer, settings: Settings
) -> None:
    trying = try_draft(ann, **FIELDS)
    assert f"{model.host} is sent each answer with its question" in trying.words
    before = ann.within(dump)

    trying.answer(ANSWER)

    assert trying.question == QUESTION
    assert f"This question was written by a computer at {model.host}" in trying.words
    assert f"Follow-up · {settings.follow_up_writer} · asked for an example" in trying.words
    trying.open("1")
    trying.answer(ANSWER)  # the same words do not ask it again
    (asked,) = model.asked
    assert "Acme Holding" in asked.system
    assert ANSWER in asked.user
    assert "Acme Holding" not in trying.page.text
    with ann.context():
        assert dump() | {"day_spending": []} == before  # that a model was called is counted


@pytest.mark.parametrize(
    "_limit",
    [
        pytest.param(
            "account",
            marks=pytest.mark.constants("webapp.pages.creator.trial", MODEL_RATE="1/minute"),
        ),
        pytest.param("server", marks=pytest.mark.settings(llm_calls_per_day_total=1)),
    ],
)
def test_calls_are_limited_for_each_account_and_for_the_server(
    ann: Creator, model: ModelServer, _limit: str
) -> None:
    first, second = try_draft(ann, **FIELDS), try_draft(ann, **FIELDS)

    assert first.answer(ANSWER).status_code == second.answer(ANSWER).status_code == 200

    assert (first.question, len(model.asked)) == (QUESTION, 1)
    assert "The rules decided." in second.words


def test_a_model_that_the_page_did_not_name_gets_nothing(
    app: Flask, ann: Creator, model: ModelServer
) -> None:
    trying = try_draft(ann, **FIELDS)
    app.config["SETTINGS"] = app.config["SETTINGS"].model_copy(update={"llm_model": "another"})

    trying.answer(ANSWER)

    assert model.asked == []
    assert "· prepared by your agent, asked after every answer" in trying.words
