"""Answers of others while two hundred respondents wait for a model that hangs.

Both sides of a round have a server of their own, because three calls that took too long open the
breaker. The two hundred come within three seconds, while the others answer: as many as may wait,
wait until the others have nearly done, the rest get the rules at once.
"""

import os
import secrets
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from statistics import median
from urllib.parse import urlencode

import pytest
from flask import Flask
from sqlalchemy import update

from tests.bench.figures import Table, quantile, turn_about
from tests.bench.load import Measured, load
from tests.bench.servers import served
from tests.bench.work import CONNECTIONS, Work, new_form
from tests.databases import both_databases
from tests.followups.model_server import ModelServer, hanging, model_server
from tests.proof.follow_ups.people import SHORT
from tests.proof.killing import Target
from webapp.answers.answering import answer_question
from webapp.base.config import Settings
from webapp.base.database import db, utc_now
from webapp.pages.respondent.form_data import new_session_key
from webapp.records.forms import Form

pytestmark = [pytest.mark.bench, both_databases]

WAITING = 200
ROUNDS = int(os.environ.get("ASKBACK_BENCH_ROUNDS", "5"))
PEOPLE = 3  # one after the other on each connection of the others
PAUSE = 0.1  # seconds of theirs after a page
ARRIVING_SECONDS = 3.0
MOST_SECONDS = 4.5


@dataclass
class Installation:
    """One database; `asking` is a form whose follow-ups a model writes, the others have none."""

    work: Work
    settings: Settings
    model: ModelServer
    share_tokens: Sequence[str]
    asking: str
    pages: list[tuple[int, float]] = field(default_factory=list)  # status and seconds

    def alone(self) -> Measured:
        with self._server() as port:
            return self._others(port)

    def beside(self) -> Measured:
        with self.work.app.app_context():
            sessions = [new_session_key() for _ in range(WAITING)]
            for session in sessions:  # an answer that nothing is decided about yet
                given = {"answer_text": SHORT, "answer_key": secrets.token_urlsafe(16)}
                answer_question(self.asking, session, position=0, **given, now=utc_now())
        with self._server() as port, ThreadPoolExecutor(WAITING) as pool:
            afters = (number * ARRIVING_SECONDS / WAITING for number in range(WAITING))
            calls = pool.map(partial(self._wait, Target({}, port)), sessions, afters)
            measured = self._others(port)
            self.pages += calls
        return measured

    @contextmanager
    def _server(self) -> Iterator[int]:
        """Which has answered a few already."""
        named = {name.upper(): value for name, value in self.model.settings().items()}
        with served("askback", 1, self.settings, **named) as ports:
            (port,) = ports
            self._others(port, people=1)
            yield port

    def _others(self, port: int, *, people: int = PEOPLE) -> Measured:
        return load([port], self.work.people(self.share_tokens, people), pause=PAUSE)

    def _wait(self, target: Target, session: str, after: float) -> tuple[int, float]:
        time.sleep(after)
        began = time.perf_counter()
        body = urlencode({"session": session})
        page = target.call("POST", f"/r/{self.asking}/q/1/next", body, **{"HX-Request": "true"})
        return page.status, time.perf_counter() - began


@pytest.fixture
def installation(app: Flask, settings: Settings, work: Work) -> Iterator[Installation]:
    share_tokens = [new_form(work).share_token for _ in range(CONNECTIONS)]
    asking = new_form(work, followUpMode="deep_dive")
    with app.app_context(), model_server(hanging()) as model:
        writer = f"small-model at {model.host}"
        db.session.execute(update(Form).where(Form.id == asking.id).values(follow_up_writer=writer))
        db.session.commit()
        db.session.remove()
        yield Installation(work, settings, model, share_tokens, asking.share_token)


def test_answers_alongside_a_hanging_model(installation: Installation, table: Table) -> None:
    sides = installation.alone, installation.beside
    rounds = list(zip(*turn_about(*sides, rounds=ROUNDS, warm=0), strict=True))
    ratio = median(beside.quantile(0.99) / alone.quantile(0.99) for alone, beside in rounds)
    operation = f"answers of others while {WAITING} wait for a hanging model: p99"
    table.add(operation, f"{ratio:.2f}×", "≤ 2×", "; ".join(map(both, rounds)))
    seconds = sorted(seconds for _, seconds in installation.pages)
    print(f"pages of those who wait: p50 {quantile(seconds, 0.5):.2f}, most {seconds[-1]:.2f} s")
    print(f"calls: {len(installation.model.asked)}")
    assert Counter(status for status, _ in installation.pages) == {200: WAITING * ROUNDS}
    assert 0 < len(installation.model.asked) < WAITING * ROUNDS  # the rules had their part
    assert seconds[-1] < MOST_SECONDS


def both(pair: Sequence[Measured]) -> str:
    alone, beside = (f"p50 {run.quantile(0.5):.1f} p99 {run.quantile(0.99):.1f}" for run in pair)
    return f"beside {beside}, alone {alone} ms"
