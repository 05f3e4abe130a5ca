"""An installation that keeps recordings in a bucket, also in one that keeps nothing."""

import time
from contextlib import nullcontext

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.pages.respondent.voice.conftest import Speaker, kept
from tests.pages.respondent_client import box, hidden, stored
from tests.services import free_port
from tests.voice.audio_files import recording
from tests.voice.bad_bucket import bad_bucket
from tests.voice.factories import make_voice_form
from tests.voice.s3_server import BUCKET, reached_at
from webapp.answers import answering
from webapp.app.background import erase_noted
from webapp.base.database import utc_now
from webapp.voice.audio_store import audio_store

NOT_KEPT = "Your recording could not be kept here just now."
NO_ROOM = "This server has no room for recordings just now."
# status of the bucket, its code; status of the page, its words, and those for the operator
BUCKETS = {
    "wrong keys": (403, "InvalidAccessKeyId", 503, NOT_KEPT, "InvalidAccessKeyId"),
    "full": (507, "XMinioStorageFull", 422, NO_ROOM, "507"),
    "hangs": (None, "", 503, NOT_KEPT, "took longer than"),
    "nobody": (0, "", 503, NOT_KEPT, "was not kept"),  # listens there
}


def at_bucket(name: str) -> pytest.MarkDecorator:
    """An application of its own, whose store knows the port of this test."""
    return pytest.mark.settings(audio_store=f"s3://{name.replace(' ', '-')}")


def reach(monkeypatch: pytest.MonkeyPatch, port: int) -> None:
    for name, value in reached_at(port).items():
        monkeypatch.setenv(name, value)


def speaker_to_new_form(app: Flask, client: FlaskClient) -> Speaker:
    with app.app_context():
        share_token = make_voice_form().share_token
    return Speaker(client, share_token, client.get(f"/r/{share_token}"))


@pytest.mark.settings(audio_store=f"s3://{BUCKET}/installation")
def test_a_recording_is_uploaded_played_and_erased(
    app: Flask, client: FlaskClient, s3_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    reach(monkeypatch, s3_port)
    speaker = speaker_to_new_form(app, client)
    session = hidden(speaker.page)["session"]
    speaker.upload()
    speaker.go_on(1)
    [row] = kept(app)
    address = f"/r/{speaker.share_token}/recordings/{row.id}"

    played = client.get(address, headers={"Range": "bytes=10-99"})

    assert (played.status_code, played.data) == (206, recording()[10:100])
    with app.app_context():
        answering.withdraw_response(speaker.share_token, session, now=utc_now())
        assert sum(erase_noted(utc_now())) == 1
        assert list(audio_store().list_objects()) == []


@pytest.mark.parametrize("what", [pytest.param(each, marks=at_bucket(each)) for each in BUCKETS])
def test_a_bucket_that_keeps_nothing_is_reported_in_time(
    app: Flask,
    client: FlaskClient,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    what: str,
) -> None:
    status, code, shown, words, cause = BUCKETS[what]
    with bad_bucket(status, code) if status != 0 else nullcontext(free_port()) as port:
        reach(monkeypatch, port)
        speaker = speaker_to_new_form(app, client)
        began = time.monotonic()
        page = speaker.upload(answer="My words")
        seconds = time.monotonic() - began

    assert (page.status_code, words in page.text, box(page)) == (shown, True, "My words")
    assert seconds < 10 + 5  # of a busy machine
    assert cause in caplog.text
    assert kept(app) == []
    assert speaker.answer(1, box(page)).status_code == 200
    assert stored(app) == (1, 1)
