"""A whole installation that keeps recordings in a bucket."""

from datetime import datetime
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.pages.respondent.voice.conftest import Speaker, kept
from tests.pages.respondent_client import hidden
from tests.voice.audio_files import recording
from tests.voice.factories import make_voice_form
from tests.voice.s3_server import BUCKET, reached_at
from webapp.answers import answering
from webapp.app.background import erase_noted, erase_unreferenced
from webapp.base.database import utc_now
from webapp.voice.audio_store import audio_store


@pytest.fixture(autouse=True)
def reached(s3_port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in reached_at(s3_port).items():
        monkeypatch.setenv(name, value)


def stored() -> set[str]:
    return {each.key for each in audio_store().list_objects()}


@pytest.mark.settings(audio_store=f"s3://{BUCKET}/installation")
def test_a_recording_is_uploaded_played_and_erased(
    app: Flask, client: FlaskClient, tmp_path: Path
) -> None:
    with app.app_context():
        share_token = make_voice_form().share_token
    speaker = Speaker(client, share_token, client.get(f"/r/{share_token}"))
    session = hidden(speaker.page)["session"]
    speaker.upload()
    speaker.go_on(1)
    [row] = kept(app)

    played = client.get(f"/r/{share_token}/recordings/{row.id}", headers={"Range": "bytes=10-99"})

    assert (played.status_code, played.data) == (206, recording()[10:100])
    with app.app_context():
        (tmp_path / "orphan").write_bytes(b"of no row")
        audio_store().put("frm_1/orphan.webm", tmp_path / "orphan")
        answering.withdraw_response(share_token, session, now=utc_now())
        assert sum(erase_noted(utc_now())) == 1
        assert stored() == {"frm_1/orphan.webm"}
        assert sum(erase_unreferenced(utc_now())) == 0
        assert sum(erase_unreferenced(datetime.max.replace(tzinfo=utc_now().tzinfo))) == 1
        assert stored() == set()
