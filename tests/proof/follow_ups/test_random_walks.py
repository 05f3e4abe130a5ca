"""Whatever respondents do, in whatever order and in how many tabs: both caps hold, each follow-up
has one answer at most, and everybody goes on where they should.
"""

import secrets
from collections.abc import Callable, Iterator
from itertools import count
from random import Random
from typing import Any

import orjson
import pytest
from flask import Flask
from sqlalchemy import update

from tests.databases import both_databases
from tests.factories import make_account, make_form
from tests.followups.model_server import ModelServer, model_server, stopping
from tests.proof.follow_ups.walk_model import Caps, WalkModel
from tests.proof.follow_ups.walk_records import require_counted
from tests.proof.follow_ups.walking import Walker
from tests.voice.factories import make_voice_form
from webapp.base.config import Settings
from webapp.base.database import db
from webapp.follow_ups import model_exchange
from webapp.follow_ups.model_exchange import ModelFailed, ModelRefused
from webapp.follow_ups.rules import Technique
from webapp.records.accounts.models import Account
from webapp.records.forms import Form

OF_FORM = 3  # respondents
QUESTIONS = ("Is it easy to use?", "What made you switch?", "What would you tell a friend?")
ASKED = (
    "What happened the last time that you did it?",
    "Who noticed it first?",
    "Which part of the work took the longest?",
    "How did the others see it?",
    "What would have made the difference?",
    "Where did it begin?",
)


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    """Its name and address; nobody asks it here."""
    with model_server(stopping()) as running:
        yield running


@pytest.fixture
def settings(settings: Settings, model: ModelServer, writer: str) -> Settings:
    named = model.settings() if writer == "model" else {}
    return settings.model_copy(update=named | {"write_limits": False})


def unreliable(random: Random) -> Callable[..., str]:
    """A model that asks, stops, fails and writes what is of no use."""
    number = count()

    def ask(*_: object, **__: object) -> str:
        what = random.choice(["ask"] * 6 + ["stop", "junk", "fail", "refuse"])
        if what == "fail":
            raise ModelFailed("for this test")
        if what == "refuse":
            raise ModelRefused("for this test")
        if what == "junk":
            return "{"
        question = ASKED[next(number) % len(ASKED)]
        technique = random.choice([*Technique])
        return orjson.dumps({"action": what, "technique": technique, "question": question}).decode()

    return ask


def make_walkers(app: Flask, account: Account, random: Random) -> list[Walker]:
    """Those of one form, with random settings."""
    questions = [*QUESTIONS[: random.randint(1, 3)]]
    mode = random.choice(["none", "smart", "smart", "deep_dive", "deep_dive", "deep_dive"])
    of_question = random.choice([None, None, 0, 1, 2, 3, 50])
    in_all = random.choice([None, None, 1, 2, len(questions), len(questions) + 1, 5, 50])
    voice = random.random() < 0.3
    asked = {"followUpMode": mode, "context": "They think of leaving."}
    caps = {"maxFollowupsPerQuestion": of_question, "maxTotalQuestions": in_all}
    fields: dict[str, Any] = asked | {name: cap for name, cap in caps.items() if cap is not None}
    with app.app_context():
        make = make_voice_form if voice else make_form
        form = make(account.id, questions=questions, **fields)
        told = app.config["SETTINGS"].follow_up_writer
        db.session.execute(update(Form).values(follow_up_writer=told))
        db.session.commit()
    return [
        Walker(
            app,
            form,
            WalkModel(Caps(len(questions), mode, of_question, in_all)),
            random,
            cookies=random.random() < 0.5,
            scripted=random.random() < 0.5,
            speaks=voice,
        )
        for _ in range(OF_FORM)
    ]


def walk(walkers: list[Walker], random: Random, *, steps: int) -> None:
    try:
        for _ in range(steps * len(walkers)):
            random.choice(walkers).step()
        with walkers[0].app.app_context():
            require_counted(walkers[0].form)
        for walker in walkers:
            if random.random() < 0.5:
                walker.trail.append("withdraw")
                walker.withdraw()
        with walkers[0].app.app_context():
            require_counted(walkers[0].form)
    except BaseException as error:
        for walker in walkers:
            error.add_note(f"{walker.model.caps}: {' > '.join(walker.trail)}")
        raise


@both_databases
@pytest.mark.parametrize("writer", ["rules", "model"])
@pytest.mark.parametrize(
    ("forms", "steps"), [(5, 8), pytest.param(170, 14, marks=pytest.mark.prove)]
)
@pytest.mark.timeout(1800)
def test_random_walks(
    app: Flask, monkeypatch: pytest.MonkeyPatch, writer: str, forms: int, steps: int
) -> None:
    with app.app_context():
        account = make_account()
    for _ in range(forms):
        seed = secrets.randbelow(1 << 32)
        random = Random(seed)  # noqa: S311 - repeatable
        monkeypatch.setattr(model_exchange, "ask_model", unreliable(random))
        app.extensions.pop("model_breaker", None)
        walkers = make_walkers(app, account, random)
        try:
            walk(walkers, random, steps=steps)
        except BaseException as error:
            error.add_note(f"seed {seed}")
            raise
