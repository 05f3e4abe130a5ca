"""Follow-up questions that a model writes, and the turns in which they are decided."""

import re
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select

from tests.factories import make_form
from tests.followups.model_server import QUESTION, ModelServer, asking, model_server
from tests.pages.respondent.follow_ups.conftest import FIRST, SECOND, asked, checked_out, meanwhile
from tests.pages.respondent_client import Respondent, arrive, heading, set_columns
from webapp.base.config import Settings
from webapp.base.database import db
from webapp.base.vocabulary import FollowUpState
from webapp.follow_ups import rules
from webapp.follow_ups.model_exchange import (
    CALLS_AT_ONCE,
    FAILURES_IN_A_ROW,
    MODEL_SECONDS,
    ModelFailed,
    model_breaker,
)
from webapp.pages.respondent import follow_ups
from webapp.pages.respondent.follow_ups import HOLDER, WAITER
from webapp.records.accounts.models import Account
from webapp.records.forms import Form
from webapp.records.responses.counters import DaySpending

ANSWER = "We moved because the contract ended and procurement wanted a single vendor for everything"
CONTEXT = "Prices rise by 17 percent in May; Acme Holding wants to sell."


@pytest.fixture
def model() -> Iterator[ModelServer]:
    """Words are loaded first, as by a server: that takes seconds on a busy machine."""
    rules.load()
    with model_server(asking()) as running:
        yield running


@pytest.fixture
def settings(settings: Settings, model: ModelServer) -> Settings:
    return settings.model_copy(update=model.settings())


@pytest.fixture
def told(settings: Settings, request: pytest.FixtureRequest) -> str:
    """The writer that the creator of the form was told of."""
    changed: str | None = getattr(request, "param", None)
    return settings.follow_up_writer if changed is None else changed


@pytest.fixture
def form(app: Flask, account: Account, told: str) -> Any:
    asks = {"followUpMode": "smart", "context": CONTEXT}
    with app.app_context():
        prepared = {n: [(text, "always")] for n, text in enumerate(["What came of it?", "How so?"])}
        form = make_form(account.id, questions=[FIRST, SECOND], prepared=prepared, **asks)
    set_columns(app, Form, follow_up_writer=told)
    return form


@pytest.fixture
def respondent(app: Flask, form: Any) -> Respondent:
    return arrive(app.test_client(), form)


@pytest.fixture
def waiting(respondent: Respondent) -> Respondent:
    """Answered, and nothing is decided."""
    respondent.page = respondent.swap("/q/1", answer=ANSWER)
    return respondent


def test_without_scripts_the_reply_is_the_next_step(
    app: Flask, respondent: Respondent, model: ModelServer, told: str
) -> None:
    assert f"A computer at {model.host} gets it, too" in respondent.page.text
    privacy = respondent.client.get("/privacy").text
    assert f"A computer at {model.host} may get your answers" in privacy
    page = respondent.answer(1, ANSWER)

    assert heading(page) == QUESTION
    assert f"written by a computer at {model.host}, from your answer" in page.text
    (row,) = asked(app)
    assert (row.state, row.writer, row.technique) == (FollowUpState.ASKED, told, "example")
    assert CONTEXT in model.asked[0].system
    assert not re.search("Acme|17 percent|Prices", page.text)


def test_with_scripts_the_answer_is_saved_before_anybody_thinks(
    app: Flask, waiting: Respondent, model: ModelServer
) -> None:
    assert heading(waiting.page) == "One moment…"
    assert 'hx-trigger="load, submit"' in waiting.page.text
    assert "HX-Push-Url" not in waiting.page.headers
    assert waiting.client.get(f"/r/{waiting.share_token}/q/1/next").status_code == 405
    assert (model.asked, asked(app)) == ([], [])

    following = waiting.swap("/q/1/next")

    assert heading(following) == QUESTION
    assert following.headers["HX-Push-Url"].endswith("/q/1/f/1")


@pytest.mark.parametrize("meanwhile_decided", [False, True])
def test_next_question_passes_on(
    app: Flask, waiting: Respondent, model: ModelServer, *, meanwhile_decided: bool
) -> None:
    model.answer = asking(after=1)
    if meanwhile_decided:
        with meanwhile(lambda: model.asked, waiting.swap, "/q/1/next") as deciding:
            waiting.swap("/q/1/next", pass_on="1")
            assert heading(deciding.result()) == SECOND
    else:
        assert heading(waiting.swap("/q/1/next", pass_on="1")) == SECOND
        assert heading(waiting.swap("/q/1/next")) == SECOND
    assert [row.state for row in asked(app)] == [FollowUpState.NOTHING]
    assert len(model.asked) == meanwhile_decided


@pytest.mark.parametrize("slots", [0, CALLS_AT_ONCE], ids=["of another person", "no slot is left"])
def test_who_waits_for_the_model_holds_nobody_up(
    app: Flask, form: Any, waiting: Respondent, model: ModelServer, slots: int
) -> None:
    model.answer = asking(after=1)
    other = waiting if slots else arrive(app.test_client(), form)
    with ExitStack() as taken:
        for _ in range(slots):
            taken.enter_context(app.extensions["wakeups"].slot(WAITER, most=CALLS_AT_ONCE))
        held = checked_out(app)
        with meanwhile(lambda: model.asked, waiting.swap, "/q/1/next") as deciding:
            assert checked_out(app) == held
            assert heading(other.swap("/q/1/next")) == SECOND
            assert not deciding.done()
            assert heading(deciding.result()) == QUESTION


@pytest.mark.parametrize("away", ["no slot", "open breaker"])
def test_a_model_without_time_is_neither_counted_nor_waited_for(
    app: Flask, respondent: Respondent, model: ModelServer, away: str
) -> None:
    with ExitStack() as taken:
        for _ in range(CALLS_AT_ONCE if away == "no slot" else 0):
            taken.enter_context(app.extensions["wakeups"].slot(HOLDER, most=CALLS_AT_ONCE))
        if away == "open breaker":
            for _ in range(FAILURES_IN_A_ROW):
                with app.app_context(), suppress(ModelFailed), model_breaker().call():
                    raise ModelFailed("for this test")
        page = respondent.answer(1, ANSWER)

    (row,) = asked(app)
    assert (row.writer, row.question_text) == ("agent", heading(page))
    assert model.asked == []
    with app.app_context():
        assert list(db.session.scalars(select(DaySpending.spent))) == []


@pytest.mark.parametrize("told", ["", "another-model at llm.example.com"], indirect=True)
def test_a_form_keeps_the_writer_that_its_creator_saw(
    app: Flask, respondent: Respondent, model: ModelServer, told: str
) -> None:
    assert told or model.host not in respondent.page.text
    page = respondent.swap("/q/1", answer=ANSWER)

    assert heading(page) not in {"One moment…", QUESTION}
    assert [row.writer for row in asked(app)] == ["agent"]
    assert model.asked == []


@pytest.mark.settings(llm_calls_per_day=1)
def test_a_spent_day_leaves_it_to_the_rules(app: Flask, form: Any, model: ModelServer) -> None:
    first, second = arrive(app.test_client(), form), arrive(app.test_client(), form)

    assert heading(first.answer(1, ANSWER)) == QUESTION
    assert heading(second.answer(1, ANSWER)) not in {QUESTION, SECOND}
    assert [row.writer == "agent" for row in asked(app)] == [False, True]
    assert len(model.asked) == 1


@pytest.mark.parametrize(("late", "calls"), [(600, 1), (0.01, 0)], ids=["model", "rules"])
def test_the_model_has_what_the_wait_for_a_turn_left_of_its_time(
    app: Flask, waiting: Respondent, monkeypatch: pytest.MonkeyPatch, late: float, calls: int
) -> None:
    given: list[float] = []

    def no_reply(*_: Any, seconds: float, **__: Any) -> tuple[None, str]:
        given.append(seconds)
        return None, "late"

    monkeypatch.setattr(follow_ups, "TURN_SECONDS", 0.3)
    monkeypatch.setattr(follow_ups, "LATE_SECONDS", late)
    monkeypatch.setattr(follow_ups.model_exchange, "decision_of_model", no_reply)
    with follow_ups._free:
        waiting.swap("/q/1/next")

    assert len(given) == calls
    assert all(0 < seconds <= MODEL_SECONDS - 0.3 for seconds in given)
    assert [row.writer for row in asked(app)] == ["agent"]
