"""Recordings that wait, and the rows that follow from them. All need an application context."""

import itertools
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import select, update

from tests.conftest import Clock
from tests.factories import make_answer
from tests.voice.factories import make_recording
from webapp.base.database import db, utc_now
from webapp.base.text import token_hash
from webapp.base.vocabulary import ResponseType, TranscriptState
from webapp.records.responses.models import Answer, ResponseSession
from webapp.records.responses.recordings import Recording
from webapp.voice import transcripts

HOST = "speech.example.org"
_MADE = itertools.count()


def make_waiting(form: Any, session_key: str = "k" * 24, **changed: Any) -> str:
    """The id of a recording whose page asks for its words, for HOST to write down; due after those
    made before it.
    """
    due = utc_now() - timedelta(seconds=5) + timedelta(milliseconds=next(_MADE))
    given = {"transcript_state": TranscriptState.WAITING, "next_at": due, "transcriber": HOST}
    recording = make_recording(form, session_key, **given | changed)
    db.session.commit()
    return str(recording.id)


def make_answered(form: Any, session_key: str = "k" * 24, **changed: Any) -> str:
    """The same of one that an answer without words has."""
    make_answer(form, session_key)
    recording = make_waiting(form, session_key, **changed)
    answer_with(recording, session_key)
    return recording


def answer_with(recording_id: str, session_key: str, text: str = "") -> str:
    """Give the recording to the current answer of its question, which then has this text."""
    recording = db.session.get_one(Recording, recording_id, populate_existing=True)
    session = db.session.scalars(
        select(ResponseSession).where(ResponseSession.key_hash == token_hash(session_key))
    ).one()
    answer_id = session.answered[recording.question_id]
    spoken = {"answer_text": text, "response_type": ResponseType.VOICE}
    db.session.execute(update(Answer).where(Answer.id == answer_id).values(spoken))
    recording.session_id, recording.answer_id = session.id, answer_id
    db.session.commit()
    return answer_id


def claimed_at(clock: Clock) -> transcripts.Claimed:
    """The oldest that waits."""
    found = transcripts.claim(now=clock.now)
    assert found
    return found


def stored(recording_id: str) -> Recording:
    """The row as it is."""
    db.session.rollback()
    return db.session.get_one(Recording, recording_id, populate_existing=True)


def state_of(recording_id: str) -> tuple[str, int, datetime | None]:
    """State, attempts, and when the next step is due."""
    found = stored(recording_id)
    return found.transcript_state, found.attempts, found.next_at
