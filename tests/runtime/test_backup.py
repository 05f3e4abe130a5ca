"""Backup of everything that is stored into one file, and restore."""

import json
import secrets
import shutil
from collections.abc import Callable
from contextlib import ExitStack, closing
from importlib.metadata import version
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import psycopg
import pytest
from click.testing import Result
from sqlalchemy import select

from tests.databases import both_empty_databases
from tests.factories import make_account, make_form, make_response
from tests.runtime.installations import Installation, next_version
from tests.services import postgresql_database
from tests.voice.factories import make_recording
from webapp.answers.trash import delete_response
from webapp.base.data_folder import lock_folder
from webapp.base.database import db, utc_now
from webapp.records.responses.models import ResponseSession
from webapp.voice.audio_store import audio_store

on_postgresql = pytest.mark.parametrize("empty_database_url", ["postgresql"], indirect=True)
WORDS = b"recorded words, " * 50_000
Record = Callable[..., str]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "backup"


@pytest.fixture
def record(installation: Installation, tmp_path: Path) -> Record:
    """Stores a recording with its object; returns the key."""

    def store(content: bytes = WORDS) -> str:
        (tmp_path / "uploaded").write_bytes(content)
        with installation.database():
            form = make_form(make_account().id)
            key: str = make_recording(form, secrets.token_urlsafe(24)).object_key
            audio_store().put(key, tmp_path / "uploaded")
            db.session.commit()
        return key

    return store


@pytest.fixture
def recordings(installation: Installation) -> Path:
    return installation.data / "recordings"


def done(command: Result) -> str:
    assert (command.exit_code, command.stderr) == (0, "")
    return command.stdout


def kept_by(restored: str) -> Path:
    return Path(restored.removeprefix("What was there before is kept as ").removesuffix(".\n"))


def assert_refused(installation: Installation, file: Path, names: str = "") -> None:
    """In one line, with nothing replaced and nothing left behind."""
    installation.add("bob@example.com")
    refused = installation("restore", "--yes", str(file))
    assert (refused.exit_code, len(refused.stderr.splitlines())) == (1, 1), refused.output
    assert names in refused.stderr
    assert installation.knows("ann@example.com")
    assert installation.knows("bob@example.com")
    assert list(installation.data.glob("*before-restore*")) == []


@both_empty_databases
def test_a_restore_replaces_everything_and_keeps_what_was_there(
    installation: Installation, file: Path, recordings: Path, record: Record
) -> None:
    keys = record(), record(b"x")
    done(installation("backup", str(file)))
    installation.add("bob@example.com")
    later = record()
    shutil.rmtree(recordings / keys[0].partition("/")[0])

    kept = kept_by(done(installation("restore", "--yes", str(file))))

    assert installation.knows("ann@example.com")
    assert not installation.knows("bob@example.com")
    assert [(recordings / key).read_bytes() for key in keys] == [WORDS, b"x"]
    assert (recordings / keys[0]).stat().st_mode & 0o777 == 0o600
    assert list((installation.data / "spool").iterdir()) == []
    assert "recordings: 2\n" in installation("doctor").stdout.replace(f" in {recordings}", "")

    shutil.rmtree(recordings)
    done(installation("restore", "--yes", str(kept)))
    assert installation.knows("bob@example.com")
    assert (recordings / later).read_bytes() == WORDS
    assert [each.stat().st_mode & 0o777 for each in (file, kept)] == [0o600, 0o600]


@both_empty_databases
def test_a_backup_is_restored_on_the_other_database(
    installation: Installation,
    file: Path,
    record: Record,
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    """Everything, and in a schema that counts on: a further backup has the same rows."""
    record()
    with installation.database():
        form = make_form(make_account().id)
        make_response(form)
        response_id = db.session.scalars(select(ResponseSession.id)).one()
        delete_response(form.account_id, form.id, response_id, now=utc_now())
    done(installation("backup", str(file)))
    with ExitStack() as kept:
        url = f"sqlite:///{tmp_path}/other.sqlite3"
        if installation.database_url.startswith("sqlite"):
            server = request.getfixturevalue("postgresql_url")
            url = kept.enter_context(postgresql_database(server))
        other = Installation(tmp_path / "other", url)

        assert done(other("restore", "--yes", str(file))) == "The database was made.\n"
        done(other("backup", str(tmp_path / "again")))
        assert other.knows("ann@example.com")
        assert other("doctor").exit_code == 0
    before, after = rows_of(file), rows_of(tmp_path / "again")
    before["audit_events"] = after["audit_events"] = []  # both commands are noted there
    assert before == after
    assert before["answers"]
    assert before["recordings"]


def rows_of(file: Path) -> dict[str, list[Any]]:
    with ZipFile(file) as archive:
        tables = json.loads(archive.read(MANIFEST))["tables"]
        return {each: sorted(archive.read(f"tables/{each}.jsonl").splitlines()) for each in tables}


def test_a_backup_overwrites_nothing(installation: Installation, file: Path) -> None:
    done(installation("backup", str(file)))
    written = file.read_bytes()

    assert installation("backup", str(file)).exit_code == 1
    assert file.read_bytes() == written
    assert list(file.parent.glob("*.part")) == []


@both_empty_databases
def test_a_backup_of_an_earlier_version_is_restored(
    installation: Installation, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done(installation("backup", str(file)))
    next_version(tmp_path, monkeypatch)
    assert installation("migrate").exit_code == 0
    installation.add("bob@example.com")

    done(installation("restore", "--yes", str(file)))

    assert installation.knows("ann@example.com")
    assert not installation.knows("bob@example.com")
    assert installation("doctor").exit_code == 0


# --- Recordings ---


def test_recordings_that_are_not_found_are_counted(
    installation: Installation, record: Record, recordings: Path, file: Path
) -> None:
    kept, lost = record(), record()
    (recordings / lost).unlink()

    noted = done(installation("backup", str(file)))
    shutil.rmtree(recordings)
    done(installation("restore", "--yes", str(file)))

    assert noted.endswith(f"not found in {recordings} and are not included: 1.\n")
    assert (recordings / kept).exists()


def test_recordings_that_cannot_be_stored_replace_nothing(
    installation: Installation, record: Record, recordings: Path, file: Path
) -> None:
    record()
    done(installation("backup", str(file)))
    shutil.rmtree(recordings)
    recordings.write_text("a file")

    assert_refused(installation, file, "cannot be stored in")


# --- Refused ---

Members = dict[str, bytes]
MANIFEST, ACCOUNTS = "manifest.json", "tables/accounts.jsonl"


def said(**changed: Any) -> Callable[[Members], None]:
    """The manifest says something else; of the table of accounts where it is `accounts`."""

    def edit(members: Members) -> None:
        manifest = json.loads(members[MANIFEST])
        if "accounts" in changed:
            manifest["tables"]["accounts"] = changed["accounts"](*manifest["tables"]["accounts"])
        else:
            manifest |= changed
        members[MANIFEST] = json.dumps(manifest).encode()

    return edit


def another_table(members: Members) -> None:
    tables = json.loads(members[MANIFEST])["tables"] | {"sqlite_master": (["sql"], 1)}
    said(tables=tables)(members)
    members["tables/sqlite_master.jsonl"] = b'["CREATE VIEW"]\n'


def no_accounts(members: Members) -> None:
    """Other rows name them."""
    said(accounts=lambda columns, _: (columns, 0))(members)
    members[ACCOUNTS] = b""


NOT_AS_IT_SAYS: dict[str, tuple[str, Callable[[Members], Any]]] = {
    "no manifest": ("does not say what is in it", lambda members: members.pop(MANIFEST)),
    "a newer revision": (version("askback"), said(revision="9999")),
    "other rows": ("has 1 rows, not 2", said(accounts=lambda columns, _: (columns, 2))),
    "a column more": ("accounts.x", said(accounts=lambda columns, n: ([*columns, "x"], n))),
    "a table more": ("sqlite_master.sql", another_table),
    "a path": ("other files", lambda members: members.update({"recordings/../../x.webm": b""})),
    "a table that is missing": ("other files", lambda members: members.pop(ACCOUNTS)),
    "rows that others name are missing": ("", no_accounts),
}


@both_empty_databases
def test_a_backup_that_is_not_as_it_says_is_refused(installation: Installation, file: Path) -> None:
    assert installation.knows("ann@example.com")  # by a token, whose rows name the account
    done(installation("backup", str(file)))
    with ZipFile(file) as archive:
        whole = {name: archive.read(name) for name in archive.namelist()}
    for names, edit in NOT_AS_IT_SAYS.values():
        members = dict(whole)
        edit(members)
        with ZipFile(file, "w") as archive:
            for name, content in members.items():
                archive.writestr(name, content)

        refused = installation("restore", "--yes", str(file))
        assert (refused.exit_code, names in refused.stderr) == (1, True), refused.output
    assert_refused(installation, file)


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content[: len(content) // 2],
        lambda content: content.replace(b"these words", b"other words"),
    ],
    ids=["cut off", "other bytes"],
)
def test_a_damaged_file_is_refused(
    installation: Installation,
    file: Path,
    record: Record,
    recordings: Path,
    damage: Callable[[bytes], bytes],
) -> None:
    key = record(b"these words")
    done(installation("backup", str(file)))
    file.write_bytes(damage(file.read_bytes()))

    assert_refused(installation, file, "is damaged, or no backup of Askback")
    assert (recordings / key).read_bytes() == b"these words"


@on_postgresql
def test_a_database_in_use_is_not_replaced(
    installation: Installation, empty_database_url: str, file: Path
) -> None:
    done(installation("backup", str(file)))
    with closing(psycopg.connect(empty_database_url.replace("+psycopg", ""))):
        assert_refused(installation, file, "in use, by others (1). Stop all servers first.")


def test_a_running_server_keeps_its_database(installation: Installation, file: Path) -> None:
    done(installation("backup", str(file)))
    with lock_folder(installation.data, "http://127.0.0.1:8000"):
        assert installation("restore", "--yes", str(file)).exit_code == 78


def test_a_damaged_database_is_not_replaced(
    installation: Installation, empty_database_url: str, file: Path
) -> None:
    done(installation("backup", str(file)))
    database = Path(empty_database_url.removeprefix("sqlite:///"))
    with database.open("r+b") as damaged:
        damaged.seek(5 * 4096)
        damaged.write(b"x" * 4096)
    written = database.read_bytes()

    refused = installation("restore", "--yes", str(file))

    assert "move it away together with its -wal" in refused.stderr
    assert database.read_bytes() == written
    assert list(installation.data.glob("*before-restore*")) == []
