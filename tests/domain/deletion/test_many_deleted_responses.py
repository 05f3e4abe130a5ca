"""A hundred thousand responses of a flood are deleted without anybody waiting for it."""

import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import func, select, text

from tests.bulk import analyze, store_answers
from tests.databases import both_databases
from tests.factories import make_account, make_form, make_response
from webapp.database import db, utc_now
from webapp.domain.deletion import deleted_responses as deletions
from webapp.domain.forms.models import get_form
from webapp.domain.responses.models import Answer, ResponseSession
from webapp.domain.results.by_question import newest_answers
from webapp.domain.results.search import Filters, find_people

SESSIONS = 100_000
READ_SECONDS = 3.0  # of a page while they are hidden
BATCH_SECONDS = 1.0  # of the longest transaction that others wait for

pytestmark = [pytest.mark.prove, both_databases, pytest.mark.usefixtures("app_context")]


@pytest.fixture
def form() -> Any:
    """A form with one response of a person, before those of a program."""
    questions = [{"id": f"q_{number}", "text": f"Question {number}?"} for number in range(1, 11)]
    form = make_form(make_account().id, questions=questions)
    make_response(form)
    store_answers(form.id, 10 * SESSIONS)
    flagged = "UPDATE response_sessions SET suspect = true WHERE responder_name = 'Robin'"
    db.session.execute(text(flagged))
    db.session.execute(text("UPDATE response_sessions SET last_active_at = created_at"))
    db.session.commit()
    analyze()
    return form


def seconds(call: Callable[[], Any]) -> float:
    db.session.rollback()
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def seconds_of_each(batches: Iterator[int]) -> Iterator[float]:
    while True:
        began = time.perf_counter()
        if next(batches, 0) == 0:
            return
        yield time.perf_counter() - began


def test_they_are_scheduled_at_once_and_go_in_short_transactions(form: Any) -> None:
    now = utc_now() + timedelta(days=1)  # their times are made up
    schedule = seconds(lambda: deletions.delete_automated(form.account_id, form.id, now=now))
    shown = get_form(form.account_id, form.id)
    page = seconds(lambda: newest_answers(shown))
    people = seconds(lambda: find_people(form.id, Filters(), before=None))
    db.session.rollback()

    took = list(seconds_of_each(deletions.purge_deleted_responses(now + timedelta(days=1))))

    print(f"\nschedule {schedule:.2f} s, page {page:.2f} s, people {people:.2f} s,", end=" ")
    print(f"{len(took)} batches in {sum(took):.0f} s, the longest {max(took):.2f} s")
    assert max(schedule, page, people) < READ_SECONDS
    assert max(took) < BATCH_SECONDS
    after = get_form(form.account_id, form.id)
    assert (after.response_count, after.answered_count, after.started_count) == (1, 1, 1)
    left = [db.session.scalar(select(func.count(table.id))) for table in (ResponseSession, Answer)]
    assert left == [1, 1]
