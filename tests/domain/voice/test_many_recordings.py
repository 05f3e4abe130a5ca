"""What one respondent does costs the same, however many recordings others have."""

import secrets
from functools import partial
from typing import Any

import pytest

from tests.bulk import copy_rows
from tests.query_plans import steps_of
from tests.voice.factories import make_recording, make_spoken_answer, make_voice_form
from webapp.database import db, utc_now
from webapp.domain.respondents.answering import answer_question, skip_question
from webapp.domain.respondents.public_form import read_progress
from webapp.domain.responses.recordings import Recording
from webapp.domain.voice.transcripts import release_expired
from webapp.domain.voice.uploads import add_recording, find_recording

ROWS = 3000


def use_cases(form: Any) -> dict[str, Any]:
    key = secrets.token_urlsafe(24)
    recording = make_recording(form, key)
    db.session.commit()
    respondent = (form.share_token, key)
    answer = {"answer_text": "Me", "answer_key": "render-1", "recording_id": recording.id}
    upload = {"upload_key": f"u-{key}", "object_key": f"o-{key}", "media_type": "audio/webm"}
    measured = {"size": 1, "duration_ms": 1}
    here: dict[str, Any] = {"position": 0, "now": utc_now()}
    return {
        "progress": partial(read_progress, *respondent),
        "one": partial(find_recording, *respondent, recording.id),
        "upload": partial(add_recording, *respondent, **upload, **measured, **here),
        "answer": partial(answer_question, *respondent, **answer, **here),
        "skip": partial(skip_question, *respondent, **here),
        "leases": partial(release_expired, now=utc_now()),
    }


@pytest.mark.usefixtures("app_context")
@pytest.mark.parametrize("make", [make_spoken_answer, make_recording])
def test_recordings_of_others_cost_nothing(make: Any) -> None:
    form = make_voice_form()
    few = {name: steps_of(call) for name, call in use_cases(form).items()}
    one = make(form, secrets.token_urlsafe(24))
    if make is make_recording:
        few["upload"] += 9 * ROWS  # counts the unclaimed ones, which are bounded
    new: dict[str, Any] = {
        name: f"{name}-{{}}".format for name in ("id", "key_hash", "upload_key", "object_key")
    }
    copy_rows(Recording.__table__, one.id, ROWS, **new)

    many = {name: steps_of(call) for name, call in use_cases(form).items()}

    assert {name: steps for name, steps in many.items() if steps > few[name] + ROWS} == {}
