"""A server is killed while people send recordings: every claimed one is there, byte for byte."""

from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select

from tests.proof.killing import Target, kill_again_and_again
from tests.proof.voice.speaking import Speakers
from tests.voice.factories import make_voice_form
from webapp.app.background import count_without_object
from webapp.base.database import db
from webapp.base.text import token_hash
from webapp.records.responses.models import Answer, ResponseSession
from webapp.records.responses.recordings import Recording
from webapp.voice.audio_store import audio_store

proven = pytest.mark.prove
rounds = pytest.mark.parametrize(
    ("empty_database_url", "kills", "answers"),
    [
        ("sqlite", 2, 12),
        pytest.param("sqlite", 30, 600, marks=proven),
        pytest.param("postgresql", 30, 600, marks=proven),
    ],
    indirect=["empty_database_url"],
)


@pytest.fixture
def speakers(killed_app: Flask, empty_database_url: str, tmp_path: Path) -> Speakers:
    form = make_voice_form(questions=["Who changed it?", "What went wrong?", "What then?"])
    variables = {
        "DATABASE_URL": empty_database_url,
        "ASKBACK_DATA": str(tmp_path),
        "LIMIT_ANSWER_ADDRESS": "1000000/minute",
        "LIMIT_UPLOAD_SESSION": "1000000/minute",
    }
    return Speakers(Target(variables), form.share_token)


@rounds
def test_killing_the_server_loses_no_recording(
    speakers: Speakers, kills: int, answers: int
) -> None:
    killed = kill_again_and_again(speakers, kills=kills, answers=answers)

    report = f"{killed} kills, {len(speakers.spoken)} recordings, {speakers.repeats} repeats"
    print(report)
    assert speakers.refusals == [], report
    claimed = claimed_recordings()
    lost = [
        key
        for (session, key), sent in speakers.spoken.items()
        if content(claimed.get((token_hash(session), key))) != sent
    ]
    assert lost == [], report
    assert len(claimed) >= len(speakers.spoken) >= answers, report
    assert count_without_object()[1] == 0, report


def claimed_recordings() -> dict[tuple[str, str], Any]:
    """What answers claimed, by the hash of the session key and the answer key."""
    query = (
        select(ResponseSession.key_hash, Answer.answer_key, Recording)
        .join(Answer, Answer.id == Recording.answer_id)
        .join(ResponseSession, ResponseSession.id == Answer.session_id)
    )
    return {(row[0], row[1]): row[2] for row in db.session.execute(query)}


def content(recording: Recording | None) -> bytes:
    if recording is None:
        return b""
    return b"".join(audio_store().read(recording.object_key, 0, recording.size))
