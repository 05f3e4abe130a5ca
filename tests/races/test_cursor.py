"""The cursor loses nothing and repeats nothing while answers are being written."""

import random
import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select, text

from tests.databases import both_databases
from tests.factories import make_form
from tests.races.threads import answer, each_statement, together
from webapp.answers.answering import complete_response
from webapp.base.database import db, execute_autocommit, on_sqlite, utc_now
from webapp.records.accounts.models import Account
from webapp.records.forms import get_form
from webapp.records.responses.cursor import PAGE_MAX_ITEMS, read_responses
from webapp.records.responses.models import Answer, ResponseSession

WRITERS = 8
FULL = 2000
QUESTIONS = 10
LONGEST_DELAY_SECONDS = 0.003

fewer_in_short = pytest.mark.parametrize(
    "answers", [400, pytest.param(FULL, marks=pytest.mark.prove)]
)

_SLEEP = text(
    "CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS"
    f" 'BEGIN PERFORM pg_sleep(random() * {LONGEST_DELAY_SECONDS}); RETURN NEW; END'"
)
_SLEEP_AT_STAMPS = text(
    "CREATE TRIGGER hold AFTER UPDATE OF last_stamp ON forms FOR EACH ROW EXECUTE FUNCTION hold()"
)


def hold(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
    if "UPDATE forms" in statement:
        time.sleep(random.uniform(0, LONGEST_DELAY_SECONDS))  # noqa: S311


@contextmanager
def held_stamps(app: Flask) -> Iterator[None]:
    """Every writer is held between its stamp and its commit: PostgreSQL has one statement for both
    and has to wait by itself.
    """
    with app.app_context():
        sqlite = on_sqlite()
        for statement in () if sqlite else (_SLEEP, _SLEEP_AT_STAMPS):
            execute_autocommit(statement)
    if sqlite:
        with each_statement(app, "after_cursor_execute", hold):
            yield
        return
    try:
        yield
    finally:
        with app.app_context():
            execute_autocommit(text("DROP FUNCTION hold CASCADE"))


@dataclass
class Race:
    """Eight writers, and a poller that knows nothing but `nextSince`."""

    app: Flask
    form: Any
    answers: int = FULL
    clock: Callable[[], datetime] = utc_now
    max_items: int = PAGE_MAX_ITEMS
    pause_seconds: float = 0.002
    since: int | None = None
    truncated: int = 0
    finished: list[str] = field(default_factory=list)
    seen: Counter[str] = field(default_factory=Counter)
    completions: Counter[str] = field(default_factory=Counter)

    def run(self) -> None:
        with held_stamps(self.app):
            together(self.app, [*[self._write_and_end] * WRITERS, self._poll])

    def _poll(self) -> None:
        """Until the writers are done and a last page says that nothing is new."""
        more = True
        while more:
            at_work = len(self.finished) < WRITERS
            more = self._read_page() or at_work
            if at_work:
                time.sleep(self.pause_seconds)

    def _read_page(self) -> bool:
        form = get_form(self.form.account_id, self.form.id)
        page = read_responses(form, self.since, max_items=self.max_items)
        db.session.rollback()
        for entry in page.sessions:
            self.seen.update(answer.id for answer in entry.answers)
            completed = entry.session.completed_stamp
            if completed and (self.since or 0) < completed <= (page.next_since or 0):
                self.completions[entry.session.id] += 1
        self.truncated += page.truncated
        moved = page.next_since != self.since
        self.since = page.next_since
        return moved

    def _write_and_end(self) -> None:
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
                complete_response(self.form.share_token, key, responder_name="", now=self.clock())

    def _answer(self, key: str, position: int) -> None:
        answer(self.form, "An answer", key=key, position=position)(now=self.clock())


def set_back() -> Callable[[], datetime]:
    """A clock that is set back by an hour after every hundredth look at it."""
    looks = iter(range(1_000_000))
    return lambda: utc_now() - timedelta(hours=next(looks) // 100)


@pytest.fixture
def race(app: Flask, account: Account) -> Race:
    with app.app_context():
        form = make_form(account.id, questions=[f"Question {n}" for n in range(QUESTIONS)])
    return Race(app, form)


def assert_seen_once(race: Race) -> None:
    """Every current answer and completion once; a corrected answer at most once."""
    with race.app.app_context():
        answers = dict(map(tuple, db.session.execute(select(Answer.id, Answer.superseded))))
        completed = select(ResponseSession.id).where(ResponseSession.completed_stamp.is_not(None))
        sent = set(db.session.scalars(completed))
    current = {each for each, superseded in answers.items() if not superseded}
    assert len(current) == race.answers
    assert current - race.seen.keys() == set()
    assert race.seen.keys() - answers.keys() == set()
    assert set(race.seen.values()) == {1}
    assert dict(race.completions) == dict.fromkeys(sent, 1)


@both_databases
@fewer_in_short
@pytest.mark.parametrize("way", ["whole pages", "pages cut short", "a clock set back"])
def test_a_poller_sees_every_answer_and_completion_once_while_eight_write(
    race: Race, answers: int, way: str
) -> None:
    race.answers = answers
    if way == "pages cut short":
        race.max_items, race.pause_seconds = 2, 0.05
    elif way == "a clock set back":
        race.clock = set_back()

    race.run()

    assert_seen_once(race)
    assert way != "pages cut short" or race.truncated > 9
