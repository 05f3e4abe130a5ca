"""The provided servers are real and this suite never leaves the machine."""

import shutil
import socket
import subprocess
from pathlib import Path

import psycopg
import pytest

from tests import services


def libpq(url: str) -> str:
    return url.replace("postgresql+psycopg", "postgresql")


def test_postgresql_syncs_each_commit_to_disk(postgresql_url: str) -> None:
    with psycopg.connect(libpq(postgresql_url)) as connection:
        shown = {
            name: connection.execute(f"SHOW {name}").fetchone()
            for name in ("fsync", "synchronous_commit", "full_page_writes")
        }

    assert set(shown.values()) == {("on",)}


def test_the_postgresql_of_the_wheel_runs_too() -> None:
    with services._server_folder("wheel") as (folder, user):
        programs = services._programs_of_the_wheel(folder, user)
        with (
            services._postgresql(programs, folder, user) as url,
            psycopg.connect(libpq(url)) as connection,
        ):
            assert connection.execute("SELECT 1").fetchone() == (1,)


def test_node_is_new_enough_for_the_protocol_clients(node: Path) -> None:
    script = "process.stdout.write(process.versions.node)"
    shown = subprocess.run(
        [node / "node", "-e", script], capture_output=True, text=True, check=True
    )

    assert int(shown.stdout.split(".")[0]) >= 22


def test_a_connection_to_another_machine_is_refused() -> None:
    with socket.socket() as opened, pytest.raises(RuntimeError, match="opened a connection"):
        opened.connect(("192.0.2.1", 80))


def test_a_missing_server_fails_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(services, "find_spec", lambda name: None)

    with pytest.raises(pytest.fail.Exception, match="apt-get install redis-server"):
        services._redis_program()
