"""Figures of the writing operations against a durable insert."""

from functools import partial

import pytest

from tests.bench.conftest import Bench
from tests.bench.work import CONNECTIONS, new_form
from tests.databases import both_databases

pytestmark = [pytest.mark.bench, both_databases]

ANSWER_GOAL = "≥ 65 %; on PostgreSQL ≥ 55 %"


def test_what_an_agent_writes(bench: Bench) -> None:
    inserts = bench.work.inserts()
    bench.add("POST /drafts", "≥ 70 %", inserts, bench.work.creates)
    bench.add("PATCH /drafts/{id}", "≥ 65 %", inserts, bench.work.patches)
    bench.add("publish", "≥ 50 %", inserts, bench.work.publishes)


def test_what_respondents_write(bench: Bench) -> None:
    forms = [new_form(bench.work).share_token for _ in range(CONNECTIONS)]
    inserts = bench.work.inserts()
    for name, links, headers, cookie in [
        ("answer, 16 forms", forms, [], True),
        ("answer, one form", forms[:1], [], True),
        ("answer and next page, with scripts, 16 forms", forms, ["HX-Request: true"], True),
        ("answer and next page, no cookie, 16 forms", forms, [], False),
    ]:
        answers = partial(bench.work.answers, links, *headers, cookie=cookie)
        bench.add(name, ANSWER_GOAL, inserts, answers)
