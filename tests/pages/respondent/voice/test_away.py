"""Audio store, disk or child is away: the page holds the words, and says what is lost."""

import errno
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from tests.pages.respondent.voice.conftest import CHECKED, Speaker, kept, objects
from tests.pages.respondent_client import box, hidden, storage_away, stored
from webapp.domain.shared.errors import StateConflict
from webapp.integrations import audio_inspection
from webapp.integrations.audio_inspection import AudioBusy
from webapp.integrations.audio_store import AudioStoreUnavailable, FolderStore
from webapp.integrations.child_process import Clients
from webapp.pages.respondent import recordings
from webapp.web import form_body_limits


def raising(error: Exception) -> Any:
    def fail(*_: object, **__: object) -> None:
        raise error

    return fail


def no_store(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(FolderStore, "put", raising(AudioStoreUnavailable("gone")))


def no_room_known(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(FolderStore, "has_room", raising(AudioStoreUnavailable("gone")))


def no_child(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(recordings, "inspect", raising(AudioBusy("all busy")))


def full_disk(patch: pytest.MonkeyPatch) -> None:
    class Full:
        name = "/nowhere"
        write = seek = raising(OSError(errno.ENOSPC, "No space left on device"))

        def close(self) -> None: ...

    patch.setattr(form_body_limits, "NamedTemporaryFile", lambda **_: Full())


def no_folder(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(form_body_limits, "spool_folder", raising(OSError(errno.EROFS, "Read-only")))


@pytest.mark.parametrize("away", [no_store, no_room_known, no_child, full_disk, no_folder])
def test_the_words_stay_and_the_recording_is_to_be_chosen_again(
    app: Flask, speaker: Speaker, monkeypatch: pytest.MonkeyPatch, away: Any
) -> None:
    with monkeypatch.context() as patch:
        away(patch)
        page = speaker.upload(answer="My words")

    assert page.status_code == 503
    assert box(page) == "My words"
    assert "It is not saved: choose it once more." in page.text
    assert kept(app) == []
    assert CHECKED.search(speaker.upload(answer=box(page)).text)
    assert len(kept(app)) == 1


def test_files_take_turns_by_the_network_that_sends_them(
    speaker: Speaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    busy = Clients(wait_seconds=0.05)
    monkeypatch.setattr(recordings, "_AT_ONCE", busy)

    with busy.turn("127.0.0.1"):
        page = speaker.upload(answer="My words")
        assert (page.status_code, box(page)) == (503, "My words")
        assert speaker.upload(environ_overrides={"REMOTE_ADDR": "10.0.0.2"}).status_code == 200


def test_a_database_that_is_away_holds_the_page_too(app: Flask, speaker: Speaker) -> None:
    with storage_away(app):
        page = speaker.upload(answer="My words")

    assert page.status_code == 503
    assert box(page) == "My words"
    assert 'type="file"' in page.text


def test_typed_answers_go_on(app: Flask, speaker: Speaker, monkeypatch: pytest.MonkeyPatch) -> None:
    no_store(monkeypatch)

    assert speaker.answer(1, "Typed").status_code == 200
    assert stored(app) == (1, 1)


def test_a_refused_row_leaves_no_object(
    app: Flask, speaker: Speaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The form closes between the look at it and the row."""
    before = objects(app)
    closed = StateConflict("form_closed", "Closed", "Copy it")  # type: ignore[arg-type]
    monkeypatch.setattr(recordings, "add_recording", raising(closed))

    speaker.upload()

    assert objects(app) == before


def test_nothing_of_an_upload_stays_in_the_data_folder(app: Flask, speaker: Speaker) -> None:
    speaker.upload()
    speaker.upload(file=b"text")

    folder: Path = app.config["SETTINGS"].data_folder
    assert list((folder / "spool").iterdir()) == []


def test_a_store_that_is_away_while_it_is_played_is_told(
    speaker: Speaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    speaker.upload()
    held = CHECKED.search(speaker.page.text)
    assert held
    monkeypatch.setattr(FolderStore, "read", raising(AudioStoreUnavailable("gone")))

    sent = {"session": hidden(speaker.page)["session"]}
    where = f"/r/{speaker.share_token}/recordings/{held[1]}"
    page = speaker.client.post(where, data=sent)

    assert page.status_code == 503


def test_no_child_is_started_for_what_is_no_audio(
    speaker: Speaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audio_inspection, "child", None)

    assert speaker.upload(file=b"text").status_code == 422
