"""A backup holds the recordings of the folder, and a restore brings them back."""

import secrets
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import Result
from flask import Flask

from tests.databases import both_empty_databases
from tests.factories import make_account, make_form
from tests.runtime.installations import PASSWORD, Installation
from tests.voice.factories import make_recording
from webapp.app.factory import create_app
from webapp.base.config import Settings
from webapp.base.database import db
from webapp.voice.audio_store import audio_store

WORDS = b"recorded words, " * 50_000  # more than is held at once
Record = Callable[..., str]


@pytest.fixture
def app(installation: Installation) -> Flask:
    """Of this process, on the installation."""
    return create_app(
        Settings(
            public_url="http://127.0.0.1:8000",
            secret_key=PASSWORD * 2,
            database_url=installation.database_url,
            data_folder=installation.data,
        )
    )


@pytest.fixture
def record(app: Flask, tmp_path: Path) -> Record:
    """Stores a recording with its object; returns the key."""

    def store(content: bytes = WORDS) -> str:
        (tmp_path / "uploaded").write_bytes(content)
        with app.app_context():
            form = make_form(make_account().id)
            key: str = make_recording(form, secrets.token_urlsafe(24)).object_key
            audio_store().put(key, tmp_path / "uploaded")
            db.session.commit()
            db.session.remove()
            db.engine.dispose()
        return key

    return store


@pytest.fixture
def recordings(installation: Installation) -> Path:
    return installation.data / "recordings"


def done(command: Result) -> str:
    assert command.exit_code == 0, command.output
    return command.stdout


@both_empty_databases
def test_recordings_are_brought_back_byte_for_byte(
    installation: Installation, record: Record, recordings: Path, tmp_path: Path
) -> None:
    keys = record(), record(b"x")
    done(installation("backup", str(tmp_path / "backup")))
    shutil.rmtree(recordings)

    done(installation("restore", "--yes", str(tmp_path / "backup")))

    assert [(recordings / key).read_bytes() for key in keys] == [WORDS, b"x"]
    assert (recordings / keys[0]).stat().st_mode & 0o777 == 0o600
    assert "recordings: 2\n" in installation("doctor").stdout.replace(f" in {recordings}", "")
    assert list((installation.data / "spool").iterdir()) == []


@both_empty_databases
def test_what_was_recorded_since_is_kept_with_the_replaced_database(
    installation: Installation, record: Record, recordings: Path, tmp_path: Path
) -> None:
    done(installation("backup", str(tmp_path / "backup")))
    key = record()
    told = done(installation("restore", "--yes", str(tmp_path / "backup")))
    kept = told.removeprefix("What was there before is kept as ").removesuffix(".\n")
    shutil.rmtree(recordings)

    done(installation("restore", "--yes", kept))

    assert (recordings / key).read_bytes() == WORDS


def test_the_database_does_not_keep_the_room_of_recordings(
    installation: Installation, record: Record, empty_database_url: str, tmp_path: Path
) -> None:
    record(secrets.token_bytes(4 * 1024**2))
    done(installation("backup", str(tmp_path / "backup")))

    done(installation("restore", "--yes", str(tmp_path / "backup")))

    database = Path(empty_database_url.removeprefix("sqlite:///"))
    assert database.stat().st_size < 4 * 1024**2 < (tmp_path / "backup").stat().st_size
    with closing(sqlite3.connect(database)) as connection:
        tables = connection.execute("SELECT name FROM sqlite_master WHERE name LIKE 'askback%'")
        assert tables.fetchall() == []


@both_empty_databases
def test_a_backup_whose_recordings_are_damaged_is_refused(
    installation: Installation, record: Record, recordings: Path, tmp_path: Path
) -> None:
    file = tmp_path / "backup"
    key = record(b"these words")
    done(installation("backup", str(file)))
    file.write_bytes(file.read_bytes().replace(b"these words", b"other words"))
    installation.add("bob@example.com")

    refused = installation("restore", "--yes", str(file))

    assert refused.exit_code == 1
    assert f"is damaged: the recording {key} is not what it was." in refused.stderr
    assert installation.knows("bob@example.com")
    assert (recordings / key).read_bytes() == b"these words"


@pytest.mark.parametrize("empty_database_url", ["postgresql"], indirect=True)
def test_a_backup_cut_off_in_its_recordings_is_refused(
    installation: Installation, record: Record, tmp_path: Path
) -> None:
    file = tmp_path / "backup"
    record()
    done(installation("backup", str(file)))
    file.write_bytes(file.read_bytes()[: -len(WORDS) // 2])

    refused = installation("restore", "--yes", str(file))

    assert (refused.exit_code, "is damaged" in refused.stderr) == (1, True)
    assert list(installation.data.glob("*before-restore*")) == []


@both_empty_databases
def test_recordings_that_are_lost_are_told(
    installation: Installation, record: Record, recordings: Path, tmp_path: Path
) -> None:
    kept, lost = record(), record()
    (recordings / lost).unlink()

    told = done(installation("backup", str(tmp_path / "backup")))
    shutil.rmtree(recordings)
    done(installation("restore", "--yes", str(tmp_path / "backup")))

    assert told.endswith(f"not found in {recordings} and are not included: 1.\n")
    assert (recordings / kept).exists()


@both_empty_databases
def test_a_bucket_is_named_as_not_included(
    installation: Installation, record: Record, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record()
    monkeypatch.setenv("AUDIO_STORE", "s3://askback-recordings/production")

    told = done(installation("backup", str(tmp_path / "backup")))

    assert told.endswith("not included: back up s3://askback-recordings/production by itself.\n")
    assert (tmp_path / "backup").stat().st_size < len(WORDS)


def test_recordings_that_cannot_be_stored_replace_nothing(
    installation: Installation, record: Record, recordings: Path, tmp_path: Path
) -> None:
    record()
    done(installation("backup", str(tmp_path / "backup")))
    installation.add("bob@example.com")
    shutil.rmtree(recordings)
    recordings.write_text("a file")

    refused = installation("restore", "--yes", str(tmp_path / "backup"))

    assert (refused.exit_code, "cannot be stored in" in refused.stderr) == (1, True)
    assert installation.knows("bob@example.com")
