"""What a stranger with many free keys takes of a day: a small share, in both run modes."""

import importlib
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any

import httpx
import pytest
from flask import Flask
from sqlalchemy import select, update

from tests.databases import both_empty_databases
from tests.followups.model_server import QUESTION, ModelServer, asking, model_server
from tests.jobs.test_processes import beside, place, variables
from tests.journey.installation import process
from tests.pages.respondent_client import heading, hidden
from tests.services import free_port, wait_until
from tests.voice.audio_files import recording as audio_file
from tests.voice.factories import make_voice_form
from tests.voice.speech_engine import SpeechEngine, speech_engine, words
from webapp.base.database import db, utc_now
from webapp.records.forms import Form
from webapp.records.responses.models import Answer
from webapp.voice.transcripts import read_unheard

WORDS = "Ben swapped it."
TYPED = "We moved because the contract ended and procurement wanted a single vendor for all of it"
STRANGER, HONEST = "127.0.71.1", "127.0.72.1"
KEYS = 100
MINUTES = 4  # of the form: twelve seconds are those of a stranger
CALLS = 20  # two are

__all__ = ["beside", "place", "variables"]
pytestmark = [pytest.mark.slow, pytest.mark.timeout(600), both_empty_databases]


@dataclass
class Site:
    """Servers of one installation, with a form, and what they send to others."""

    servers: list[str]
    path: str
    engine: SpeechEngine
    model: ModelServer

    def __post_init__(self) -> None:
        self._turns = cycle(self.servers)

    def person(self, address: str) -> "Person":
        server = next(self._turns)
        client = httpx.Client(
            base_url=server,
            headers={"Host": self.servers[0].partition("//")[2], "Connection": "close"},
            transport=httpx.HTTPTransport(local_address=address),
            timeout=60,
        )
        return Person(client, self.path)


@dataclass
class Person:
    """Somebody with a new key, who posts as browsers without scripts do."""

    client: httpx.Client
    path: str

    def __post_init__(self) -> None:
        self.page: Any = self.client.get(self.path)
        assert self.page.status_code == 200

    def upload(self) -> None:
        files = {"audio": ("a.webm", audio_file("webm", "voice", 1.0))}
        sent = hidden(self.page)
        self.page = self.client.post(f"{self.path}/q/1/recording", data=sent, files=files)
        assert 'name="recording" value="att_' in self.page.text

    def look(self) -> None:
        told = self.client.post(
            f"{self.path}/q/1/transcript", data=self._held(), headers={"HX-Request": "true"}
        )
        assert told.status_code in {200, 204}

    def answer(self, text: str = "") -> Any:
        sent = self._held() | {"answer": text}
        self.page = self.client.post(f"{self.path}/q/1", data=sent, follow_redirects=True)
        assert self.page.status_code == 200
        return self.page

    def _held(self) -> dict[str, str]:
        found = re.search(r'name="recording" value="(att_\w+)"', self.page.text)
        return hidden(self.page) | ({"recording": found[1]} if found else {})


@pytest.fixture
def site(
    beside: Flask, variables: dict[str, str], request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[Site]:
    importlib.import_module("webapp.follow_ups.model_exchange")
    with ExitStack() as stack:
        engine = stack.enter_context(speech_engine(lambda _number: words(WORDS)))
        model = stack.enter_context(model_server(asking()))
        commands = [("run", free_port())]
        changed = {
            "TRANSCRIBER": "openai",
            "TRANSCRIBER_URL": engine.url,
            "TRANSCRIBER_MODEL": "small-en",
            "TRANSCRIBER_MINUTES_PER_DAY": str(MINUTES),
            "LLM_CALLS_PER_DAY": str(CALLS),
            **{name.upper(): str(value) for name, value in model.settings().items()},
        }
        if not variables["DATABASE_URL"].startswith("sqlite"):
            commands = [("web", free_port()), ("web", free_port()), ("worker", free_port())]
            changed["REDIS_URL"] = request.getfixturevalue("redis_url")
        changed["PUBLIC_URL"] = f"http://127.0.0.1:{commands[0][1]}"
        for number, (command, port) in enumerate(commands):
            given = variables | changed | {"PORT": str(port)}
            stack.enter_context(process(tmp_path / f"log-{number}", command, **given))
        servers = [f"http://127.0.0.1:{port}" for command, port in commands if command != "worker"]
        with beside.app_context():
            form = make_voice_form(transcriber=engine.host, followUpMode="smart", context="Prices")
            told = {"follow_up_writer": f"small-model at {model.host}"}
            db.session.execute(update(Form).values(told))
            db.session.commit()
        yield Site(servers, f"/r/{form.share_token}", engine, model)


def settled(beside: Flask) -> bool:
    """Whether nothing is due to be written down."""
    with beside.app_context():
        return read_unheard(now=utc_now()) == (0, None)


def texts(beside: Flask) -> list[str]:
    with beside.app_context():
        current = select(Answer.answer_text).where(Answer.superseded.is_(False))
        return list(db.session.scalars(current))


def test_free_keys_leave_the_minutes_to_answers_and_the_model_to_others(
    beside: Flask, site: Site
) -> None:
    def speak(number: int) -> None:
        person = site.person(STRANGER)
        person.upload()
        if number % 2:
            person.look()

    def type_words(_number: int) -> None:
        site.person(STRANGER).answer(TYPED)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(speak, range(KEYS)))
        wait_until(lambda: settled(beside), "being looked at", seconds=60)
        list(pool.map(type_words, range(KEYS)))
    assert 0 < len(site.engine.heard) <= MINUTES * 60 / 20
    assert 0 < len(site.model.asked) <= CALLS / 10

    before = len(site.engine.heard)
    speaker = site.person(HONEST)
    speaker.upload()
    speaker.answer()
    wait_until(lambda: WORDS in texts(beside), "being written down", seconds=60)
    assert len(site.engine.heard) == before + 1
    assert heading(site.person(HONEST).answer(TYPED)) == QUESTION
