"""An answer is on the disk before it is acknowledged."""

import secrets
import signal
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import event, text

from tests.databases import both_databases, on_postgresql
from tests.factories import make_account, make_form, make_response
from tests.proof.loaded import Server
from tests.services import install_with_apt, missing, on_path
from webapp.base.database import db

ANSWERS = 100


@contextmanager
def settings_at_each_commit(app: Flask) -> Iterator[list[Any]]:
    """What the database promises about syncing on the connection of each commit."""
    promised: list[Any] = []
    with app.app_context():
        engine = db.engine
    question = "PRAGMA synchronous" if engine.dialect.name == "sqlite" else _POSTGRESQL

    def ask(connection: Any) -> None:
        promised.append(connection.execute(text(question)).scalar_one())

    def ask_lone_statement(connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if statement.split()[0] in {"INSERT", "UPDATE", "WITH"} and commits_itself(connection):
            ask(connection)

    event.listen(engine, "commit", ask)
    event.listen(engine, "before_cursor_execute", ask_lone_statement)
    try:
        yield promised
    finally:
        event.remove(engine, "commit", ask)
        event.remove(engine, "before_cursor_execute", ask_lone_statement)


def commits_itself(connection: Any) -> bool:
    return bool(connection.get_execution_options().get("isolation_level") == "AUTOCOMMIT")


_POSTGRESQL = """SELECT string_agg(setting, ' ' ORDER BY name) FROM pg_settings
    WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit')"""


@both_databases
def test_every_commit_is_made_with_full_syncing(app: Flask) -> None:
    with settings_at_each_commit(app) as promised, app.app_context():
        make_response(make_form(make_account().id))

    assert len(promised) >= 4
    assert set(promised) <= {2, "on on on"}


@on_postgresql
@pytest.mark.prove
def test_postgresql_syncs_its_log_for_every_answer(app: Flask) -> None:
    with app.app_context():
        form = make_form(make_account().id)
        before = log_syncs()
        for _ in range(ANSWERS // 2):
            make_response(form)
        after = log_syncs()

    assert after - before >= ANSWERS


def log_syncs() -> int:
    """How often PostgreSQL has synced its log, as told after its counters were collected."""
    db.session.remove()
    db.engine.dispose()
    with db.engine.connect() as connection:
        connection.execute(text("SELECT pg_sleep(1)"))
        return int(connection.execute(text("SELECT wal_sync FROM pg_stat_wal")).scalar_one())


@pytest.mark.prove
def test_sqlite_syncs_before_every_acknowledgement(tmp_path: Path) -> None:
    server = Server(f"sqlite:///{tmp_path}/askback.sqlite3", tmp_path)
    path = f"/r/{server.share_token}/q/1"

    with traced(server, tmp_path / "trace"):
        statuses = [
            server.post(
                path,
                server.new_session(server.share_token),
                answer_key=secrets.token_urlsafe(16),
                answer="Me",
            )
            for _ in range(ANSWERS)
        ]

    assert statuses == [303] * ANSWERS
    assert syncs_before_answers(tmp_path / "trace").count(0) == 0
    assert len(syncs_before_answers(tmp_path / "trace")) == ANSWERS


def traced(server: Server, trace: Path, *options: str) -> AbstractContextManager[Any]:
    """A server whose syncs and sent bytes are written down in the order they happen.

    options  further ones of strace, which alone would not let its server go
    """
    traces = "trace=fsync,fdatasync,sendto,sendmsg,write,writev"  # servers differ in how they send
    calls = ("-f", "-q", "-s", "16", "-e", traces, "-o", str(trace))
    return server.up(_strace(), *options, *calls, end=signal.SIGTERM)


def _strace() -> str:
    if on_path("strace") is None:
        install_with_apt("strace")
    return on_path("strace") or missing("strace", "Install it: apt-get install strace")


def syncs_before_answers(trace: Path) -> list[int]:
    """For each 303 that was sent: how many syncs ended since the one before."""
    counts, syncs = [], 0
    for line in trace.read_bytes().splitlines():
        if b"sync" in line and line.rstrip().endswith(b"= 0"):
            syncs += 1
        if b'"HTTP/1.1 303' in line:
            counts.append(syncs)
            syncs = 0
    return counts
