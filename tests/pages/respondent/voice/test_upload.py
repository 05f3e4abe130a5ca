"""Uploading a recording: it is stored once, beside the words, and the answer claims it."""

import re
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import delete, select

from tests.pages.respondent.voice.conftest import CHECKED, Speaker, kept, new_key, objects
from tests.pages.respondent_client import HTMX, box, heading, hidden, set_columns, stored
from tests.voice.audio_files import MEDIA_TYPES, recording
from webapp.base.database import db
from webapp.base.vocabulary import ResponseType
from webapp.records.forms import Form
from webapp.records.responses.models import Answer
from webapp.records.responses.recordings import Recording
from webapp.voice import audio_inspection
from webapp.voice.audio_inspection import inspect
from webapp.voice.audio_store import audio_store
from webapp.web.form_body_limits import UPLOAD_FILES_MAX

UNREADABLE = "This page was not sent as it was made."


@pytest.fixture(autouse=True)
def no_objects(app: Flask) -> None:
    with app.app_context():
        audio_store().delete([each.key for each in audio_store().list_objects()])


@pytest.mark.parametrize("name", ["webm", "mp3"])
def test_a_recording_becomes_part_of_an_answer_and_its_type_length_and_name_are_ours(
    app: Flask, speaker: Speaker, name: str
) -> None:
    page = speaker.upload(file=recording(name), name="../../evil.html", answer="My words")

    assert (page.status_code, heading(page), box(page)) == (200, "Who changed it?", "My words")
    [row] = kept(app)
    assert CHECKED.findall(page.text) == [row.id]
    assert (stored(app), objects(app)) == ((0, 0), {row.object_key})
    assert (row.media_type, row.size) == (MEDIA_TYPES[name], len(recording(name)))
    assert 900 <= row.duration_ms <= 1200
    assert re.fullmatch(rf"{row.form_id}/\w{{32}}\.\w{{3,4}}", row.object_key)
    with app.app_context():
        assert b"".join(audio_store().read(row.object_key, 0, row.size)) == recording(name)

    assert heading(speaker.go_on(1)) == "What went wrong?"
    with app.app_context():
        [answer] = db.session.scalars(select(Answer))
    assert [row.answer_id for row in kept(app)] == [answer.id]
    assert (answer.answer_text, answer.response_type) == ("", ResponseType.VOICE)


def test_the_address_that_sent_it_is_kept_as_a_keyed_hash(
    app: Flask, form: Any, speaker: Speaker
) -> None:
    page = speaker.page
    for address in ("2001:db8:1:2::3", "2001:db8:1:2::4", "2001:db8:1:3::3"):
        own = Speaker(app.test_client(), form.share_token, page)
        own.upload(recording_key=new_key(), environ_overrides={"REMOTE_ADDR": address})

    first, again, other = (row.address_hash or "" for row in kept(app))
    assert first == again != other
    known = sha256(b"2001:db8:1:2::/64").hexdigest()
    assert re.fullmatch("[0-9a-f]{64}", first)
    assert first != known


def test_a_recording_that_had_to_go_is_said_and_made_again(app: Flask, speaker: Speaker) -> None:
    speaker.upload(answer="My words")
    with app.app_context():
        db.session.execute(delete(Recording))
        db.session.commit()

    looked = speaker.post("/q/1/transcript", answer="My words", recording="att_1")
    page = speaker.go_on(1, "My words", recording="att_1")

    for each in (looked, page):
        assert (each.status_code, box(each)) == (422, "My words")
        assert "your recording is not on the server any more" in each.text
    assert stored(app) == (0, 0)
    speaker.upload(answer="My words")
    assert heading(speaker.go_on(1, "My words")) == "What went wrong?"


def test_the_same_upload_stores_nothing_and_another_takes_its_place(
    app: Flask, speaker: Speaker
) -> None:
    key = new_key()
    speaker.upload(recording_key=key)
    [first] = kept(app)
    page = speaker.upload(file=recording("ogg", "tone"), recording_key=key)
    assert objects(app) == {row.object_key for row in kept(app)} == {first.object_key}
    assert CHECKED.findall(page.text) == [first.id]

    speaker.upload(file=recording("ogg", "tone"))
    newest = kept(app)[-1]
    speaker.open("/q/2")
    assert CHECKED.findall(speaker.open("/q/1").text) == [newest.id]

    speaker.go_on(1)

    assert [row.id for row in kept(app)] == [newest.id]


def test_scripts_get_the_recorder_alone(app: Flask, speaker: Speaker) -> None:
    part = speaker.upload(answer="My words", headers=HTMX)

    assert part.text.lstrip().startswith('<div id="recorder">')
    assert "My words" not in part.text
    assert CHECKED.findall(part.text) == [kept(app)[0].id]
    again = speaker.upload(headers=HTMX, recording_key=hidden(part)["recording_key"])
    pages = (speaker.page, part, again)
    assert len({hidden(page)["recording_key"] for page in pages}) == 3
    assert "HX-Retarget" not in part.headers
    refused = speaker.upload(file=b"text", headers=HTMX, recording_key=new_key())
    assert (refused.status_code, refused.text.lstrip()[:19]) == (422, '<div id="recorder">')
    set_columns(app, Form, status="closed")
    page = speaker.upload(answer="My words", headers=HTMX)  # takes the place of the question
    assert (page.status_code, page.headers["HX-Retarget"]) == (410, "#main")
    assert "My words" in page.text


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"audio": "memo.m4a"}, "The recording you chose is not added yet."),
        ({"recording": "att_000000000000000000000000"}, "Please add or record it once more"),
        ({"recording": "att_\0"}, UNREADABLE),
    ],
    ids=str,
)
def test_a_recording_that_is_not_there_is_no_answer(
    app: Flask, speaker: Speaker, fields: dict[str, str], said: str
) -> None:
    page = speaker.post("/q/1", answer="My words", **fields)

    assert page.status_code == 422
    assert said in page.text
    assert (box(page) == "My words") == (said != UNREADABLE)
    assert stored(app) == (0, 0)
    assert speaker.upload(recording_key="short").status_code == 422
    assert kept(app) == []


def test_many_files_of_one_request_take_few_descriptors(
    app: Flask, speaker: Speaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored: list[int] = []

    def counted(path: Path, *arguments: Any, **named: Any) -> int:
        stored.append(len(list(path.parent.iterdir())))
        return inspect(path, *arguments, **named)

    monkeypatch.setattr(audio_inspection, "inspect", counted)
    speaker.upload(**{f"extra{number}": (BytesIO(b"x"), "b.webm") for number in range(80)})

    assert stored == [UPLOAD_FILES_MAX]
    assert len(kept(app)) == 1


@pytest.mark.settings(limit_upload_session="2/minute")
def test_uploads_have_a_limit_of_their_own(app: Flask, speaker: Speaker) -> None:
    for _ in range(2):
        assert speaker.upload().status_code == 200
    held = speaker.upload(answer="My words")

    assert held.status_code == 429
    assert box(held) == "My words"
    assert 'type="file"' in held.text
    assert 'enctype="multipart/form-data"' in held.text
    assert speaker.go_on(1, "Typed").status_code == 200


def test_skipping_does_not_lose_a_recording_that_no_answer_has(
    app: Flask, speaker: Speaker
) -> None:
    speaker.upload()
    [row] = kept(app)

    page = speaker.post("/q/1/skip", answer="", recording=row.id)

    assert page.status_code == 422
    assert "Continue sends it. To skip the question, leave it out first." in page.text
    assert CHECKED.findall(page.text) == [row.id]
    assert stored(app) == (0, 0)

    assert heading(speaker.swap("/q/1/skip", answer="", recording=row.id)) == "What went wrong?"
    assert kept(app) == []
