"""Backups that hold more than data, or not what they say: nothing of them is restored or run."""

import io
import json
import secrets
import sqlite3
import subprocess
import tarfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from click.testing import Result

from tests.databases import both_empty_databases
from tests.runtime.installations import Installation
from tests.runtime.test_backup import assert_nothing_was_replaced
from tests.services import copy_database, postgresql_database

Members = dict[str, bytes]


def most_are_slow(first: str, cases: Iterable[str]) -> pytest.MarkDecorator:
    """One case with all tests, the others with the long ones."""
    slow = [pytest.param(each, marks=pytest.mark.slow) for each in cases if each != first]
    return pytest.mark.parametrize("what", [first, *slow])


on_postgresql = pytest.mark.parametrize("empty_database_url", ["postgresql"], indirect=True)
# what runs in PostgreSQL leaves a file
RUNS = (
    "CREATE FUNCTION runs() RETURNS {} LANGUAGE plpgsql AS "
    "$$ BEGIN COPY (SELECT 1) TO '{ran}'; RETURN {}; END $$"
)
TRIGGERED = RUNS.replace("{}", "trigger", 1).replace("{}", "NEW")
COMPUTED = RUNS.replace("{}", "int", 1).replace("{}", "1")
EVENT = RUNS.replace("{}", "event_trigger", 1).replace("RETURN {};", "")
FOREIGN = "CREATE FOREIGN DATA WRAPPER w; CREATE SERVER s FOREIGN DATA WRAPPER w"
ANY_EXTENSION = (
    "DO $$ BEGIN EXECUTE 'CREATE EXTENSION ' || (SELECT quote_ident(name) FROM"
    " pg_available_extensions WHERE installed_version IS NULL AND name <> 'plpython3u'"
    " ORDER BY name LIMIT 1); END $$"
)
OF_POSTGRESQL = {
    "view": ["CREATE VIEW seen AS SELECT * FROM accounts"],
    "materialized view": ["CREATE MATERIALIZED VIEW seen AS SELECT * FROM accounts"],
    "rule": ["CREATE RULE no AS ON DELETE TO answers DO INSTEAD NOTHING"],
    "function": [COMPUTED],
    "trigger": [
        TRIGGERED,
        "CREATE TRIGGER t BEFORE INSERT ON accounts FOR EACH ROW EXECUTE FUNCTION runs()",
    ],
    "event trigger": [EVENT, "CREATE EVENT TRIGGER e ON ddl_command_start EXECUTE FUNCTION runs()"],
    "extension": [ANY_EXTENSION],
    "generated column": [
        "ALTER TABLE accounts ADD COLUMN upper text GENERATED ALWAYS AS (upper(email)) STORED"
    ],
    "column": ["ALTER TABLE accounts ADD COLUMN upper text"],
    "foreign table": [FOREIGN, "CREATE FOREIGN TABLE f (x int) SERVER s"],
    "schema": ["CREATE SCHEMA beside"],
    "table": ["CREATE TABLE beside (x int)"],
    "table of another schema": ["CREATE SCHEMA b", "CREATE TABLE b.accounts (x int)"],
    "policy": ["CREATE POLICY p ON accounts USING (false)"],
    "row security": ["ALTER TABLE accounts ENABLE ROW LEVEL SECURITY"],
    "domain": ["CREATE DOMAIN d AS text"],
    "large object": ["SELECT lo_create(0)"],
}
OF_SQLITE = {
    "trigger": "CREATE TRIGGER t AFTER INSERT ON audit_events BEGIN DELETE FROM accounts; END",
    "replaced trigger": "DROP TRIGGER recordings_deleted; CREATE TRIGGER recordings_deleted "
    "AFTER INSERT ON audit_events BEGIN DELETE FROM accounts; END",
    "missing trigger": "DROP TRIGGER recordings_deleted",
    "view": "CREATE VIEW seen AS SELECT * FROM accounts",
    "triggered view": "CREATE VIEW seen AS SELECT 1 AS x; CREATE TRIGGER t INSTEAD OF INSERT ON "
    "seen BEGIN DELETE FROM accounts; END",
    "table": "CREATE TABLE beside (x)",
    "virtual table": "CREATE VIRTUAL TABLE beside USING rtree(id, a, b)",
    "column": "ALTER TABLE accounts ADD COLUMN upper TEXT",
    "generated column": "ALTER TABLE accounts ADD COLUMN upper AS (upper(email))",
    "default": "ALTER TABLE accounts RENAME COLUMN language TO l; "
    "ALTER TABLE accounts ADD COLUMN language VARCHAR(20) DEFAULT 'x'",
    "index of an expression": "CREATE INDEX i ON accounts (upper(email))",
    "partial index": "CREATE INDEX i ON accounts (email) WHERE abs(created_at) > 1",
    "index that refuses": "CREATE UNIQUE INDEX i ON accounts (language)",
}


@pytest.fixture
def other(
    installation: Installation, tmp_path: Path, request: pytest.FixtureRequest
) -> Iterator[Installation]:
    """One more installation with the same data, for somebody who makes a hostile backup."""
    with ExitStack() as kept:
        url = f"sqlite:///{tmp_path}/other.sqlite3"
        if not installation.database_url.startswith("sqlite"):
            server = request.getfixturevalue("postgresql_url")
            url = kept.enter_context(postgresql_database(server))
        copy_database(installation.database_url, url)
        yield Installation(tmp_path / "other", url)


def assert_nothing_was_restored(installation: Installation, refused: Result) -> None:
    assert len(refused.stderr.splitlines()) == 1, refused.output
    assert_nothing_was_replaced(installation, refused)
    assert installation.knows("bob@example.com")


@most_are_slow("trigger", OF_SQLITE)
def test_a_file_with_more_than_data_is_refused(
    installation: Installation, other: Installation, tmp_path: Path, what: str
) -> None:
    database = other.database_url.removeprefix("sqlite:///")
    with closing(sqlite3.connect(database)) as connection:
        connection.executescript(OF_SQLITE[what])
    assert other("backup", str(tmp_path / "backup")).exit_code == 0
    installation.add("bob@example.com")

    refused = installation("restore", "--yes", str(tmp_path / "backup"))

    assert_nothing_was_restored(installation, refused)
    names = "part of Askback" if "missing" not in what else "lacks the trigger"
    assert names in refused.stderr


def whole_backup(here: Installation, file: Path) -> None:
    """A backup whose dump has everything of the database, not of its schema alone."""
    url = here.database_url.replace("+psycopg", "")
    command = ["pg_dump", "--format=custom", "--no-owner", url]
    dump = subprocess.run(command, check=True, capture_output=True).stdout
    assert here("backup", str(file)).exit_code == 0
    change(file, lambda members: members.update({"database.dump": dump}))


def change(file: Path, edit: Callable[[Members], None]) -> None:
    """The same tar file with other members."""
    with tarfile.open(file) as archive:
        members = {each.name: archive.extractfile(each).read() for each in archive}  # type: ignore[union-attr]
    edit(members)
    with tarfile.open(file, "w") as archive:
        for name, content in members.items():
            described = tarfile.TarInfo(name)
            described.size = len(content)
            archive.addfile(described, io.BytesIO(content))


@on_postgresql
@most_are_slow("trigger", OF_POSTGRESQL)
def test_a_dump_with_more_than_data_is_refused(
    installation: Installation, other: Installation, tmp_path: Path, what: str
) -> None:
    ran = Path("/tmp", f"askback-ran-{secrets.token_hex(8)}")  # noqa: S108
    other.says(*(each.replace("{ran}", str(ran)) for each in OF_POSTGRESQL[what]))
    ran.unlink(missing_ok=True)
    whole_backup(other, tmp_path / "backup")
    ran.unlink(missing_ok=True)
    installation.add("bob@example.com")

    refused = installation("restore", "--yes", str(tmp_path / "backup"))

    assert_nothing_was_restored(installation, refused)
    assert "which is not part of Askback" in refused.stderr
    assert not ran.exists()


@on_postgresql
def test_no_statement_of_a_dump_is_run(
    installation: Installation, other: Installation, tmp_path: Path
) -> None:
    """What has the name of something of ours is made by us, not by the dump."""
    ran = Path("/tmp", f"askback-ran-{secrets.token_hex(8)}")  # noqa: S108
    body = f"$$ BEGIN COPY (SELECT 1) TO '{ran}'; RETURN NEW; END $$"
    other.says(
        "CREATE OR REPLACE FUNCTION note_object_deletion() RETURNS trigger LANGUAGE plpgsql "
        f"AS {body}",
        "DROP TRIGGER recordings_deleted ON recordings",
        "CREATE TRIGGER recordings_deleted BEFORE INSERT ON recordings "
        "FOR EACH ROW EXECUTE FUNCTION note_object_deletion()",
        "CREATE INDEX ix_hostile ON accounts ((lower(email)))",
        "ALTER TABLE accounts ALTER COLUMN language SET DEFAULT random()::text",
    )
    whole_backup(other, tmp_path / "backup")

    assert installation("restore", "--yes", str(tmp_path / "backup")).exit_code == 0

    url = installation.database_url.replace("+psycopg", "")
    with psycopg.connect(url) as connection:
        sources = "SELECT prosrc FROM pg_proc WHERE proname = 'note_object_deletion'"
        assert "object_deletions" in connection.execute(sources).fetchone()[0]  # type: ignore[index]
        hostile = "SELECT count(*) FROM pg_indexes WHERE indexname = 'ix_hostile'"
        assert connection.execute(hostile).fetchone() == (0,)
        triggers = "SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE tgname LIKE 'recordings_%'"
        assert "AFTER DELETE" in connection.execute(triggers).fetchone()[0]  # type: ignore[index]
    assert not ran.exists()
    assert installation.knows("ann@example.com")


def says(**changed: Any) -> Callable[[Members], None]:
    """The manifest says something else."""

    def edit(members: Members) -> None:
        manifest = json.loads(members["manifest.json"]) | changed
        members["manifest.json"] = json.dumps(manifest).encode()

    return edit


NOT_AS_IT_SAYS: dict[str, Callable[[Members], Any]] = {
    "no manifest": lambda members: members.pop("manifest.json"),
    "no JSON": lambda members: members.update({"manifest.json": b"{"}),
    "a list": lambda members: members.update({"manifest.json": b"[]"}),
    "another program": says(program="kitchen"),
    "no revision": says(revision=None),
    "another revision": says(revision="0012"),
    "a newer revision": says(revision="9999"),
    "no rows": says(rows={}),
    "other rows": says(rows={"accounts": 2}),
    "words as rows": says(rows={"accounts": "many"}),
    "recordings that are not there": says(recordings=True),
    "more members": lambda members: members.update({"recordings/frm_1/a.webm": b"x"}),
    "no dump": lambda members: members.pop("database.dump"),
    "a dump cut off": lambda members: members.update(
        {"database.dump": members["database.dump"][:9000]}
    ),
}


@on_postgresql
@most_are_slow("no manifest", NOT_AS_IT_SAYS)
def test_a_backup_that_is_not_as_it_says_is_refused(
    installation: Installation, tmp_path: Path, what: str
) -> None:
    assert installation("backup", str(tmp_path / "backup")).exit_code == 0
    change(tmp_path / "backup", NOT_AS_IT_SAYS[what])
    installation.add("bob@example.com")

    refused = installation("restore", "--yes", str(tmp_path / "backup"))

    assert_nothing_was_restored(installation, refused)


CHANGE_MARK = "UPDATE askback_backup SET mark = json_set(mark, '$.{}', {})"
MARKS = {
    "another program": CHANGE_MARK.format("program", "'kitchen'"),
    "another revision": CHANGE_MARK.format("revision", "'0012'"),
    "no rows": CHANGE_MARK.format("rows", "json('{}')"),
    "fewer rows": "DELETE FROM accounts",
}


@most_are_slow("another revision", MARKS)
def test_a_file_that_is_not_as_it_says_is_refused(
    installation: Installation, tmp_path: Path, what: str
) -> None:
    file = tmp_path / "backup"
    assert installation("backup", str(file)).exit_code == 0
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(MARKS[what])
    installation.add("bob@example.com")

    refused = installation("restore", "--yes", str(file))

    assert_nothing_was_restored(installation, refused)


@both_empty_databases
def test_the_backup_of_the_other_kind_is_refused(
    installation: Installation, tmp_path: Path
) -> None:
    file = tmp_path / "backup"
    if installation.database_url.startswith("sqlite"):
        with tarfile.open(file, "w") as archive:
            archive.addfile(tarfile.TarInfo("manifest.json"))
    else:
        sqlite = Installation(tmp_path / "sqlite", f"sqlite:///{tmp_path}/one.sqlite3")
        assert sqlite("migrate").exit_code == 0
        assert sqlite("backup", str(file)).exit_code == 0
    installation.add("bob@example.com")

    refused = installation("restore", "--yes", str(file))

    assert_nothing_was_restored(installation, refused)
    assert "is no backup of Askback" in refused.stderr
