"""Recordings among the answers: in REST, polling and streaming, and what they cost."""

import secrets
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from flask import Flask

from api.agents import AskFeed
from api.wire.event_stream import StreamPosition
from tests.api.conftest import Agent
from tests.databases import both_databases
from tests.factories import make_answer
from tests.voice.factories import make_spoken_answer
from webapp.answers import answering
from webapp.base.database import utc_now
from webapp.drafts import agent_tokens

AT = datetime(2026, 11, 22, 23, 59, tzinfo=UTC)
ID = "att_6b8d0f2a4c6e8a0c2e4b6d8f"
LISTED = {
    "id": ID,
    "name": "recording-2026-11-22-4b6d8f.webm",
    "type": "audio/webm",
    "size": 4000,
    "contentOmitted": True,
}


@pytest.fixture
def response_id(app: Flask, form: Any) -> str:
    """A completed response whose first answer was spoken and whose second was typed."""
    with app.app_context():
        key = secrets.token_urlsafe(24)
        recording = make_spoken_answer(form, key, id=ID, created_at=AT)
        make_answer(form, key, 1, "Typed")
        answering.complete_response(form.share_token, key, responder_name="", now=utc_now())
        return str(recording.session_id)


def listed(answers: list[Any]) -> list[tuple[str, list[Any]]]:
    return [(each["responseType"], each["attachments"]) for each in answers]


@both_databases
def test_rest_polling_and_streaming_list_the_recording_of_a_spoken_answer(
    app: Flask, agent: Agent, form: Any, response_id: str
) -> None:
    now = utc_now()
    (session,) = agent.get(f"/forms/{form.id}/responses").json["responses"]
    with app.app_context():
        token = agent_tokens.make_agent_token(
            form.account_id, form.id, label="", expires_at=now + timedelta(days=1), now=now
        ).token

    polled = Agent(app, token).get(f"/agent/asks/{form.id}/answers").json["answers"]
    with app.app_context():
        (update,) = AskFeed().read([StreamPosition(form.id, None)]).values()

    assert session["sessionId"] == response_id
    assert listed(session["answers"]) == [("voice", [LISTED]), ("text", [])]
    assert listed(polled) == [("voice", [LISTED]), ("text", [])]
    assert {answer["sessionId"] for answer in polled} == {response_id}
    assert update.frames.count(ID.encode()) == 1
    assert b'"attachments":[{"id":"att_' in update.frames
