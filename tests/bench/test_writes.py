"""Figures of the writing operations against a durable insert."""

from functools import partial

import pytest
from sqlalchemy import func, select

from tests.bench.conftest import Bench
from tests.bench.figures import BEFORE
from tests.bench.work import CONNECTIONS, DRAFT, QUESTIONS, new_form
from tests.databases import both_databases
from webapp.base.database import db
from webapp.records.follow_ups import FollowUp
from webapp.records.responses.models import Answer

pytestmark = [pytest.mark.bench, both_databases]

ANSWER_GOAL = "≥ 65 %; on PostgreSQL ≥ 55 %"
RULES_GOAL = "≥ 28 %; on PostgreSQL ≥ 25 %"
NEXT_GOAL = f"≥ 1.4× of {BEFORE}"
SCRIPTS = "HX-Request: true"


def test_what_an_agent_writes(bench: Bench) -> None:
    inserts = bench.work.inserts()
    bench.add("POST /drafts", "≥ 70 %", inserts, bench.work.creates)
    bench.add("PATCH /drafts/{id}", "≥ 65 %", inserts, bench.work.patches)
    bench.add("publish", "≥ 50 %", inserts, bench.work.publishes)


def test_what_respondents_write(bench: Bench) -> None:
    forms = [new_form(bench.work).share_token for _ in range(CONNECTIONS)]
    inserts = bench.work.inserts()
    for name, links in [("answer, 16 forms", forms), ("answer, one form", forms[:1])]:
        bench.add(name, ANSWER_GOAL, inserts, partial(bench.work.answers, links))
    scripts = partial(bench.work.answers, forms, SCRIPTS)
    bench.add("answer with the next page, with scripts", NEXT_GOAL, inserts, scripts)
    no_cookie = partial(bench.work.answers, forms, cookie=False)
    bench.add("answer with the next page, no cookie, no scripts", NEXT_GOAL, inserts, no_cookie)


def test_what_respondents_write_who_are_asked_back(bench: Bench) -> None:
    """Each answer is followed by a prepared question, asked in a commit of its own."""
    asks = DRAFT | {
        "followUpMode": "smart",
        "context": "They deploy by hand.",
        "maxFollowupsPerQuestion": 1,
        "prepared": {place: [(f"Since when, {place}?", "always")] for place in range(QUESTIONS)},
    }
    forms = [new_form(bench.work, **asks).share_token for _ in range(CONNECTIONS)]
    inserts, answers = bench.work.inserts(), partial(bench.work.answers, forms)
    bench.add("answer, and a prepared follow-up", RULES_GOAL, inserts, answers)
    with bench.work.app.app_context():
        asked = db.session.scalar(select(func.count()).select_from(FollowUp))
        answered = db.session.scalar(select(func.count()).select_from(Answer))
    assert asked == answered


def test_a_whole_response(bench: Bench) -> None:
    """Three answers, each with the next page, and Send with the page that says thanks."""
    short = DRAFT | {"questions": ["What?", "When?", "Why?"]}
    forms = [new_form(bench.work, **short).share_token for _ in range(CONNECTIONS)]
    whole = partial(bench.work.responses, forms, SCRIPTS)
    name = "whole response of three answers, with scripts: 4 requests"
    bench.add(name, NEXT_GOAL, bench.work.inserts(), whole)
