"""Typed answers beside four people who upload recordings, of which one is always written down.

Each uploads 3 MB a second, in a process beside. The answers are those of sixteen people, as fast as
they get the next page, and a tenth of a second after it, which leaves the server idle now and then.
"""

import json
import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from statistics import median

import pytest
from flask import Flask
from sqlalchemy import delete, func, select

from tests.bench.figures import Table, shown, turn_about
from tests.bench.load import Measured, load
from tests.bench.servers import served, started
from tests.bench.work import CONNECTIONS, Work, new_form
from tests.databases import both_databases
from tests.services import wait_until
from tests.voice.factories import make_voice_form
from webapp.app.background import erase_noted
from webapp.base.config import Settings
from webapp.base.database import db, utc_now
from webapp.base.vocabulary import TranscriptState
from webapp.pages.respondent.form_data import new_session_key
from webapp.records.responses.recordings import Recording
from webapp.voice.transcripts import read_unheard

pytestmark = [pytest.mark.bench, both_databases]

UPLOADERS = 4
PAUSE = 0.1
PEOPLE = {0.0: 25, PAUSE: 10}  # one after the other on each connection, by their pause
ROUNDS = int(os.environ.get("ASKBACK_BENCH_ROUNDS", "5"))


@dataclass
class Installation:
    """Where it listens, the links of typed forms, and of the form that is spoken to."""

    work: Work
    ports: list[int]
    share_tokens: Sequence[str]
    voice_token: str
    transcriber: str
    statuses: list[str] = field(default_factory=list)  # of the uploads
    written: int = 0  # recordings

    def answers(self, pause: float) -> Measured:
        requests = self.work.people(self.share_tokens, PEOPLE[pause])
        measured = load(self.ports, requests, pause=pause)
        assert set(measured.statuses) == {"303"}
        return measured

    def answers_beside_uploads(self, pause: float) -> Measured:
        with self._uploads():
            measured = self.answers(pause)
        wait_until(self._nothing_is_due, "writing down", 120)
        with self.work.app.app_context():
            done = Recording.transcript_state == TranscriptState.DONE
            self.written += db.session.scalars(select(func.count()).where(done)).one()
            # as the background work of a server does: they would take gigabytes
            db.session.execute(delete(Recording))
            db.session.commit()
            list(erase_noted(utc_now()))
        return measured

    def _nothing_is_due(self) -> bool:
        with self.work.app.app_context():
            return read_unheard(now=utc_now()) == (0, None)

    @contextmanager
    def _uploads(self) -> Iterator[None]:
        """The first is stored when the block begins."""
        with self.work.app.app_context():
            plan = [
                {
                    "port": self.ports[number % len(self.ports)],
                    "share_token": self.voice_token,
                    "session": new_session_key(),
                    "transcriber": self.transcriber,
                }
                for number in range(UPLOADERS)
            ]
        with started("tests.bench.uploading", json.dumps(plan), stdout=subprocess.PIPE) as process:
            assert process.stdout
            self.statuses.append(process.stdout.readline().decode().strip())
            yield
        with process.stdout as rest:
            self.statuses += rest.read().decode().split()


@pytest.fixture
def installation(
    app: Flask, settings: Settings, work: Work, processes: int
) -> Iterator[Installation]:
    """One process on SQLite; on PostgreSQL another one beside, which only answers requests."""
    share_tokens = [new_form(work).share_token for _ in range(CONNECTIONS)]
    with started("tests.bench.speech", stdout=subprocess.PIPE) as engine:
        assert engine.stdout
        with engine.stdout as told:
            host = f"127.0.0.1:{int(told.readline())}"
        with app.app_context():
            voice_token = make_voice_form(work.account_id, transcriber=host).share_token
        changed = {
            "TRANSCRIBER": "openai",
            "TRANSCRIBER_URL": f"http://{host}/v1",
            "TRANSCRIBER_MODEL": "whisper",
            "TRANSCRIBER_MINUTES_PER_DAY": "100000",
            "TRANSCRIBER_MINUTES_PER_DAY_TOTAL": "1000000",
            "LIMIT_UPLOAD_SESSION": "1000000/minute",
        }
        with (
            served("askback", 1, settings, **changed) as whole,
            served("web", processes - 1, settings, **changed) as web,
        ):
            yield Installation(work, [*whole, *web], share_tokens, voice_token, host)


def test_answers_alongside_recordings(installation: Installation, table: Table) -> None:
    for pause, name in ((0.0, "as fast as they can"), (PAUSE, "with pauses")):
        sides = (installation.answers, installation.answers_beside_uploads)
        alone, beside = turn_about(*(partial(side, pause) for side in sides), rounds=ROUNDS)
        pairs = zip(beside, alone, strict=True)
        ratio = median(busy.quantile(0.99) / quiet.quantile(0.99) for busy, quiet in pairs)
        operation = f"answers of others beside 4 uploads and a transcription, {name}: p99"
        table.add(operation, f"{ratio:.2f}×", "≤ 2×", f"{shown(beside)}; alone {shown(alone)}")
    assert set(installation.statuses) == {"200"}
    assert installation.written
    uploads = len(installation.statuses)
    print(f"{uploads} uploads beside them, {installation.written} recordings written down")
