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
from statistics import median
from typing import Any
from urllib.parse import urlencode

import pytest
from flask import Flask
from sqlalchemy import update

from tests.bench.figures import Table, quantile, turn_about
from tests.bench.load import Measured, load
from tests.bench.servers import exchange, served
from tests.bench.work import CONNECTIONS, Work, new_form, new_token
from tests.databases import both_databases
from tests.followups.model_server import ModelServer, hanging, model_server
from tests.proof.follow_ups.people import SHORT
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
LOOKING_AFTER = 1.5  # seconds
MOST_SECONDS = 4.5
FORM_TYPE = {"Content_Type": "application/x-www-form-urlencoded", "HX_Request": "true"}


@dataclass
class Installation:
    """One database; `asking` is a form whose follow-ups a model writes, the others have none.

    quiet  has no answers, and an agent that waits for them
    """

    work: Work
    settings: Settings
    model: ModelServer
    share_tokens: Sequence[str]
    asking: Any
    quiet: Any
    agent_token: str
    pages: list[tuple[int, float]] = field(default_factory=list)  # status and seconds
    looks: list[float] = field(default_factory=list)  # of the agent, seconds

    def alone(self) -> Measured:
        with self._server() as port:
            self._others(port, people=1)
            return self._others(port)

    def beside(self) -> Measured:
        sessions = self._answered(WAITING)
        with self._server() as port, ThreadPoolExecutor(WAITING + 1) as pool:
            self._others(port, people=1)  # the first of all; nobody waited for a model yet
            calls = [
                pool.submit(self._wait, port, session, number * ARRIVING_SECONDS / WAITING)
                for number, session in enumerate(sessions)
            ]
            looking = pool.submit(self._look, port)
            measured = self._others(port)
            self.pages += [call.result() for call in calls]
            self.looks.append(looking.result())
        return measured

    @contextmanager
    def _server(self) -> Iterator[int]:
        named = {name.upper(): value for name, value in self.model.settings().items()}
        with served("askback", 1, self.settings, **named) as ports:
            yield next(iter(ports))

    def _others(self, port: int, *, people: int = PEOPLE) -> Measured:
        return load([port], self.work.people(self.share_tokens, people), pause=PAUSE)

    def _answered(self, count: int) -> list[str]:
        """Sessions with an answer that nothing is decided about yet."""
        with self.work.app.app_context():
            sessions = [new_session_key() for _ in range(count)]
            for session in sessions:
                answer_question(
                    self.asking.share_token,
                    session,
                    position=0,
                    answer_text=SHORT,
                    answer_key=secrets.token_urlsafe(16),
                    now=utc_now(),
                )
        return sessions

    def _wait(self, port: int, session: str, after: float) -> tuple[int, float]:
        time.sleep(after)
        began = time.perf_counter()
        path, body = f"/r/{self.asking.share_token}/q/1/next", urlencode({"session": session})
        status, _ = exchange(port, "POST", path, body, **FORM_TYPE)
        return status, time.perf_counter() - began

    def _look(self, port: int) -> float:
        """Seconds of an agent's wait of one second."""
        time.sleep(LOOKING_AFTER)
        began = time.perf_counter()
        path, bearer = f"/api/agent/asks/{self.quiet.id}/answers?wait=1", self.agent_token
        assert exchange(port, "GET", path, Authorization=f"Bearer {bearer}")[0] == 200
        return time.perf_counter() - began


@pytest.fixture
def installation(app: Flask, settings: Settings, work: Work) -> Iterator[Installation]:
    share_tokens = [new_form(work).share_token for _ in range(CONNECTIONS)]
    asking, quiet = new_form(work, followUpMode="deep_dive"), new_form(work)
    with app.app_context(), model_server(hanging()) as model:
        told = f"small-model at {model.host}"
        db.session.execute(update(Form).where(Form.id == asking.id).values(follow_up_writer=told))
        db.session.commit()
        token = new_token(quiet)
        db.session.remove()
        yield Installation(work, settings, model, share_tokens, asking, quiet, token)


def test_answers_alongside_a_hanging_model(installation: Installation, table: Table) -> None:
    sides = installation.alone, installation.beside
    rounds = list(zip(*turn_about(*sides, rounds=ROUNDS, warm=0), strict=True))
    ratio = median(beside.quantile(0.99) / alone.quantile(0.99) for alone, beside in rounds)
    operation = f"answers of others while {WAITING} wait for a hanging model: p99"
    table.add(operation, f"{ratio:.2f}×", "≤ 2×", "; ".join(map(both, rounds)))
    seconds = sorted(seconds for _, seconds in installation.pages)
    print(f"pages of those who wait: p50 {quantile(seconds, 0.5):.2f}, most {seconds[-1]:.2f} s")
    print(f"calls: {len(installation.model.asked)}; waits of an agent: {installation.looks}")
    assert Counter(status for status, _ in installation.pages) == {200: WAITING * ROUNDS}
    assert 0 < len(installation.model.asked) < WAITING * ROUNDS  # the rules had their part
    assert seconds[-1] < MOST_SECONDS
    assert min(installation.looks) > 0.9  # it waited, as there was a slot


def both(pair: Sequence[Measured]) -> str:
    alone, beside = (f"p50 {run.quantile(0.5):.1f} p99 {run.quantile(0.99):.1f}" for run in pair)
    return f"beside {beside}, alone {alone} ms"
