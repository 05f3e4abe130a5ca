"""The cursor loses nothing and repeats nothing while answers are being written."""

import random
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select, text

from tests.databases import both_databases
from tests.factories import make_form
from tests.races.poller import Poller
from tests.races.threads import each_statement, together
from webapp.answers.answering import answer_question, complete_response
from webapp.base.database import db, execute_autocommit, on_sqlite, read_rows, utc_now
from webapp.records.accounts.models import Account
from webapp.records.responses.cursor import PAGE_MAX_ITEMS
from webapp.records.responses.models import Answer, ResponseSession

WRITERS = 8
FULL = 2000
QUESTIONS = 10
LONGEST_DELAY_SECONDS = 0.003

fewer_in_short = pytest.mark.parametrize(
    "answers", [400, pytest.param(FULL, marks=pytest.mark.prove)]
)


@dataclass
class Delay:
    """Holds every writer on SQLite between its stamp and its commit; counts those who are held."""

    held: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def hold(self, _connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if "UPDATE forms" in statement and on_sqlite():
            self._add(1)
            time.sleep(random.uniform(0, LONGEST_DELAY_SECONDS))  # noqa: S311
            self._add(-1)

    def holds(self) -> bool:
        return bool(self.held if on_sqlite() else read_rows(_SLEEPING)[0][0])

    def _add(self, change: int) -> None:
        with self.lock:
            self.held += change


@contextmanager
def sleeping_stamps(app: Flask) -> Iterator[None]:
    """PostgreSQL stamps and commits in one statement, so it has to wait there by itself."""
    if app.config["SQLALCHEMY_DATABASE_URI"].startswith("sqlite"):
        yield
        return
    with app.app_context():
        execute_autocommit(_SLEEP)
        execute_autocommit(_SLEEP_AT_STAMPS)
    try:
        yield
    finally:
        with app.app_context():
            execute_autocommit(_SLEEP_NO_MORE)


_SLEEPING = text("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'")
_SLEEP = text(
    "CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS"
    f" 'BEGIN PERFORM pg_sleep(random() * {LONGEST_DELAY_SECONDS}); RETURN NEW; END'"
)
_SLEEP_AT_STAMPS = text(
    "CREATE TRIGGER hold AFTER UPDATE OF last_stamp ON forms FOR EACH ROW EXECUTE FUNCTION hold()"
)
_SLEEP_NO_MORE = text("DROP FUNCTION hold CASCADE")


@dataclass
class Race:
    """Eight respondents' worth of writers, one poller, and how often it read during a delay."""

    app: Flask
    form: Any
    poller: Poller
    answers: int = FULL
    clock: Callable[[], datetime] = utc_now
    reads_in_delay: int = 0
    finished: list[str] = field(default_factory=list)

    def run(self) -> None:
        delay = Delay()
        writers = [self._write_and_tell] * WRITERS
        holding = each_statement(self.app, "after_cursor_execute", delay.hold)
        with holding, sleeping_stamps(self.app):
            together(self.app, [*writers, partial(self.poller.run, self._at_work(delay))])

    def _at_work(self, delay: Delay) -> Callable[[], bool]:
        def at_work() -> bool:
            self.reads_in_delay += delay.holds()
            return len(self.finished) < WRITERS

        return at_work

    def _write_and_tell(self) -> None:
        try:
            self._write(self.answers // WRITERS)
        finally:
            self.finished.append("writer")

    def _write(self, answers: int) -> None:
        """Sessions of ten answers, each corrected once and completed, save the last one."""
        key = ""
        for number in range(answers):
            position = number % QUESTIONS
            key = secrets.token_urlsafe(16) if position == 0 else key
            self._answer(key, position)
            if position == QUESTIONS - 1 and number < answers - 1:
                self._answer(key, 0)
                self._complete(key)

    def _answer(self, key: str, position: int) -> None:
        answer_question(
            self.form.share_token,
            key,
            position=position,
            answer_text="An answer",
            answer_key=secrets.token_urlsafe(16),
            now=self.clock(),
        )

    def _complete(self, key: str) -> None:
        complete_response(self.form.share_token, key, responder_name="", now=self.clock())


@dataclass
class SteppingClock:
    """A clock that is set back by an hour after every hundredth look at it."""

    looks: Iterator[int] = field(default_factory=lambda: iter(range(1_000_000)))

    def __call__(self) -> datetime:
        return utc_now() - timedelta(hours=next(self.looks) // 100)


@pytest.fixture
def race(app: Flask, account: Account) -> Race:
    with app.app_context():
        form = make_form(account.id, questions=[f"Question {n}" for n in range(QUESTIONS)])
    return Race(app, form, Poller(app, account.id, form.id, PAGE_MAX_ITEMS))


def stored(app: Flask) -> tuple[set[str], set[str], set[str]]:
    """Ids of the current answers, of all answers, and of the completed sessions."""
    with app.app_context():
        answers = db.session.execute(select(Answer.id, Answer.superseded)).all()
        completed = select(ResponseSession.id).where(ResponseSession.completed_stamp.is_not(None))
        return (
            {row.id for row in answers if not row.superseded},
            {row.id for row in answers},
            set(db.session.scalars(completed)),
        )


def assert_seen_once(race: Race) -> None:
    """Every current answer and completion once; a corrected answer at most once."""
    current, ever, completed = stored(race.app)
    seen = race.poller.answers
    assert len(current) == race.answers
    assert current - seen.keys() == set()
    assert seen.keys() - ever == set()
    assert set(seen.values()) == {1}
    assert dict(race.poller.completions) == dict.fromkeys(completed, 1)
    assert race.reads_in_delay > 4


@both_databases
def test_a_poller_sees_every_answer_and_completion_once_while_eight_write(race: Race) -> None:
    race.run()

    assert_seen_once(race)


@both_databases
@fewer_in_short
def test_pages_cut_short_lose_and_repeat_nothing(race: Race, answers: int) -> None:
    race.answers = answers
    race.poller.max_items = 2
    race.poller.pause_seconds = 0.05

    race.run()

    assert_seen_once(race)
    assert race.poller.truncated > 9


@both_databases
@fewer_in_short
def test_a_clock_set_back_loses_and_repeats_nothing(race: Race, answers: int) -> None:
    race.answers = answers
    race.clock = SteppingClock()

    race.run()

    assert_seen_once(race)
