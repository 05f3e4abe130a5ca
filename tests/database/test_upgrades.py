"""Programs beside a schema that another version made, and starts on a disk without room."""

import json
import os
import subprocess
from importlib.metadata import version
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import NullPool, create_engine, text

from tests.command import DATA_KEYS, PROGRAM, ROOT, askback, environment
from tests.databases import both_empty_databases
from tests.proof.loaded import Server
from tests.services import free_port
from tests.webapp.test_cli import running
from webapp.app.cli import main
from webapp.base.database import schema

NEEDED = "install Askback 9.9.9 or newer"
FUTURE = (
    "UPDATE alembic_version SET version_num = '9999'",
    "DELETE FROM schema_marks",
    "INSERT INTO schema_marks VALUES ('9999', '{}', '9.9.9')",
)


def make_newer(database_url: str, serves: str) -> None:
    """As a later version leaves the schema that serves programs from a revision on."""
    engine = create_engine(database_url, poolclass=NullPool)
    with engine.begin() as connection:
        for statement in FUTURE:
            connection.execute(text(statement.format(serves)))


@pytest.fixture
def variables(empty_database_url: str, tmp_path: Path) -> dict[str, str]:
    """Of a migrated database."""
    here = {
        "DATABASE_URL": empty_database_url,
        "ASKBACK_DATA": str(tmp_path / "data"),
        "PORT": str(free_port()),
    }
    assert CliRunner(env=here).invoke(main, ["migrate"]).exit_code == 0
    return here


@both_empty_databases
def test_a_newer_schema_is_refused_with_the_version_it_needs(
    variables: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "backup").touch()
    make_newer(variables["DATABASE_URL"], serves="9998")
    here = CliRunner(env=variables)

    for command in (["migrate"], ["doctor"], ["restore", "--yes", str(tmp_path / "backup")]):
        assert_told(here.invoke(main, command))


@pytest.mark.parametrize(
    ("command", "empty_database_url"),
    [("run", "sqlite"), ("web", "postgresql")],
    indirect=["empty_database_url"],
)
def test_a_start_on_a_newer_schema_is_refused(
    command: str, variables: dict[str, str], redis_url: str
) -> None:
    make_newer(variables["DATABASE_URL"], serves="9998")
    production = {
        "REDIS_URL": redis_url,
        "SECRET_KEY": "kX3vQ9wLz7Bn2Rt5Yh8Mj4Gf6Pd1Sc0Ae",
        "DATA_KEYS": DATA_KEYS,
        "PUBLIC_URL": f"http://127.0.0.1:{variables['PORT']}",
    }

    refused = askback(command, **variables, **(production if command == "web" else {}))

    assert (refused.returncode, NEEDED in refused.stderr) == (78, True)


def assert_told(refused: Result) -> None:
    assert (refused.exit_code, refused.stdout) == (78, "")
    assert f"({version('askback')}); {NEEDED}" in refused.stderr
    assert len(refused.stderr.splitlines()) == 1


@both_empty_databases
def test_programs_stay_ready_alongside_a_newer_schema_that_serves_them(
    empty_database_url: str, tmp_path: Path
) -> None:
    server = Server(empty_database_url, tmp_path)
    with server.up():
        make_newer(empty_database_url, serves=str(schema.newest()))
        served = server.call("GET", "/readyz")
        assert server.call("GET", f"/r/{server.share_token}")[0] == 200
        make_newer(empty_database_url, serves="9998")
        status, body, _ = server.call("GET", "/readyz")

    assert served[0] == 200
    assert (status, NEEDED in json.loads(body)["database"]) == (503, True)


def test_a_program_starts_on_a_newer_schema_that_serves_it(
    variables: dict[str, str], tmp_path: Path
) -> None:
    make_newer(variables["DATABASE_URL"], serves="0028")
    others = {name: variables[name] for name in ("DATABASE_URL",)}

    with running(tmp_path / "data", int(variables["PORT"]), **others) as server:
        assert server.poll() is None


def small_disk(folder: Path, size: str) -> tuple[str, ...]:
    """What to put before a command so that `place` is a disk of `size` to it, and to it alone."""
    mount = 'mount -t tmpfs -o "size=$1,mode=700" tmpfs "$2" && shift 2 && exec "$@"'
    folder.mkdir()
    private = ["unshare", "--mount"] + ([] if os.getuid() == 0 else ["--map-root-user"])
    return (*private, "sh", "-c", mount, "-", size, str(folder))


@pytest.mark.parametrize("size", ["60k", "300k"])
def test_a_start_on_a_full_disk_says_so_in_one_line(tmp_path: Path, size: str) -> None:
    on_it = small_disk(tmp_path / "disk", size)
    variables = {"ASKBACK_DATA": str(tmp_path / "disk" / "data"), "PORT": str(free_port())}
    ended = subprocess.run(
        [*on_it, *PROGRAM, "run"],
        cwd=ROOT,
        env=environment(variables),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert (ended.returncode, ended.stdout) == (75, "")
    assert ended.stderr.startswith("The disk is full")
    assert len(ended.stderr.splitlines()) == 1
