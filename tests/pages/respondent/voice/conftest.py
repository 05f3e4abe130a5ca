"""Respondents of a form that may be answered by voice."""

import re
import secrets
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select
from werkzeug.test import TestResponse

from jobs.transcribe import Transcriber
from tests.pages.respondent_client import Respondent, hidden
from tests.voice.audio_files import recording
from tests.voice.factories import make_voice_form
from webapp.base.database import db
from webapp.records.responses.recordings import Recording
from webapp.voice.audio_store import audio_store

CHECKED = re.compile(r'<input type="checkbox" name="recording" value="(\w+)" checked>')


@dataclass
class Speaker(Respondent):
    """Uploads recordings as a browser without scripts would; `number` of a follow-up is `1/f/1`."""

    def upload(
        self,
        number: int | str = 1,
        file: bytes | None = None,
        *,
        name: str = "a.webm",
        **fields: Any,
    ) -> TestResponse:
        """Press the button for a chosen file; b"" for none."""
        body = recording() if file is None else file
        headers, environ = fields.pop("headers", None), fields.pop("environ_overrides", None)
        sent = hidden(self.page) | {"audio": (BytesIO(body), name if body else "")} | fields
        where = f"/r/{self.share_token}/q/{number}/recording"
        page = self.client.post(where, data=sent, headers=headers, environ_overrides=environ)
        if not headers:
            self.page = page
        return page

    def go_on(self, number: int | str, text: str = "", **fields: Any) -> TestResponse:
        """Continue with the recording that the page holds."""
        held = CHECKED.search(self.page.text)
        given = {"answer": text} | ({"recording": held[1]} if held else {}) | fields
        return self.post(f"/q/{number}", **given)


@pytest.fixture
def form(app: Flask) -> Any:
    """A published form of two questions, recorded by who likes."""
    with app.app_context():
        return make_voice_form()


def arrive_to_speak(client: FlaskClient, form: Any, query: str = "") -> Speaker:
    return Speaker(client, form.share_token, client.get(f"/r/{form.share_token}{query}"))


@pytest.fixture
def speaker(client: FlaskClient, form: Any) -> Speaker:
    return arrive_to_speak(client, form)


def new_key() -> str:
    """One that no page has."""
    return secrets.token_urlsafe(16)


def kept(app: Flask) -> list[Recording]:
    """All rows, the oldest first."""
    with app.app_context():
        return list(db.session.scalars(select(Recording).order_by(Recording.created_at)))


def held_in(page: TestResponse) -> str:
    """The recording that the page holds."""
    found = CHECKED.search(page.text)
    assert found
    return found[1]


def work(app: Flask) -> None:
    """Write down everything that is due, as the threads of a process do it."""
    transcriber = Transcriber(app, threads=1)
    transcriber.work()
    with app.app_context():
        transcriber.sweep()


def objects(app: Flask) -> set[str]:
    """The keys of the audio store."""
    with app.app_context():
        return {each.key for each in audio_store().list_objects()}
