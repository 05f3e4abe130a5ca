"""What is withdrawn, replaced, emptied or never claimed of recordings is erased soon."""

import os
import shutil
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Clock
from tests.databases import both_databases
from tests.factories import make_account, make_answer, make_form
from tests.voice.factories import make_recording
from webapp.answers import answering
from webapp.answers.trash import delete_form, purge_deleted
from webapp.app.background import erase_noted, erase_unreferenced
from webapp.app.doctor import examine_recordings
from webapp.base.config import Settings
from webapp.base.database import db, utc_now
from webapp.oauth.account_deletion import delete_account, purge_deleted_accounts
from webapp.records.responses.models import Answer
from webapp.records.responses.recordings import Recording
from webapp.voice.audio_store import AudioStoreUnavailable, audio_store
from webapp.voice.uploads import noted_objects, purge_unclaimed

pytestmark = pytest.mark.usefixtures("app_context", "no_recordings")

KEY = "k" * 32
WITHOUT = "without what was recorded"


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


def test_unclaimed_recordings_go_after_an_hour(
    recorded: Callable[..., Recording], claimed: Callable[..., Recording], clock: Clock
) -> None:
    kept = claimed().object_key
    recorded(created_at=clock.now - timedelta(minutes=61))
    young = recorded(created_at=clock.now - timedelta(minutes=59)).object_key

    assert sum(purge_unclaimed(clock.now)) == 1
    assert (erase(), sorted(stored())) == (1, sorted([young, kept]))
    assert sum(purge_unclaimed(clock.now + timedelta(days=400))) == 1


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


def findings(settings: Settings) -> dict[str, bool]:
    return {found.what: found.fine for found in examine_recordings(settings, utc_now())}


def test_the_doctor_names_what_is_lost(
    settings: Settings,
    recorded: Callable[..., Recording],
) -> None:
    recorded()
    place = audio_store().place
    before = findings(settings)
    assert before[f"recordings in {place}: 1"]
    assert before["recordings to erase: 0"]

    audio_store().delete([recorded().object_key])
    assert not findings(settings)[f"recordings in {place}: 2, 1 of them {WITHOUT}"]
