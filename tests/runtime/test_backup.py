"""Backup of the whole database into one file, and restore."""

import sqlite3
from contextlib import closing
from importlib.metadata import version
from pathlib import Path

import psycopg
import pytest
from click.testing import CliRunner, Result

from tests.command import askback
from tests.databases import both_empty_databases
from tests.runtime.installations import Installation, next_version
from tests.services import free_port
from tests.webapp.test_cli import running
from webapp.app import backup_sqlite
from webapp.app.cli import main
from webapp.base.data_folder import lock_folder


@both_empty_databases
def test_a_restore_restores_the_backup(installation: Installation, tmp_path: Path) -> None:
    file = tmp_path / "backup"
    assert installation("backup", str(file)).exit_code == 0
    installation.add("bob@example.com")

    restored = installation("restore", "--yes", str(file))

    assert (restored.exit_code, restored.stderr) == (0, "")
    assert [installation.knows(name) for name in ("ann@example.com", "bob@example.com")] == [
        True,
        False,
    ]


@both_empty_databases
def test_a_backup_is_for_its_owner_alone_and_overwrites_nothing(
    installation: Installation, tmp_path: Path
) -> None:
    file = tmp_path / "backup"
    installation("backup", str(file))
    written = file.read_bytes()

    again = installation("backup", str(file))

    assert file.stat().st_mode & 0o777 == 0o600
    assert (again.exit_code, file.read_bytes()) == (1, written)


@both_empty_databases
def test_a_backup_of_an_earlier_version_is_restored(
    installation: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "backup"
    assert installation("backup", str(file)).exit_code == 0
    next_version(tmp_path, monkeypatch)
    assert installation("migrate").exit_code == 0
    installation.add("bob@example.com")

    restored = installation("restore", "--yes", str(file))

    assert (restored.exit_code, restored.stderr) == (0, "")
    assert installation.knows("ann@example.com")
    assert not installation.knows("bob@example.com")
    assert installation("doctor").exit_code == 0


@both_empty_databases
def test_a_file_that_is_no_backup_is_refused(installation: Installation, tmp_path: Path) -> None:
    file = tmp_path / "backup"
    file.write_text("something else")

    refused = installation("restore", "--yes", str(file))

    assert refused.exit_code == 1
    assert refused.stderr.startswith("Error: ")
    assert installation.knows("ann@example.com")
    assert list(installation.data.glob("*before-restore*")) == []


@pytest.mark.parametrize("empty_database_url", ["postgresql"], indirect=True)
@pytest.mark.parametrize("cut", [2_000, 20_000])
def test_a_truncated_backup_is_refused(
    installation: Installation, empty_database_url: str, tmp_path: Path, cut: int
) -> None:
    file = tmp_path / "backup"
    assert installation("backup", str(file)).exit_code == 0
    file.write_bytes(file.read_bytes()[:-cut])
    installation.add("bob@example.com")

    refused = installation("restore", "--yes", str(file))

    assert refused.exit_code == 1
    assert installation.knows("bob@example.com")
    with closing(psycopg.connect(empty_database_url.replace("+psycopg", ""))) as connection:
        assert connection.execute("SELECT count(*) FROM sign_ins").fetchone() == (0,)
    assert list(installation.data.glob("*before-restore*")) == []


@pytest.mark.parametrize("empty_database_url", ["postgresql"], indirect=True)
def test_a_database_of_another_program_is_refused(
    installation: Installation, empty_database_url: str, tmp_path: Path
) -> None:
    file = tmp_path / "backup"
    with closing(psycopg.connect(empty_database_url.replace("+psycopg", ""))) as connection:
        connection.execute("ALTER TABLE alembic_version RENAME TO something_else")
        connection.commit()
        installation("backup", str(file))
        connection.execute("ALTER TABLE something_else RENAME TO alembic_version")
        connection.commit()

    refused = installation("restore", "--yes", str(file))

    assert "is no backup of Askback" in refused.stderr
    assert installation.knows("ann@example.com")


@pytest.mark.parametrize("empty_database_url", ["postgresql"], indirect=True)
def test_a_database_in_use_is_not_replaced(
    installation: Installation, empty_database_url: str, tmp_path: Path
) -> None:
    file = tmp_path / "backup"
    installation("backup", str(file))
    installation.add("bob@example.com")

    with closing(psycopg.connect(empty_database_url.replace("+psycopg", ""))):
        refused = installation("restore", "--yes", str(file))

    assert refused.exit_code == 1
    assert "in use, by others (1). Stop all servers first." in refused.stderr
    assert installation.knows("bob@example.com")


@both_empty_databases
def test_a_backup_of_a_newer_version_is_refused(tmp_path: Path, installation: Installation) -> None:
    file = tmp_path / "backup"
    installation.says("UPDATE alembic_version SET version_num = '9' || version_num")
    installation("backup", str(file))
    installation.says("UPDATE alembic_version SET version_num = substr(version_num, 2)")

    refused = installation("restore", "--yes", str(file))

    assert f"comes from a newer Askback ({version('askback')})" in refused.stderr
    assert_nothing_was_replaced(installation, refused)


@both_empty_databases
def test_a_backup_of_another_program_with_our_revision_is_refused(
    tmp_path: Path, installation: Installation
) -> None:
    file = tmp_path / "backup"
    installation.says("ALTER TABLE handovers RENAME TO cabbages")
    installation("backup", str(file))
    installation.says("ALTER TABLE cabbages RENAME TO handovers")

    refused = installation("restore", "--yes", str(file))

    assert "is no backup of Askback: its table handovers lacks" in refused.stderr
    assert_nothing_was_replaced(installation, refused)


@both_empty_databases
def test_a_backup_without_a_description_is_refused(
    tmp_path: Path, installation: Installation
) -> None:
    file = tmp_path / "backup"
    installation.back_up_plainly(file)

    refused = installation("restore", "--yes", str(file))

    assert "is no backup of Askback" in refused.stderr
    assert refused.stderr.endswith("and then by: askback migrate\n")
    assert_nothing_was_replaced(installation, refused)


@both_empty_databases
@pytest.mark.parametrize("broken", [b'"rows"; {', b'"rowz": {'])
def test_a_backup_with_an_unreadable_description_is_refused(
    tmp_path: Path, installation: Installation, broken: bytes
) -> None:
    file = tmp_path / "backup"
    installation("backup", str(file))
    whole = file.read_bytes()
    file.write_bytes(whole.replace(b'"rows": {', broken))

    refused = installation("restore", "--yes", str(file))

    assert "is damaged: what it says about itself cannot be read." in refused.stderr
    assert_nothing_was_replaced(installation, refused)


def assert_nothing_was_replaced(installation: Installation, refused: Result) -> None:
    assert refused.exit_code == 1
    assert installation.knows("ann@example.com")
    left = [path.name for path in installation.data.iterdir()]
    assert [name for name in left if "restore" in name or "arriving" in name] == []


def test_a_reader_of_the_old_database_stops_a_restore(
    tmp_path: Path,
    installation: Installation,
    empty_database_url: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It holds on to the log, in which the last writes are and nowhere else."""
    monkeypatch.setattr(backup_sqlite, "BUSY_SECONDS", 0.5)
    file, database = tmp_path / "backup", Path(empty_database_url.removeprefix("sqlite:///"))
    installation("backup", str(file))
    with closing(sqlite3.connect(database)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM accounts").fetchone()
        installation.add("bob@example.com")
        log = database.with_name(f"{database.name}-wal").read_bytes()

        refused = installation("restore", "--yes", str(file))

        assert "is in use by another program" in refused.stderr
        assert database.with_name(f"{database.name}-wal").read_bytes() == log
    assert_nothing_was_replaced(installation, refused)
    assert installation.knows("bob@example.com")


def test_a_database_that_cannot_be_backed_up_is_not_replaced(
    tmp_path: Path, installation: Installation, empty_database_url: str
) -> None:
    file, database = tmp_path / "backup", Path(empty_database_url.removeprefix("sqlite:///"))
    installation("backup", str(file))
    with database.open("r+b") as damaged:
        damaged.seek(5 * 4096)
        damaged.write(b"x" * 4096)

    refused = installation("restore", "--yes", str(file))

    assert "cannot be kept, so nothing was replaced." in refused.stderr
    assert list(database.parent.glob("*before-restore*")) == []


@both_empty_databases
def test_the_replaced_database_can_be_restored(tmp_path: Path, installation: Installation) -> None:
    file = tmp_path / "backup"
    installation("backup", str(file))
    installation.add("bob@example.com")
    kept = kept_by(installation("restore", "--yes", str(file)))
    gone = not installation.knows("bob@example.com")

    assert installation("restore", "--yes", str(kept)).exit_code == 0
    assert (gone, installation.knows("bob@example.com")) == (True, True)
    assert kept.stat().st_mode & 0o777 == 0o600


def kept_by(restored: Result) -> Path:
    output = restored.stdout.removeprefix("What was there before is kept as ")
    return Path(output.removesuffix(".\n"))


@both_empty_databases
def test_a_restore_makes_a_database_where_there_is_none(
    tmp_path: Path, installation: Installation, empty_database_url: str
) -> None:
    file = tmp_path / "backup"
    installation("backup", str(file))
    if empty_database_url.startswith("sqlite"):
        Path(empty_database_url.removeprefix("sqlite:///")).unlink()
    else:
        installation.says("DROP SCHEMA public CASCADE", "CREATE SCHEMA public")

    assert installation("restore", "--yes", str(file)).stdout == "The database was made.\n"
    assert installation.knows("ann@example.com")


def test_the_replaced_database_is_kept(tmp_path: Path, installation: Installation) -> None:
    file = tmp_path / "backup"
    installation("backup", str(file))

    output = installation("restore", "--yes", str(file))

    with sqlite3.connect(kept_by(output)) as connection:
        assert connection.execute("SELECT email FROM accounts").fetchall() == [("ann@example.com",)]
    connection.close()


def test_without_confirmation_nothing_is_restored(
    tmp_path: Path, installation: Installation
) -> None:
    installation("backup", str(tmp_path / "backup"))

    asked = installation("restore", str(tmp_path / "backup"))

    assert asked.exit_code == 1
    assert "Replace the database" in asked.stdout


def test_a_running_server_keeps_its_database(tmp_path: Path, installation: Installation) -> None:
    installation("backup", str(tmp_path / "backup"))
    with lock_folder(installation.data, "http://127.0.0.1:8000"):
        refused = installation("restore", "--yes", str(tmp_path / "backup"))

    assert refused.exit_code == 78


def test_a_backup_can_be_taken_beside_a_running_server(tmp_path: Path) -> None:
    data, file = tmp_path / "data", tmp_path / "backup"
    with running(data, free_port()):
        taken = askback("backup", str(file), ASKBACK_DATA=str(data))

    assert taken.returncode == 0
    with sqlite3.connect(file) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


@both_empty_databases
def test_the_doctor_finds_nothing_wrong(installation: Installation) -> None:
    report = installation("doctor")

    assert [line for line in report.stdout.splitlines() if not line.startswith("ok  ")] == []
    assert report.exit_code == 0


def test_the_doctor_names_what_to_change(tmp_path: Path) -> None:
    runner = CliRunner(env={"ASKBACK_DATA": str(tmp_path), "PUBLIC_URL": "https://ask.example.org"})
    tmp_path.chmod(0o755)

    report = runner.invoke(main, ["doctor"])

    wrong = [line for line in report.stdout.splitlines() if line.startswith("!!  ")]
    assert report.exit_code == 1
    assert [line.split(": ")[0] for line in wrong] == [
        f"!!  data folder {tmp_path}",
        "!!  sqlite",
        "!!  trusted proxy",
        "!!  operator named on /privacy",
    ]
