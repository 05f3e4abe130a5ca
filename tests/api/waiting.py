"""Requests that wait, and what happens meanwhile."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar, cast

import pytest
from flask import Flask
from sqlalchemy.pool import QueuePool

from tests.services import wait_until
from webapp.base.database import db
from webapp.web.wakeups import Wakeups

SOON_SECONDS = 10  # on a busy machine; a wait that nothing ends takes 20 and more
CROWD = 40  # waits at a time, more than there are database connections

T = TypeVar("T")


def while_waiting(app: Flask, call: Callable[[], T], happens: Callable[[], object]) -> T:
    """What a call answers that began to wait before the event, soon after it."""
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(call)
        wait_until(lambda: _wakeups(app)._held, "a wait")
        happens()
        return answer.result(SOON_SECONDS)


def crowd_waiting(
    app: Flask,
    call: Callable[[int], T],
    happens: Callable[[], object],
    monkeypatch: pytest.MonkeyPatch,
) -> list[T]:
    """What so many calls of one account answer that waited together; each gets its number.

    Together they hold no database connection while they wait.
    """
    monkeypatch.setattr(_wakeups(app), "_of_account", CROWD)
    with ThreadPoolExecutor(CROWD) as pool:
        answers = [pool.submit(call, number) for number in range(CROWD)]
        wait_until(lambda: _wakeups(app)._held.total() == CROWD, "all waits")
        with app.app_context():
            pool = cast(QueuePool, db.engine.pool)
        wait_until(lambda: pool.checkedout() == 0, "the end of all looks", 10)
        happens()
        return [each.result(25) for each in answers]


def at_once(call: Callable[[], T]) -> T:
    """What a call answers that does not wait, though it may."""
    began = time.monotonic()
    answer = call()
    assert time.monotonic() - began < SOON_SECONDS
    return answer


def _wakeups(app: Flask) -> Wakeups:
    found: Wakeups = app.extensions["wakeups"]
    return found
