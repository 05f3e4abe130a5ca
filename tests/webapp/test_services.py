"""The provided servers are real and this suite never leaves the machine."""

import socket

import psycopg
import pytest


def libpq(url: str) -> str:
    return url.replace("postgresql+psycopg", "postgresql")


def test_postgresql_syncs_each_commit_to_disk(postgresql_url: str) -> None:
    with psycopg.connect(libpq(postgresql_url)) as connection:
        shown = {
            name: connection.execute(f"SHOW {name}").fetchone()
            for name in ("fsync", "synchronous_commit", "full_page_writes")
        }

    assert set(shown.values()) == {("on",)}


def test_a_connection_to_another_machine_is_refused() -> None:
    with socket.socket() as opened, pytest.raises(RuntimeError, match="opened a connection"):
        opened.connect(("192.0.2.1", 80))
