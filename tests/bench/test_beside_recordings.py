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
from statistics import median

import pytest
from flask import Flask
from sqlalchemy import delete, func, select

from tests.bench.figures import Requests, Table
from tests.bench.load import Measured, load
from tests.bench.servers import served, started
from tests.bench.work import CONNECTIONS, connected, new_form, respondent
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

    app: Flask
    ports: list[int]
    share_tokens: Sequence[str]
    voice_token: str
    transcriber: str
    statuses: list[str] = field(default_factory=list)  # of the uploads
    written: int = 0  # recordings

    def answers(self, pause: float) -> Measured:
        with self.app.app_context():
            requests: Requests = [
                [one for _ in range(PEOPLE[pause]) for one in respondent(each)]
                for each in self.share_tokens
            ]
        return load(self.ports, requests, pause=pause)

    def answers_beside_uploads(self, pause: float) -> Measured:
        with self._uploads():
            measured = self.answers(pause)
        wait_until(self._nothing_is_due, "writing down", 120)
        self.written += self._recordings(TranscriptState.DONE)
        self._erase()
        return measured

    def _nothing_is_due(self) -> bool:
        with self.app.app_context():
            return read_unheard(now=utc_now()) == (0, None)

    def _recordings(self, state: TranscriptState) -> int:
        """How many are in this state."""
        with self.app.app_context():
            counted = select(func.count()).where(Recording.transcript_state == state)
            return db.session.scalars(counted).one()

    def _erase(self) -> None:
        """As the background work of a server does: they would take gigabytes."""
        with self.app.app_context():
            db.session.execute(delete(Recording))
            db.session.commit()
            list(erase_noted(utc_now()))

    @contextmanager
    def _uploads(self) -> Iterator[None]:
        """The first is stored when the block begins."""
        with self.app.app_context():
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
def installation(app: Flask, settings: Settings) -> Iterator[Installation]:
    """One process on SQLite; on PostgreSQL another one beside, which only answers requests."""
    work = connected(app, settings.api_url)
    share_tokens = [new_form(work).share_token for _ in range(CONNECTIONS)]
    with started("tests.bench.speech", stdout=subprocess.PIPE) as engine:
        assert engine.stdout
        with engine.stdout as told:
            host = f"127.0.0.1:{int(told.readline())}"
        with app.app_context():
            voice_token = make_voice_form(work.account_id, transcriber=host).share_token
        with serving(settings, host) as ports:
            yield Installation(app, ports, share_tokens, voice_token, host)


@contextmanager
def serving(settings: Settings, engine: str) -> Iterator[list[int]]:
    changed = {
        "TRANSCRIBER": "openai",
        "TRANSCRIBER_URL": f"http://{engine}/v1",
        "TRANSCRIBER_MODEL": "whisper",
        "TRANSCRIBER_MINUTES_PER_DAY": "100000",
        "TRANSCRIBER_MINUTES_PER_DAY_TOTAL": "1000000",
        "LIMIT_UPLOAD_SESSION": "1000000/minute",
    }
    others = 0 if settings.database_url.startswith("sqlite") else 1
    with (
        served("askback", 1, settings, **changed) as whole,
        served("web", others, settings, **changed) as web,
    ):
        yield [*whole, *web]


def test_answers_beside_recordings(installation: Installation, settings: Settings) -> None:
    table = Table("SQLite" if settings.database_url.startswith("sqlite") else "PostgreSQL")
    for pause, name in ((0.0, "as fast as they can"), (PAUSE, "with pauses")):
        ratio, detail = compare(installation, pause)
        operation = f"answers of others beside 4 uploads and a transcription, {name}: p99"
        table.add(operation, f"{ratio:.2f}×", "≤ 2×", detail)
    uploads, written = len(installation.statuses), installation.written
    assert set(installation.statuses) == {"200"}
    assert written
    print(f"{uploads} uploads beside them, {written} recordings written down")


def compare(installation: Installation, pause: float) -> tuple[float, str]:
    """Rounds alone and beside, turn about: the median of the ratios of p99, and the medians."""
    sides = [installation.answers, installation.answers_beside_uploads]
    rounds: list[list[Measured]] = [[], []]
    for number in range(ROUNDS + 1):
        for side in (0, 1) if number % 2 else (1, 0):
            rounds[side].append(sides[side](pause))
            assert set(rounds[side][-1].statuses) == {"303"}
    alone, beside = rounds[0][1:], rounds[1][1:]
    pairs = zip(beside, alone, strict=True)
    ratio = median(busy.quantile(0.99) / quiet.quantile(0.99) for busy, quiet in pairs)
    return ratio, "; alone ".join(map(shown, (beside, alone)))


def shown(runs: Sequence[Measured]) -> str:
    p50, p99 = (median(run.quantile(share) for run in runs) for share in (0.5, 0.99))
    return f"{median(run.rate for run in runs):.0f}/s, p50 {p50:.1f}, p99 {p99:.1f} ms"
