"""Decisions are made one after the other, nobody waits in a turn, and nothing is loaded there."""

import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jinja2
import pytest
from flask import Flask

from tests.command import ROOT
from tests.followups.model_server import QUESTION, ModelServer, asking
from tests.pages.respondent.follow_ups.test_models import (  # noqa: F401 (fixtures)
    ANSWER,
    SECOND,
    form,
    model,
    respondent,
    rows,
    scripted_post,
    settings,
    told,
)
from tests.pages.respondent_client import Respondent, arrive, heading
from webapp.base.config import Settings
from webapp.base.database import db
from webapp.follow_ups.model_breaker import MODEL_SECONDS
from webapp.pages.errors import load_pages
from webapp.pages.model_decisions import FromModel
from webapp.pages.respondent import follow_ups, form_data
from webapp.pages.respondent.follow_ups import Turn

pytestmark = pytest.mark.usefixtures("form")


@pytest.fixture
def waiting(respondent: Respondent) -> Respondent:  # noqa: F811
    """Answered, and nothing is decided."""
    respondent.page = scripted_post(respondent, "/q/1", answer=ANSWER)
    return respondent


def test_decisions_are_made_one_after_the_other(
    app: Flask,
    form: Any,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    respondents = [arrive(app.test_client(), form) for _ in range(4)]
    for each in respondents:
        each.page = scripted_post(each, "/q/1", answer=ANSWER)
    lock, running, most = threading.Lock(), 0, 0
    read = follow_ups.context_of

    def slowly(*given: Any, **named: Any) -> Any:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.05)
        with lock:
            running -= 1
        return read(*given, **named)

    monkeypatch.setattr(follow_ups, "context_of", slowly)
    monkeypatch.setattr(follow_ups, "LATE_SECONDS", 600)  # of a busy machine, too
    monkeypatch.setattr(follow_ups, "MODEL_SECONDS", 60)
    with ThreadPoolExecutor(4) as together:
        pages = list(together.map(lambda each: scripted_post(each, "/q/1/next"), respondents))

    assert {heading(page) for page in pages} == {QUESTION}
    assert most == 1


def test_whoever_waits_for_the_model_lets_others_decide(
    app: Flask,
    form: Any,  # noqa: F811
    waiting: Respondent,
    model: ModelServer,  # noqa: F811
) -> None:
    model.answer = asking(after=1)
    other = arrive(app.test_client(), form)
    with ThreadPoolExecutor(1) as beside:
        deciding = beside.submit(scripted_post, waiting, "/q/1/next")
        while not model.asked:
            time.sleep(0.01)
        assert heading(scripted_post(other, "/q/1/next")) == SECOND
        assert not deciding.done()
        assert heading(deciding.result()) == QUESTION


def test_whoever_waits_for_a_turn_holds_no_connection(
    app: Flask, waiting: Respondent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(form_data, "session_made_at", lambda key: None)  # so that it is looked up
    entering = threading.Event()
    enter = Turn.__enter__

    def told_enter(turn: Turn) -> Turn:
        entering.set()
        return enter(turn)

    with ThreadPoolExecutor(1) as beside, Turn():
        with app.app_context():
            pool: Any = db.engine.pool
        held = pool.checkedout()
        monkeypatch.setattr(Turn, "__enter__", told_enter)
        deciding = beside.submit(scripted_post, waiting, "/q/1/next")
        assert entering.wait(10)
        assert not deciding.done()
        assert pool.checkedout() == held
    assert heading(deciding.result()) == QUESTION


@pytest.mark.parametrize("scripts", [True, False])
def test_whoever_waits_for_the_model_holds_no_connection(
    app: Flask,
    respondent: Respondent,  # noqa: F811
    model: ModelServer,  # noqa: F811
    scripts: bool,  # noqa: FBT001
) -> None:
    model.answer = asking(after=0.5)
    if scripts:
        respondent.page = scripted_post(respondent, "/q/1", answer=ANSWER)
    with app.app_context():
        pool: Any = db.engine.pool
    held = pool.checkedout()
    with ThreadPoolExecutor(1) as beside:
        posted = (
            (scripted_post, respondent, "/q/1/next") if scripts else (respondent.answer, 1, ANSWER)
        )
        deciding = beside.submit(*posted)
        while not (model.asked or deciding.done()):
            time.sleep(0.01)
        assert pool.checkedout() == held
        assert not deciding.done()
        assert heading(deciding.result()) == QUESTION


def test_next_question_waits_for_no_turn(
    waiting: Respondent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follow_ups, "MOST_SECONDS", 600)
    with Turn():
        assert heading(scripted_post(waiting, "/q/1/next", pass_on="1")) == SECOND


def test_no_decision_waits_for_its_turn_without_end(
    waiting: Respondent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follow_ups, "MOST_SECONDS", 0.01)
    with Turn():
        assert heading(scripted_post(waiting, "/q/1/next")) == QUESTION


def test_others_have_the_processor_between_two_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follow_ups, "REST_SECONDS", 0.2)

    def entered() -> float:
        with Turn():
            return time.monotonic()

    with ThreadPoolExecutor(1) as beside:
        with Turn():
            waited = beside.submit(entered)
            time.sleep(0.1)
        ended = time.monotonic()
        assert waited.result() - ended > 0.19


def test_nobody_rests_where_nobody_waited(
    waiting: Respondent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follow_ups, "REST_SECONDS", 600)
    assert heading(scripted_post(waiting, "/q/1/next")) == QUESTION


def test_after_a_long_wait_the_rules_decide(
    app: Flask,
    waiting: Respondent,
    model: ModelServer,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(follow_ups, "MOST_SECONDS", 0.02)
    monkeypatch.setattr(follow_ups, "LATE_SECONDS", 0.01)
    with Turn():
        scripted_post(waiting, "/q/1/next")

    assert [row.writer for row in rows(app)] == ["agent"]
    assert model.asked == []


def test_the_model_has_what_the_wait_left_of_its_time(
    waiting: Respondent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follow_ups, "MOST_SECONDS", 0.3)
    given: list[float] = []

    def no_reply(*_: Any, seconds: float, **__: Any) -> FromModel:
        given.append(seconds)
        return FromModel("late")

    monkeypatch.setattr(follow_ups, "decision_of_model", no_reply)
    with Turn():
        scripted_post(waiting, "/q/1/next")

    assert 0 < given[0] <= MODEL_SECONDS - 0.3


FIRST_DECISION = """
import sys
from webapp.follow_ups import rules
from webapp.follow_ups.rules import Exchange, Thread
from webapp.base.vocabulary import FollowUpMode

rules.load()
known = set(sys.modules)
for asked, answer in (("Wie war es?", "Es war langsam"), ("¿Qué tal?", "No sé"), ("كيف؟", "بطيء")):
    rules.decide(Thread(FollowUpMode.SMART, (Exchange(asked, answer),), (asked,)))
print(sorted(set(sys.modules) - known))
"""


def test_the_first_decision_finds_the_words_of_all_languages_loaded() -> None:
    command = [sys.executable, "-c", FIRST_DECISION]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)

    assert ran.stdout == "[]\n", ran.stderr


def test_no_template_is_compiled_while_people_wait(
    app: Flask,
    settings: Settings,  # noqa: F811
    respondent: Respondent,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    templates = app.jinja_env.cache
    assert templates is not None
    templates.clear()
    monkeypatch.setattr(app.jinja_env, "bytecode_cache", None)
    load_pages(app)
    follow_ups.load(app, settings)
    compiled: list[str | None] = []
    compile_ = jinja2.Environment.compile

    def noting(
        self: jinja2.Environment, source: str, name: str | None = None, *rest: str
    ) -> object:
        compiled.append(name)
        return compile_(self, source, name, *rest)

    monkeypatch.setattr(jinja2.Environment, "compile", noting)
    scripted_post(respondent, "/q/1", answer=ANSWER)
    page = scripted_post(respondent, "/q/1/next")

    assert "Follow-up to question 1" in page.text
    assert compiled == []
