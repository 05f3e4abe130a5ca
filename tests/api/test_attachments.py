"""Recordings, listed and read by connected agents and agent tokens: ranges, headers, access."""

import secrets
from datetime import UTC, datetime
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from api.agents import read_updates
from api.wire.event_stream import StreamPosition
from tests.api.conftest import Agent, agent_token, refusal
from tests.databases import both_databases
from tests.factories import make_account, make_answer, make_form
from tests.voice.factories import (
    make_recording,
    make_spoken_answer,
    make_stored_answer,
)
from tests.voice.store_reads import holds_connection
from webapp.answers import answering
from webapp.base.database import db, utc_now
from webapp.records.responses.models import Answer
from webapp.records.responses.recordings import Recording
from webapp.voice.audio_store import audio_store

SOUND = bytes(range(256)) * 40
KEY = "k" * 32


@pytest.fixture
def recording(app: Flask, form: Any) -> Recording:
    with app.app_context():
        made = make_stored_answer(form, KEY, content=SOUND)
        db.session.expunge(made)
        return made


@pytest.fixture
def program(app: Flask, form: Any) -> Agent:
    return Agent(app, agent_token(app, form.account_id, form.id).token)


@pytest.fixture(params=["REST", "agent token"])
def reader(request: pytest.FixtureRequest) -> Agent:
    found: Agent = request.getfixturevalue({"REST": "agent"}.get(request.param, "program"))
    return found


def path(reader: Agent, form_id: str, attachment_id: str) -> str:
    folder = "agent/asks" if reader.token.startswith("askag_") else "forms"
    return f"/{folder}/{form_id}/attachments/{attachment_id}"


def test_the_bytes_are_a_download_that_no_other_origin_reads(
    reader: Agent, form: Any, recording: Recording
) -> None:
    answer = reader.get(path(reader, form.id, recording.id))

    assert (answer.status_code, answer.mimetype, answer.data) == (200, "audio/webm", SOUND)
    headers = answer.headers
    day = recording.created_at.date().isoformat()
    name = f"recording-{day}-{recording.id[-6:]}.webm"
    assert headers["Content-Disposition"] == f"attachment; filename={name}"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert "sandbox" in headers.getlist("Content-Security-Policy")
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert headers["Cache-Control"] == "private, no-store"
    head = reader.call("HEAD", path(reader, form.id, recording.id))
    assert (head.status_code, head.data) == (200, b"")
    assert head.headers["Content-Length"] == str(len(SOUND))


def test_a_range_is_answered_in_part(reader: Agent, form: Any, recording: Recording) -> None:
    def read(asked: str) -> TestResponse:
        return reader.get(path(reader, form.id, recording.id), headers={"Range": asked})

    part, beyond = read("bytes=10200-"), read(f"bytes={len(SOUND)}-")

    assert (part.status_code, part.data) == (206, SOUND[10200:])
    assert part.headers["Content-Range"] == f"bytes 10200-10239/{len(SOUND)}"
    assert refusal(beyond) == (416, "range_not_satisfiable")
    assert beyond.headers["Content-Range"] == f"bytes */{len(SOUND)}"


@both_databases
def test_a_slow_or_silent_store_holds_no_connection_and_is_reported(
    reader: Agent, form: Any, recording: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = holds_connection(monkeypatch)
    assert reader.get(path(reader, form.id, recording.id)).data == SOUND
    assert held == [False]

    with reader.app.app_context():
        audio_store().delete([recording.object_key])
    answer = reader.get(path(reader, form.id, recording.id))
    assert refusal(answer) == (500, "storage_unavailable")


@pytest.mark.parametrize("how", ["replaced", "withdrawn"])
def test_replaced_withdrawn_unclaimed_and_foreign_ones_are_not_found(
    app: Flask, reader: Agent, form: Any, recording: Recording, how: str
) -> None:
    with app.app_context():
        stranger = make_form(make_account().id)
        foreign = make_spoken_answer(stranger, KEY[::-1] + "x").id
        own = make_form(form.account_id)
        elsewhere = make_spoken_answer(own, secrets.token_urlsafe(24)).id
        unclaimed = make_recording(form, KEY).id
        db.session.commit()
    unknown = (foreign, elsewhere, unclaimed, "att_" + "0" * 24)

    answers = [reader.get(path(reader, form.id, each)) for each in unknown]

    assert [refusal(answer) for answer in answers] == [(404, "not_found")] * 4
    assert refusal(reader.get(path(reader, stranger.id, foreign))) == (404, "form_not_found")
    if reader.token.startswith("askag_"):
        assert refusal(reader.get(path(reader, own.id, elsewhere))) == (404, "form_not_found")
    with app.app_context():
        if how == "replaced":
            db.session.execute(db.update(Answer).values(superseded=True))
            db.session.commit()
        else:
            answering.withdraw_response(form.share_token, KEY, now=utc_now())
    assert refusal(reader.get(path(reader, form.id, recording.id))) == (404, "not_found")


ID = "att_6b8d0f2a4c6e8a0c2e4b6d8f"
LISTED = {
    "id": ID,
    "name": "recording-2026-11-22-4b6d8f.webm",
    "type": "audio/webm",
    "size": 4000,
    "contentOmitted": True,
}


@both_databases
def test_the_recording_of_a_spoken_answer_is_listed(
    app: Flask, agent: Agent, program: Agent, form: Any
) -> None:
    with app.app_context():
        at = datetime(2026, 11, 22, 23, 59, tzinfo=UTC)
        session_id = make_spoken_answer(form, KEY, id=ID, created_at=at).session_id
        make_answer(form, KEY, 1, "Typed")
        answering.complete_response(form.share_token, KEY, responder_name="", now=utc_now())

    (session,) = agent.get(f"/forms/{form.id}/responses").json["responses"]
    polled = program.get(f"/agent/asks/{form.id}/answers").json["answers"]
    with app.app_context():
        (update,) = read_updates([StreamPosition(form.id, None)]).values()

    assert {session["sessionId"], *(each["sessionId"] for each in polled)} == {session_id}
    for answers in (session["answers"], polled):
        listed = [(each["responseType"], each["attachments"]) for each in answers]
        assert listed == [("voice", [LISTED]), ("text", [])]
    assert update.frames.count(ID.encode()) == 1
    assert b'"attachments":[{"id":"att_' in update.frames
