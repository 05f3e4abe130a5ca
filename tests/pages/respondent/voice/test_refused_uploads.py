"""Recordings that are refused, or not kept because store, disk or child is away."""

import errno
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask

from tests.pages.respondent.voice.conftest import CHECKED, Speaker, kept, objects
from tests.pages.respondent_client import box, set_columns, stored
from tests.voice import audio_files
from tests.voice.audio_files import recording
from webapp.base.database import db
from webapp.base.errors import StateConflict
from webapp.pages.respondent import recordings
from webapp.records.forms import Form
from webapp.records.responses.recordings import ObjectDeletion
from webapp.voice import audio_inspection, uploads
from webapp.voice.audio_store import AudioStoreUnavailable, FolderStore
from webapp.voice.child_process import ChildBusy, Clients
from webapp.web import form_body_limits


def raising(error: Exception) -> Any:
    def fail(*_: object, **__: object) -> None:
        raise error

    return fail


def no_store(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(FolderStore, "put", raising(AudioStoreUnavailable("gone")))


def no_child(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(audio_inspection, "inspect", raising(ChildBusy("all busy")))


def full_disk(patch: pytest.MonkeyPatch) -> None:
    class Full:
        name = "/nowhere"
        write = seek = raising(OSError(errno.ENOSPC, "No space left on device"))

        def close(self) -> None: ...

    patch.setattr(form_body_limits, "NamedTemporaryFile", lambda **_: Full())


NOT_KEPT = "Your recording could not be kept here just now. Nothing you typed is lost."
NO_ROOM = "This server has no room for recordings just now. Nothing you typed is lost."
AWAY = [
    *((each, 503, NOT_KEPT) for each in (no_store, no_child)),
    (full_disk, 422, NO_ROOM),
]


@pytest.mark.parametrize(("away", "status", "words"), AWAY)
def test_a_recording_that_is_not_kept_says_so_and_typing_goes_on(
    app: Flask,
    speaker: Speaker,
    monkeypatch: pytest.MonkeyPatch,
    away: Any,
    status: int,
    words: str,
) -> None:
    with monkeypatch.context() as patch:
        away(patch)
        page = speaker.upload(answer="My words")

        assert page.status_code == status
        assert words in page.text
        assert ("Retry-After" in page.headers) == (status == 503)
        assert box(page) == "My words"
        assert kept(app) == []
    assert CHECKED.search(speaker.upload().text)
    assert speaker.answer(1, box(page)).status_code == 200
    assert stored(app) == (1, 1)


def test_files_take_turns_by_the_network_that_sends_them(
    speaker: Speaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    busy = Clients(wait_seconds=0.05)
    monkeypatch.setattr(recordings, "_AT_ONCE", busy)

    with busy.turn("127.0.0.1"):
        page = speaker.upload(answer="My words")
        assert (page.status_code, box(page)) == (503, "My words")
        assert speaker.upload(environ_overrides={"REMOTE_ADDR": "10.0.0.2"}).status_code == 200


def test_a_refused_row_leaves_no_object(
    app: Flask, speaker: Speaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The form closes between the look at it and the row."""
    before = objects(app)
    closed = StateConflict("form_closed", "Closed", "Copy it")  # type: ignore[arg-type]
    monkeypatch.setattr(uploads, "add_recording", raising(closed))

    speaker.upload()

    assert objects(app) == before


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """How many connections are taken while a recording waits, is stored, read and erased."""
    found: dict[str, int] = {}

    def noted(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            found[name] = db.engine.pool.checkedout()  # type: ignore[attr-defined]
            return real(*arguments, **named)

        return call

    monkeypatch.setattr(audio_inspection, "inspect", noted("looked at", audio_inspection.inspect))
    monkeypatch.setattr(Clients, "turn", noted("waited", Clients.turn))
    monkeypatch.setattr(FolderStore, "delete", noted("erased", FolderStore.delete))
    monkeypatch.setattr(FolderStore, "put", noted("stored", FolderStore.put))
    monkeypatch.setattr(FolderStore, "read", noted("read", FolderStore.read))
    return found


def test_no_connection_is_held_meanwhile(
    app: Flask, speaker: Speaker, held: dict[str, int]
) -> None:
    with app.app_context():
        db.session.add(ObjectDeletion(object_key="frm_a/gone.webm", noted_at=1))
        db.session.commit()
    speaker.upload()
    speaker.go_on(1)
    [row] = kept(app)
    with app.app_context():
        db.session.remove()

    played = speaker.client.get(f"/r/{speaker.share_token}/recordings/{row.id}")

    assert len(played.data) == row.size
    assert held == {"waited": 0, "looked at": 0, "erased": 0, "stored": 0, "read": 0}


WEBM = recording()
UNTOUCHED = pytest.mark.usefixtures("untouched")
BAD = {
    "no file": b"",
    "text": b"Dear Sir or Madam, " * 100,
    "right magic, then junk": WEBM[:64] + b"\xa5" * 20_000,
    "too long": audio_files.stretched_webm(),
}


@pytest.fixture
def untouched(app: Flask) -> Any:
    before = objects(app)
    yield
    assert objects(app) == before
    assert kept(app) == []
    assert stored(app) == (0, 0)


@UNTOUCHED
@pytest.mark.parametrize("name", BAD)
def test_it_is_refused_and_the_words_stay(speaker: Speaker, name: str) -> None:
    page = speaker.upload(file=BAD[name], answer="My words")

    assert page.status_code == 422
    assert box(page) == "My words"
    assert 'role="alert"' in page.text
    assert 'type="file" id="audio"' in page.text
    assert 'aria-describedby="audio-error audio-hint" aria-invalid="true"' in page.text
    assert 'id="audio-error"' in page.text


@UNTOUCHED
def test_more_than_25_mib_are_refused_before_anybody_looks(
    speaker: Speaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audio_inspection, "child", None)
    monkeypatch.setattr(uploads, "RECORDING_MAX_BYTES", len(WEBM) - 1)

    page = speaker.upload(lang="es", answer="Ay")

    assert page.status_code == 422
    assert "La grabación ocupa más de 25 MiB." in page.text
    assert box(page) == "Ay"


@UNTOUCHED
def test_a_form_that_records_nothing_takes_none(app: Flask, speaker: Speaker) -> None:
    set_columns(app, Form, records_voice=False)

    page = speaker.upload(answer="My words")

    assert page.status_code == 422
    assert box(page) == "My words"
    assert "This form takes no recordings." in page.text
    assert 'type="file"' not in page.text
