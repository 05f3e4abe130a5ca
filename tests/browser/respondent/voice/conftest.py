"""A form that records, and a browser with a microphone that plays a known sound."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import Flask
from playwright.sync_api import Browser

from tests.browser.respondent.voice.steps import SpokenLink, microphone
from tests.browser.respondent_steps import QUESTIONS
from tests.conftest import delete_rows
from tests.programs import launched
from tests.voice.audio_files import samples, wav
from tests.voice.factories import make_voice_form


@pytest.fixture(scope="session")
def spoken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file that the microphone plays, over and over."""
    file: Path = tmp_path_factory.mktemp("microphone") / "voice.wav"
    file.write_bytes(wav(samples("voice", 6)))
    return file


@pytest.fixture(scope="module")
def browser(request: pytest.FixtureRequest, spoken: Path) -> Iterator[Browser]:
    # asked for here, so that the browser of the module before is ended: there is one at a time
    program = request.getfixturevalue("headless_path")
    with launched(program, *microphone(spoken)) as running:
        yield running


@pytest.fixture
def link(served: Flask) -> Iterator[SpokenLink]:
    with served.app_context():
        form = make_voice_form(questions=QUESTIONS)
    yield SpokenLink(served, served.config["SETTINGS"].public_url, f"/r/{form.share_token}", form)
    delete_rows(served)
