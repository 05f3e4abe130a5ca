"""Figures of the reading operations against a look-up; whether they grow with what is stored."""

import statistics
import time
from collections.abc import Callable
from functools import partial
from urllib.parse import quote

import orjson
import pytest
from flask import Flask

from api.wire.responses import form_responses
from api.wire.types import wire_time
from tests.bench.ceiling import PAGE
from tests.bench.conftest import Bench
from tests.bench.figures import BEFORE, Side
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
API = "http://127.0.0.1:8000/api"


def test_reads_of_an_agent(app: Flask, bench: Bench) -> None:
    work = bench.work
    form_id = stored_form(app, work, 10_000)
    bench.add("GET /forms/{id}", "≥ 70 %", work.look_ups(), work.get(f"/api/forms/{form_id}"))
    nothing, ten = new_since(app, work, form_id, 0), new_since(app, work, form_id, 11)
    bench.add("responses, 0 new", "≥ 65 %", work.look_ups(), work.get(nothing))
    bench.add("responses, 10 new", "≥ 60 %", work.look_ups(), work.get(ten))


def test_a_list_of_a_thousand_forms(app: Flask, bench: Bench) -> None:
    work = connected(app, API)
    with app.app_context():
        form = make_form(work.account_id, **DRAFT)
        copy_forms(form, LISTED - 1)
        analyze()
    ceiling = work.get(f"/list/{work.account_id}", times=4)
    name = f"GET /forms, {LISTED:,} forms"
    bench.add(name, f"≥ 2× of {BEFORE}", ceiling, work.get("/api/forms", times=4))


def test_ten_new_answers_however_many_are_stored(app: Flask, bench: Bench) -> None:
    forms = {size: stored_form(app, bench.work, size) for size in SIZES}
    few, *more = (
        Side(bench.askback, bench.work.get(new_since(app, bench.work, form_id, 11), times=12))
        for form_id in forms.values()
    )
    for size, many in zip(SIZES[1:], more, strict=True):
        name = f"responses, 10 new, {size:,} stored"
        bench.table.add(name, relative(few, many), "within 15 % of 10")


def test_listing_forms_however_many_answers_they_hold(app: Flask, bench: Bench) -> None:
    sides = []
    for answers in (10_000, 1_000_000):
        work = connected(app, API)
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
    reached = f"{statistics.median(ratios):.2f}×"
    bench.table.add("a page of 200 answers", reached, "≤ 2×", "of reading and dumping tuples")


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


def relative(few: Side, many: Side) -> str:
    """Median over interleaved pairs of the time that `many` takes to that of `few`."""
    few.run(), many.run()
    pairs = [(few.run(), many.run()) for _ in range(PAIRS)]
    return f"{statistics.median(first.rate / second.rate for first, second in pairs):.2f}×"


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
