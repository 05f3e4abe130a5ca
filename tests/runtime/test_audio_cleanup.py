"""What is withdrawn, replaced, emptied or never claimed of recordings is erased soon."""

import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from tests.conftest import Clock
from tests.databases import both_databases
from tests.factories import make_account, make_answer, make_form
from tests.voice.factories import make_recording
from webapp.answers import answering
from webapp.answers.trash import delete_form, erase_form, purge_deleted
from webapp.app import background
from webapp.app.background import background_work, erase_noted, erase_spooled, erase_unreferenced
from webapp.app.doctor import examine_recordings
from webapp.base.config import Settings
from webapp.base.data_folder import SPOOLED_SECONDS, spool_folder
from webapp.base.database import db, utc_now
from webapp.oauth.account_deletion import delete_account, purge_deleted_accounts
from webapp.records.responses.models import Answer
from webapp.records.responses.recordings import Recording
from webapp.voice.audio_store import AudioStore, AudioStoreUnavailable, audio_store
from webapp.voice.uploads import noted_objects, purge_unclaimed, read_backlog

pytestmark = pytest.mark.usefixtures("app_context", "no_recordings")

KEY = "k" * 32


@pytest.fixture
def no_recordings(settings: Settings) -> Iterator[None]:
    """In the data folder, before and after."""
    shutil.rmtree(settings.data_folder / "recordings", ignore_errors=True)
    yield
    shutil.rmtree(settings.data_folder / "recordings", ignore_errors=True)


@pytest.fixture
def form(app_context: None) -> Any:
    return make_form(make_account().id)


@pytest.fixture
def recorded(form: Any, tmp_path: Path) -> Callable[..., Recording]:
    """A recording with its object, unclaimed."""

    def record(session_key: str = KEY, **changed: Any) -> Recording:
        made = make_recording(form, session_key, **changed)
        put(made.object_key, tmp_path)
        db.session.commit()
        return made

    return record


@pytest.fixture
def claimed(form: Any, recorded: Callable[..., Recording]) -> Callable[..., Recording]:
    """A recording with its object, of the answer to the first question."""

    def record() -> Recording:
        make_answer(form, KEY)
        answer = db.session.query(Answer).one()
        return recorded(answer_id=answer.id, session_id=answer.session_id)

    return record


def put(key: str, folder: Path) -> None:
    (folder / "uploaded").write_bytes(b"what was said")
    audio_store().put(key, folder / "uploaded")


def stored() -> list[str]:
    return [each.key for each in audio_store().list_objects()]


def erase() -> int:
    return sum(erase_noted(utc_now()))


def grow_old(key: str, age: timedelta) -> None:
    path = Path(audio_store().place) / key
    then = (utc_now() - age).timestamp()
    os.utime(path, (then, then))


def withdraw(form: Any) -> None:
    answering.withdraw_response(form.share_token, KEY, now=utc_now())


def empty_trash(form: Any) -> None:
    delete_form(form.account_id, form.id, now=utc_now() - timedelta(days=31))
    assert (erase(), len(stored())) == (0, 1)
    list(purge_deleted(utc_now()))


def end_account(form: Any) -> None:
    delete_account(form.account_id, now=utc_now())
    list(purge_deleted_accounts(utc_now()))


@both_databases
@pytest.mark.parametrize("delete", [withdraw, empty_trash, end_account])
def test_recordings_go_with_what_they_belong_to(
    form: Any, claimed: Callable[..., Recording], delete: Callable[[Any], None]
) -> None:
    claimed()
    assert (erase(), len(stored())) == (0, 1)

    delete(form)

    assert (erase(), stored(), noted_objects()) == (1, [], [])


def test_an_erasure_that_failed_is_done_later(
    form: Any, claimed: Callable[..., Recording], monkeypatch: pytest.MonkeyPatch
) -> None:
    claimed()
    answering.withdraw_response(form.share_token, KEY, now=utc_now())

    def fail(*_: object) -> None:
        raise AudioStoreUnavailable("away")

    with monkeypatch.context() as away:
        away.setattr(type(audio_store()), "delete", fail)
        with pytest.raises(AudioStoreUnavailable):
            erase()
        assert len(noted_objects()) == 1

    assert (erase(), stored()) == (1, [])


def test_an_erasure_that_was_killed_halfway_is_done_again(
    form: Any, claimed: Callable[..., Recording]
) -> None:
    gone = claimed().object_key
    answering.withdraw_response(form.share_token, KEY, now=utc_now())
    audio_store().delete([gone])

    assert (erase(), noted_objects()) == (1, [])


@both_databases
def test_unclaimed_recordings_go_after_an_hour(
    recorded: Callable[..., Recording], clock: Clock
) -> None:
    old, young = (
        recorded(created_at=clock.now - timedelta(minutes=61)),
        recorded(created_at=clock.now - timedelta(minutes=59)),
    )
    keys = old.object_key, young.object_key

    assert sum(purge_unclaimed(clock.now)) == 1

    assert (erase(), stored()) == (1, [keys[1]])


def test_a_claimed_recording_stays_however_old(
    claimed: Callable[..., Recording], clock: Clock
) -> None:
    claimed()

    assert sum(purge_unclaimed(clock.now + timedelta(days=400))) == 0


@both_databases
def test_objects_without_a_row_go_after_a_day(
    recorded: Callable[..., Recording], tmp_path: Path
) -> None:
    kept = recorded().object_key
    for key, age in ((kept, 400), ("frm_x/old.webm", 25), ("frm_x/young.webm", 23)):
        if key != kept:
            put(key, tmp_path)
        grow_old(key, timedelta(hours=age))
    (Path(audio_store().place) / f"{kept}#1").write_bytes(b"half of a killed upload")
    grow_old(f"{kept}#1", timedelta(hours=25))

    assert sum(erase_unreferenced(utc_now())) == 2

    assert sorted(stored()) == sorted([kept, "frm_x/young.webm"])


def test_a_server_erases_in_the_background(
    app: Flask, form: Any, claimed: Callable[..., Recording], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "STORE_SECONDS", 0.02)
    claimed()
    answering.withdraw_response(form.share_token, KEY, now=utc_now())
    db.session.remove()

    with background_work(app):
        until = time.monotonic() + 10
        while stored() and time.monotonic() < until:
            time.sleep(0.02)

    assert stored() == []
    assert purge_unclaimed in background.EXPIRIES
    assert background.ERASE_SECONDS <= 30
    assert {
        background.ERASE_SECONDS: (erase_noted,),
        background.PURGE_SECONDS: (erase_unreferenced, erase_spooled),
    } == background.ERASURES


def test_a_store_that_hangs_delays_nothing_else(
    app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    purged, hangs = threading.Event(), threading.Event()

    def hang(_now: datetime) -> Any:
        hangs.wait(10)
        return iter(())

    def purge(_now: datetime) -> Any:
        purged.set()
        return iter(())

    monkeypatch.setattr(background, "STORE_SECONDS", 0.02)
    monkeypatch.setattr(background, "ERASURES", {1.0: (hang,)})
    monkeypatch.setattr(background, "PURGES", (purge,))
    with background_work(app):
        assert purged.wait(5)
    hangs.set()


@pytest.mark.parametrize("gives_up", ["form", "account"])
def test_what_a_creator_gives_up_for_good_is_gone_within_a_minute(
    app: Flask,
    form: Any,
    claimed: Callable[..., Recording],
    monkeypatch: pytest.MonkeyPatch,
    gives_up: str,
) -> None:
    monkeypatch.setattr(background, "STORE_SECONDS", 0.02)
    monkeypatch.setattr(background, "ERASE_SECONDS", 0.1)
    monkeypatch.setattr(background, "ERASURES", {0.1: (erase_noted,)})
    claimed()
    account_id, form_id = form.account_id, form.id
    delete_form(account_id, form_id, now=utc_now())
    db.session.remove()

    with background_work(app):
        time.sleep(0.5)
        assert len(stored()) == 1
        if gives_up == "form":
            erase_form(account_id, form_id, now=utc_now())
        else:
            delete_account(account_id, now=utc_now())
        until = time.monotonic() + 10
        while stored() and time.monotonic() < until:
            time.sleep(0.02)

    assert stored() == []


def test_copies_of_killed_processes_are_erased(app: Flask, settings: Settings) -> None:
    copy = spool_folder(settings.data_folder) / "copy"
    copy.write_bytes(b"what was said")
    then = time.time() - SPOOLED_SECONDS - 1
    os.utime(copy, (then, then))

    list(erase_spooled(utc_now()))

    assert not copy.exists()


def findings(settings: Settings) -> dict[str, bool]:
    return {found.what: found.fine for found in examine_recordings(settings, utc_now())}


def test_doctor_counts_recordings_without_object(
    settings: Settings, recorded: Callable[..., Recording]
) -> None:
    recorded()
    place = audio_store().place
    assert findings(settings)[f"recordings in {place}: 1"]
    lost = recorded()

    audio_store().delete([lost.object_key])

    told = f"recordings in {place}: 2, 1 of them without what was recorded"
    assert findings(settings)[told] is False


def test_doctor_tells_of_recordings_that_are_not_erased(
    settings: Settings, form: Any, claimed: Callable[..., Recording]
) -> None:
    claimed()
    assert findings(settings)["recordings to erase: 0"]
    answering.withdraw_response(form.share_token, KEY, now=utc_now())
    ((told, fine),) = [each for each in findings(settings).items() if "erase: 1" in each[0]]
    assert (fine, ", the oldest for " in told) == (True, True)
    assert read_backlog().objects == 1


def test_doctor_tells_of_a_store_that_does_not_answer(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: AudioStore) -> Any:
        raise AudioStoreUnavailable("it is away")

    monkeypatch.setattr(type(audio_store()), "list_objects", fail)

    assert findings(settings)[f"recordings in {audio_store().place}: it is away"] is False


def test_doctor_tells_when_people_are_asked_to_type(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audio_store(), "_free_bytes", 2**60)

    ((told, fine),) = [each for each in findings(settings).items() if "stay free" in each[0]]

    assert (fine, told.endswith("people are told to type")) == (False, True)
