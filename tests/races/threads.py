"""Running calls at the same moment, each in a thread with an application context of its own; and
what respondents do, as such calls.
"""

import secrets
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

from flask import Flask
from sqlalchemy import event, func, select, text

from webapp.answers import answering
from webapp.base.database import db, utc_now
from webapp.base.errors import Outcome

KEY = "a" * 32
T = TypeVar("T")
Call = Callable[[], Any]


def together(app: Flask, calls: Iterable[Callable[[], T]]) -> list[T]:
    """The results of all calls, started behind one barrier; the first exception is raised."""
    waiting = list(calls)
    barrier = threading.Barrier(len(waiting))

    def run(call: Callable[[], T]) -> T:
        barrier.wait()
        with app.app_context():
            return call()

    with ThreadPoolExecutor(len(waiting)) as pool:
        return list(pool.map(run, waiting))


def allowed(call: Call) -> Call:
    """A call whose refusal is its result, as the code."""

    def run() -> Any:
        try:
            return call()
        except Outcome as refused:
            db.session.rollback()
            return str(refused.code)

    return run


def outcome(call: Call) -> Callable[[], str]:
    """The result of a call as a word, or the code it was refused with.

    That of an answer is the 0-based position of the next question.
    """

    def run() -> str:
        value = allowed(call)()
        if isinstance(value, answering.Answered):
            place = value.session.steps.next_place()
            value = place and place.number - 1
        return str(value)

    return run


@contextmanager
def each_statement(app: Flask, moment: str, listener: Callable[..., Any]) -> Iterator[None]:
    """Call `listener` at `before_cursor_execute` or `after_cursor_execute` of the application."""
    with app.app_context():
        engine = db.engine
    event.listen(engine, moment, listener)
    try:
        yield
    finally:
        event.remove(engine, moment, listener)


def act(use_case: Callable[..., Any], form: Any, *, key: str = KEY, **given: Any) -> Call:
    """What a respondent does with their response."""
    return partial(use_case, form.share_token, key, now=utc_now(), **given)


def by_creator(use_case: Callable[..., Any], form: Any, *given: Any) -> Call:
    return partial(use_case, form.account_id, form.id, *given, now=utc_now())


def answer(
    form: Any, text: str = "", *, position: int = 0, answer_key: str = "", **given: Any
) -> Call:
    sent = {"answer_text": text, "answer_key": answer_key or secrets.token_urlsafe(16)}
    return act(answering.answer_question, form, position=position, **sent, **given)


def send(form: Any, *, key: str = KEY) -> Call:
    return act(answering.complete_response, form, key=key, responder_name="")


def withdraw(form: Any, *, key: str = KEY) -> Call:
    return act(answering.withdraw_response, form, key=key)


def skip(form: Any, position: int = 0) -> Call:
    return act(answering.skip_question, form, position=position)


def rows(app: Flask, table: Any, *conditions: Any) -> int:
    """How many there are."""
    with app.app_context():
        return db.session.scalar(select(func.count()).select_from(table).where(*conditions)) or 0


def waits(app: Flask) -> bool:
    """Whether a connection to this server of PostgreSQL waits for another one."""
    waiting = text("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'")
    with app.app_context(), db.engine.connect() as connection:
        return bool(connection.scalar(waiting))
