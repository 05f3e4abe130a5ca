"""Figures of the reading operations against a look-up; whether they grow with what is stored."""

import re
import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any
from urllib.parse import quote

import orjson
import pytest
from flask import Flask

from api.wire.responses import form_responses
from api.wire.timestamps import wire_time
from tests.bench.ceiling import PAGE
from tests.bench.conftest import Bench
from tests.bench.figures import BEFORE, Side
from tests.bench.query_plans import plan_of, steps_of
from tests.bench.work import DRAFT, Work, connected
from tests.bulk import analyze, copy_forms, store_answers
from tests.databases import both_databases
from tests.factories import make_form
from webapp.base.database import db
from webapp.records.forms import get_form
from webapp.records.responses.cursor import read_responses
from webapp.records.responses.models import Answer

pytestmark = [pytest.mark.bench, both_databases]

SIZES = (10, 10_000, 100_000, 1_000_000)
PAIRS = 20
FORMS = 200
LISTED = 1_000


def test_reads_of_an_agent(app: Flask, bench: Bench) -> None:
    work = bench.work
    form_id = stored_form(app, work, 10_000)
    bench.add("GET /forms/{id}", "≥ 70 %", work.look_ups(), work.get(f"/api/forms/{form_id}"))
    nothing, ten = new_since(app, work, form_id, 0), new_since(app, work, form_id, 11)
    bench.add("responses, 0 new", "≥ 65 %", work.look_ups(), work.get(nothing))
    bench.add("responses, 10 new", "≥ 60 %", work.look_ups(), work.get(ten))


def test_a_list_of_a_thousand_forms(app: Flask, bench: Bench) -> None:
    work = another_account(app)
    with app.app_context():
        form = make_form(work.account_id, **DRAFT)
        copy_forms(form, LISTED - 1)
        analyze()
    ceiling = work.get(f"/list/{work.account_id}", times=4)
    name = f"GET /forms, {LISTED:,} forms"
    bench.add(name, f"≥ 2× of {BEFORE}", ceiling, work.get("/api/forms", times=4))


def test_ten_new_answers_however_many_are_stored(app: Flask, bench: Bench) -> None:
    forms = {size: stored_form(app, bench.work, size) for size in SIZES}
    paths = {size: new_since(app, bench.work, forms[size], 11) for size in SIZES}
    few = Side(bench.askback, bench.work.get(paths[10], times=12))
    for size in SIZES[1:]:
        many = Side(bench.askback, bench.work.get(paths[size], times=12))
        bench.table.add(
            f"responses, 10 new, {size:,} stored", relative(few, many), "within 15 % of 10", ""
        )
    with app.app_context():
        readings = [read_ten(bench.work, form_id) for form_id in forms.values()]
        assert len({tuple(map(without_values, plan_of(reading))) for reading in readings}) == 1
        touched = [steps_of(reading) for reading in readings]
    bench.table.add("the same, rows touched", str(touched), "the same", "10 to 1,000,000 stored")


def test_listing_forms_however_many_answers_they_hold(app: Flask, bench: Bench) -> None:
    sides = []
    for answers in (10_000, 1_000_000):
        work = another_account(app)
        with app.app_context():
            for _ in range(FORMS):
                store_answers(make_form(work.account_id, **DRAFT).id, answers // FORMS)
            analyze()
        sides.append(Side(bench.askback, work.get("/api/forms", times=4)))
    reached = relative(*sides)
    bench.table.add("GET /forms, 200 forms, 1 million answers", reached, "within 15 %", "of 10,000")


def test_a_page_of_two_hundred_answers(app: Flask, bench: Bench) -> None:
    form_id = stored_form(app, bench.work, 10_000)
    with app.app_context():
        page = partial(page_of, bench.work.account_id, form_id)
        ratios = [seconds(page) / seconds(partial(tuples_of, form_id)) for _ in range(PAIRS)]
    bench.table.add("a page of 200 answers", times(ratios), "≤ 2×", "of reading and dumping tuples")


def without_values(step: str) -> str:
    """A step of a plan on PostgreSQL names what it was asked for."""
    return re.sub(r"'[^']*'", "?", step)


def stored_form(app: Flask, work: Work, answers: int) -> str:
    with app.app_context():
        form_id: str = make_form(work.account_id, **DRAFT).id
        store_answers(form_id, answers)
        analyze()
        return form_id


def new_since(app: Flask, work: Work, form_id: str, stamps: int) -> str:
    """The address of what came in the last so many stamps."""
    with app.app_context():
        since = wire_time(get_form(work.account_id, form_id).last_stamp - stamps)
    return f"/api/forms/{form_id}/responses?since={quote(since)}"


def read_ten(work: Work, form_id: str) -> Callable[[], Any]:
    form = get_form(work.account_id, form_id)
    return partial(read_responses, form, form.last_stamp - 11)


def relative(few: Side, many: Side) -> str:
    """Median over interleaved pairs of the time that `many` takes to that of `few`."""
    few.run(), many.run()
    pairs = [(few.run(), many.run()) for _ in range(PAIRS)]
    return times([first.rate / second.rate for first, second in pairs])


def times(ratios: list[float]) -> str:
    return f"{statistics.median(ratios):.2f}×"


def another_account(app: Flask) -> Work:
    return connected(app, "http://127.0.0.1:8000/api")


def page_of(account_id: str, form_id: str) -> bytes:
    form = get_form(account_id, form_id)
    return orjson.dumps(form_responses(form, read_responses(form, None)))


def tuples_of(form_id: str) -> bytes:
    rows = db.session.connection().execute(PAGE.where(Answer.form_id == form_id).limit(200))
    return orjson.dumps([tuple(row) for row in rows])


def seconds(call: Callable[[], object]) -> float:
    """The time of this process for fifty calls; what others do on the machine counts less."""
    began = time.process_time()
    for _ in range(50):
        call()
        db.session.rollback()
    return time.process_time() - began
