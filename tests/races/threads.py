"""Running calls at the same moment, each in a thread with an application context of its own."""

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

from flask import Flask
from sqlalchemy import event

from webapp.answers.answering import Answered
from webapp.base.database import db
from webapp.base.errors import Outcome

T = TypeVar("T")


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


def outcome(call: Callable[[], Any]) -> Callable[[], str]:
    """The result of a call as a word, or the code it was refused with.

    That of an answer is the 0-based position of the next question.
    """

    def run() -> str:
        try:
            value = call()
        except Outcome as refused:
            db.session.rollback()
            return refused.code
        if isinstance(value, Answered):
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
