"""Recordings are found through an index, however many a form has."""

import secrets
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from sqlalchemy import update

from tests.bulk import analyze, copy_rows
from tests.databases import both_databases
from tests.query_plans import plan_of
from tests.voice.factories import make_recording, make_voice_form
from webapp.database import db, utc_now
from webapp.domain.respondents.answering import answer_question, skip_question
from webapp.domain.respondents.public_form import read_progress
from webapp.domain.responses.recordings import Recording
from webapp.domain.voice.transcripts import release_expired
from webapp.domain.voice.uploads import add_recording, find_recording

KEY = "a" * 32
ROWS = 500
ONE_SESSION = ("key_hash", "(id=?)", "pk_recordings", "(answer_id=?)", "answer_id")

pytestmark = [both_databases, pytest.mark.usefixtures("app_context")]


@pytest.fixture(params=["fresh", "analyzed"])
def form(app_context: None, request: pytest.FixtureRequest) -> Any:
    """Its first question has many recordings, each of a session of its own."""
    form = make_voice_form()
    one = make_recording(form, secrets.token_urlsafe(24))
    new: dict[str, Any] = {
        name: f"{name}-{{}}".format for name in ("id", "key_hash", "upload_key", "object_key")
    }
    copy_rows(Recording.__table__, one.id, ROWS, **new)
    if request.param == "analyzed":
        analyze()
    return form


def use_cases(form: Any) -> dict[str, Any]:
    recording = make_recording(form, KEY)
    db.session.commit()
    respondent = (form.share_token, KEY)
    answer = {"answer_text": "Me", "answer_key": "render-1", "recording_id": recording.id}
    upload = {"upload_key": "u", "object_key": "o", "media_type": "audio/webm"}
    measured = {"size": 1, "duration_ms": 1}
    here: dict[str, Any] = {"position": 0, "now": utc_now()}
    return {
        "progress": partial(read_progress, *respondent),
        "one": partial(find_recording, *respondent, recording.id),
        "answer": partial(answer_question, *respondent, **answer, **here),
        "upload": partial(add_recording, *respondent, **upload, **measured, **here),
        "skip": partial(skip_question, *respondent, **here),
    }


def test_the_recordings_of_a_session_are_found_through_an_index(form: Any) -> None:
    plans = {name: plan_of(call) for name, call in use_cases(form).items()}

    read = {name: [step for step in plan if "recordings" in step] for name, plan in plans.items()}
    assert all(read.values())
    others = [step for steps in read.values() for step in steps if not of_one_session(step)]
    assert others == [], plans


@pytest.mark.parametrize("form", ["analyzed"], indirect=True)
def test_leases_that_ended_are_found_among_what_is_due(form: Any) -> None:
    db.session.execute(update(Recording).values(next_at=utc_now() + timedelta(days=1)))
    db.session.commit()

    plan = plan_of(partial(release_expired, now=utc_now()))

    assert any("ix_recordings_due" in step for step in plan), plan


def of_one_session(step: str) -> bool:
    """Whether a step writes, or reads the recordings of one session or one answer."""
    writes = step.startswith(("ModifyTable", "LockRows"))
    return writes or any(part in step for part in ONE_SESSION)
