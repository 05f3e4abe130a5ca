"""Respondents of a form with follow-up questions that were prepared for short answers."""

import re
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select
from werkzeug.test import TestResponse

from tests.factories import make_form
from webapp.base.database import db
from webapp.records.accounts.models import Account
from webapp.records.follow_ups import FollowUp

FIRST, SECOND = "What made you switch?", "What would you tell a friend?"
SHORT = "It was slow"
PREPARED = [
    ("What happened then?", "if_short"),
    ("What was that like?", "if_short"),
    ("Who else noticed it?", "if_short"),
]
LONG = (
    "We switched because last March the export failed twice and my manager had to redo the "
    "quarterly report by hand over a weekend"
)


@pytest.fixture
def settings_of_form() -> dict[str, Any]:
    return {"followUpMode": "smart", "context": "They are thinking of leaving."}


@pytest.fixture
def form(app: Flask, account: Account, settings_of_form: dict[str, Any]) -> Any:
    with app.app_context():
        prepared = {0: PREPARED, 1: [(f"Friends: {text}", when) for text, when in PREPARED]}
        return make_form(
            account.id, questions=[FIRST, SECOND], prepared=prepared, **settings_of_form
        )


def count_line(page: TestResponse) -> str:
    """Without how long it takes."""
    found = re.search(r'<p class="count">.*?</p>', page.text, re.DOTALL)
    words = " ".join(re.sub(r"<[^>]+>", "", found[0]).split()) if found else ""
    return words.partition(", about")[0]


def asked(app: Flask) -> list[FollowUp]:
    with app.app_context():
        return list(db.session.scalars(select(FollowUp).order_by(FollowUp.created_at)))


@contextmanager
def meanwhile(
    until: Callable[[], Any], call: Callable[..., Any], *given: Any, **named: Any
) -> Iterator[Future[Any]]:
    """The call goes on in a thread, and has come so far."""
    with ThreadPoolExecutor(1) as beside:
        called = beside.submit(call, *given, **named)
        while not (until() or called.done()):
            time.sleep(0.01)
        yield called


def checked_out(app: Flask) -> int:
    """How many connections of the pool are in use."""
    with app.app_context():
        pool: Any = db.engine.pool
    return int(pool.checkedout())
