"""Killed at any moment and started again with its key: one draft, each line once."""

import signal
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import select

from tests.agent_cli.terminal import ASK, Command, User
from tests.factories import make_response
from webapp.base.database import db
from webapp.records.drafts import Draft
from webapp.records.forms import Form

KILLED_AT = [sys.executable, "-m", "tests.agent_cli.killed_at"]
LAST_MOMENT = 40  # more than a whole command has
SAMPLE = (2, 5, 11, 16, 21, 26, LAST_MOMENT - 1)
ONCE = ["draft", "published", "answer", "completed"]


@contextmanager
def people(user: User, responses: int) -> Iterator[None]:
    """Who answer every form so many times, soon after it is published."""
    stopping = threading.Event()

    def answer() -> None:
        done: Counter[str] = Counter()
        while not stopping.wait(0.05):
            with user.running.app.app_context():
                for form in db.session.scalars(select(Form)).all():
                    if done[form.id] < responses:
                        make_response(form, name=str(done[form.id]))
                        done[form.id] += 1

    thread = threading.Thread(target=answer)
    thread.start()
    try:
        yield
    finally:
        stopping.set()
        thread.join()


def killed(user: User, moment: int, *arguments: str) -> Command:
    user.program = [*KILLED_AT, str(moment)]
    return user.run(*arguments)


@pytest.mark.settings(write_limits=False)
@pytest.mark.parametrize(
    "moments", [SAMPLE, pytest.param(range(1, LAST_MOMENT), marks=pytest.mark.prove)]
)
def test_killed_between_any_two_steps(trusted: User, moments: range) -> None:
    ended = set()
    with people(trusted, responses=1):
        for moment in moments:
            key = f"moment-{moment}"
            first = killed(trusted, moment, *ASK, "--key", key)
            second = killed(trusted, LAST_MOMENT * 2, *ASK, "--key", key)

            assert second.code == 0
            assert [*first.kinds, *second.kinds] == ONCE, moment
            ended.add(first.code)

    assert trusted.count(Draft) == trusted.count(Form) == len(moments)
    assert ended == {-signal.SIGKILL, 0}
    assert first.code == 0  # it has fewer steps
