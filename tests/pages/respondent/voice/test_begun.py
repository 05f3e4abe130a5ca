"""Record was pressed: an engine of this server gets ready, for nobody else."""

from typing import Any

import pytest
from flask import Flask
from sqlalchemy import update

from jobs.queue import BEGUN, TRANSCRIPTIONS
from tests.pages.respondent.voice.conftest import Speaker
from webapp.base.database import db, utc_now
from webapp.base.vocabulary import ON_THIS_SERVER, FormStatus, ResponseMode
from webapp.records.forms import Form

WHISPER = {"transcriber": "whisper", "transcriber_model": "tiny"}
HERE = pytest.mark.settings(**WHISPER)


@pytest.fixture
def told(app: Flask, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the queue of whoever writes down was handed."""
    ids: list[str] = []
    monkeypatch.setattr(app.extensions[TRANSCRIPTIONS.extension], "hand_over", ids.extend)
    return ids


def become(app: Flask, **columns: Any) -> None:
    with app.app_context():
        db.session.execute(update(Form).values(columns))
        db.session.commit()


@HERE
def test_it_is_told(app: Flask, speaker: Speaker, told: list[str]) -> None:
    become(app, transcriber=ON_THIS_SERVER)
    speaker.page = speaker.client.get(f"/r/{speaker.share_token}")
    address = f"/r/{speaker.share_token}/begin-recording"

    assert f'data-begins="{address}"' in speaker.page.text
    assert speaker.post("/begin-recording").status_code == 204
    assert told == [BEGUN]


@HERE
@pytest.mark.parametrize(
    "columns",
    [
        {"transcriber": ""},
        {"transcriber": ON_THIS_SERVER, "records_voice": False},
        {"transcriber": ON_THIS_SERVER, "response_mode": ResponseMode.TEXT_ONLY},
        {"transcriber": ON_THIS_SERVER, "status": FormStatus.CLOSED, "closed_at": utc_now()},
    ],
    ids=["written down by nobody", "typed", "typed by its draft", "closed"],
)
def test_a_form_that_is_not_written_down_here_loads_nothing(
    app: Flask, speaker: Speaker, told: list[str], columns: dict[str, Any]
) -> None:
    become(app, **columns)
    page = speaker.client.get(f"/r/{speaker.share_token}")

    assert "data-begins" not in page.text
    speaker.post("/begin-recording")
    assert told == []


@HERE
def test_a_stranger_without_a_page_loads_nothing(
    app: Flask, speaker: Speaker, told: list[str]
) -> None:
    become(app, transcriber=ON_THIS_SERVER)
    address = f"/r/{speaker.share_token}/begin-recording"

    assert speaker.client.get(address).status_code == 405
    assert speaker.client.post(address).status_code == 422
    assert speaker.client.post(address, data={"session": "k" * 32}).status_code == 422
    assert told == []


@pytest.mark.settings(**WHISPER, limit_upload_session="2/minute")
def test_it_has_a_limit(app: Flask, speaker: Speaker, told: list[str]) -> None:
    become(app, transcriber=ON_THIS_SERVER)
    page = speaker.page
    statuses = []
    for _ in range(3):
        speaker.page = page
        statuses.append(speaker.post("/begin-recording").status_code)

    assert statuses == [204, 204, 429]
    assert told == [BEGUN] * 2
