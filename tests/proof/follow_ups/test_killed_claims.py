"""The server is killed while a model thinks: nobody is stuck, nothing is used up."""

import http.client
import random
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from flask import Flask
from sqlalchemy import update

from tests.databases import empty_postgresql_first
from tests.factories import make_account, make_form
from tests.followups.model_server import QUESTION, ModelServer, asking, hanging, model_server
from tests.proof.follow_ups.people import MOMENT, SHORT, THANKS, Person
from tests.proof.follow_ups.walk_model import Caps
from tests.proof.follow_ups.walk_records import read_record, require_counted, require_sound
from tests.proof.killing import Target
from tests.services import wait_until
from webapp.answers.follow_up_decisions import LEASE
from webapp.base.database import db
from webapp.base.vocabulary import FollowUpState
from webapp.records.forms import Form

PEOPLE = 8
FIRST, SECOND = "What made you switch?", "What would you tell a friend?"
CAPS = Caps(scripted=2, mode="deep_dive", of_question=1, in_all=3)  # one follow-up for all


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with model_server(hanging()) as running:
        yield running


@pytest.fixture
def form(killed_app: Flask, model: ModelServer) -> Any:
    caps = {"maxFollowupsPerQuestion": CAPS.of_question, "maxTotalQuestions": CAPS.in_all}
    made = make_form(make_account().id, questions=[FIRST, SECOND], followUpMode=CAPS.mode, **caps)
    db.session.execute(update(Form).values(follow_up_writer=f"small-model at {model.host}"))
    db.session.commit()
    return made


@pytest.fixture
def target(empty_database_url: str, tmp_path: Path, model: ModelServer) -> Target:
    named = {name.upper(): value for name, value in model.settings().items()}
    folder = {"DATABASE_URL": empty_database_url, "ASKBACK_DATA": str(tmp_path)}
    return Target(named | folder | {"LIMIT_ANSWER_ADDRESS": "1000000/minute"})


def arrive(target: Target, form: Any) -> Person:
    def exchange(
        method: str, path: str, fields: dict[str, str], headers: dict[str, str]
    ) -> tuple[int, str]:
        return target.call(method, path, urlencode(fields), **headers)[:2]

    return Person(exchange, form.share_token, target.new_session(form.share_token))


def begin(target: Target, form: Any, model: ModelServer, pool: ThreadPoolExecutor) -> Any:
    """People whose first answer a model thinks about, and what they wait for."""
    people = [arrive(target, form) for _ in range(PEOPLE)]
    for person in people:
        assert person.answer("/q/1", SHORT).heading == MOMENT
    before = len(model.asked)
    waiting = [pool.submit(person.on_from, "/q/1") for person in people]
    wait_until(lambda: len(model.asked) == before + PEOPLE, "asking the model")
    return people, waiting


def require_nothing_came(waiting: list[Future[Any]]) -> None:
    for each in waiting:
        with pytest.raises((OSError, http.client.HTTPException)):
            each.result()


def go_on(person: Person, *, again: bool) -> None:
    """Resume at the second question, and be asked one more: about the first, or this one."""
    assert person.post("/resume").heading == SECOND
    if again:  # the page that waited asks by itself
        assert person.on_from("/q/1").heading == QUESTION
        assert person.answer("/q/1/f/1", "Because of it").heading == SECOND
        assert person.answer("/q/2", SHORT).heading == "Check your answers, then send."
    else:
        assert person.answer("/q/2", SHORT).heading == MOMENT
        assert person.on_from("/q/2").heading == QUESTION
    assert person.post("/check").heading.startswith(THANKS)


def asked(form: Any, person: Person) -> list[tuple[int, FollowUpState]]:
    record = read_record(form, person.session)
    require_sound(record, CAPS)
    return sorted(
        (record.numbers[each.parent_question_id], each.state) for each in record.decisions
    )


@empty_postgresql_first
@pytest.mark.parametrize("kills", [1, pytest.param(10, marks=pytest.mark.prove)])
def test_a_kill_between_claim_and_settlement(
    target: Target, form: Any, model: ModelServer, kills: int
) -> None:
    for _ in range(kills):
        model.answer = hanging()
        with ThreadPoolExecutor(PEOPLE) as pool:
            with target.up():
                people, waiting = begin(target, form, model, pool)
                time.sleep(random.uniform(0, 1))  # noqa: S311
            killed = time.monotonic()
            require_nothing_came(waiting)
        assert {tuple(asked(form, each)) for each in people} == {((1, FollowUpState.CLAIMED),)}
        model.answer = asking()
        with target.up():
            time.sleep(max(0, killed + LEASE.total_seconds() - time.monotonic()))
            for number, person in enumerate(people):
                go_on(person, again=number % 2 == 0)
        for number, person in enumerate(people):
            states = dict(asked(form, person))
            assert states[1 + number % 2] is FollowUpState.ASKED
            assert [*states.values()].count(FollowUpState.ASKED) == 1
        require_counted(form)
