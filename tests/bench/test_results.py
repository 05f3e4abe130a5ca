"""Figures of the results page and of the exports, against less stored and a plain cursor loop."""

import csv
import socket
import time
from collections.abc import Callable
from contextlib import closing
from statistics import median
from types import SimpleNamespace
from typing import NamedTuple

import pytest
from flask import Flask
from sqlalchemy import text

from tests.bench.figures import Pair, Requests, Side, Table, compare
from tests.bench.load import request
from tests.bench.servers import begin_peak, peak_mib, served
from tests.bulk import analyze, store_answers
from tests.databases import both_databases
from tests.factories import make_form
from tests.pages.creator_client import creator
from webapp.base.config import Settings
from webapp.base.database import db
from webapp.records.accounts.models import Account

pytestmark = [pytest.mark.bench, both_databases]
TEN = [{"id": f"q_{number}", "text": f"Question {number}?"} for number in range(1, 11)]
HOST = "127.0.0.1:8000"  # of the public address
VIEWS = ["", "/people"]
PAGES = 20  # of one connection in one round
CONNECTIONS = 4
MANY = 1_000_000
CSV_BEGINS = b"\xef\xbb\xbf"
LAST_CHUNK = b"\r\n0\r\n\r\n"
JOINED = """
SELECT a.stamp, s.id, s.responder_name, s.status, s.created_at, s.completed_stamp, a.question_id,
  a.question_text, a.question_kind, a.parent_question_id, a.answer_text, a.response_type, a.id
FROM answers a JOIN response_sessions s ON s.id = a.session_id
WHERE a.form_id = :form AND NOT a.superseded ORDER BY a.stamp
"""


@pytest.fixture
def cookies(app: Flask, account: Account) -> str:
    """The header that signs in as the account."""
    kept = creator(app, account).client._cookies.values()
    return "Cookie: " + "; ".join(f"{cookie.key}={cookie.value}" for cookie in kept)


def form_with(app: Flask, account: Account, stored: int, follow_ups: int = 0) -> str:
    """The id of a form that holds so many answers, and of each response so many follow-ups."""
    mode = "deep_dive" if follow_ups else "none"
    with app.app_context():
        form = make_form(account.id, questions=TEN, followUpMode=mode)
        store_answers(form.id, stored, follow_ups=follow_ups)
        analyze()
        return str(form.id)


@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    ("few", "follow_ups", "stored"),
    [
        (1_000, 0, "100,000 answers stored"),
        (10_000, 2, "100,000 responses with two follow-ups each"),
    ],
)
def test_results_page(  # noqa: PLR0913
    app: Flask,
    settings: Settings,
    table: Table,
    account: Account,
    cookies: str,
    few: int,
    follow_ups: int,
    stored: str,
) -> None:
    small, large = (form_with(app, account, count, follow_ups) for count in (few, 100 * few))

    for view in VIEWS:
        pair = compared(settings, cookies, small + view, large + view)
        table.add_pair(f"results page{view}, {stored} to 1,000", pair, "85–115 %")


def compared(settings: Settings, cookies: str, few: str, many: str) -> Pair:
    """A page of the first of two forms to the same of the other; both as `/forms/` leads there."""

    def pages(path: str) -> Callable[[], Requests]:
        one = request("GET", f"/forms/{path}", cookies, host=HOST)
        return lambda: [[one] * PAGES] * CONNECTIONS

    with served("askback", 1, settings) as ports:
        return compare(Side(list(ports), pages(few)), Side(list(ports), pages(many)), rounds=20)


class Download(NamedTuple):
    """One file as it arrived: seconds to the first byte and to the last, MiB added meanwhile."""

    first: float
    whole: float
    added_mib: float


@pytest.mark.timeout(3600)
def test_csv(app: Flask, settings: Settings, table: Table, account: Account, cookies: str) -> None:
    small, form_id = (form_with(app, account, stored) for stored in (20_000, MANY))
    with served("askback", 1, settings) as processes:
        ((port, process),) = processes.items()
        download(port, process, small, cookies)
        runs = [
            (plain_loop(app, form_id), download(port, process, form_id, cookies)) for _ in range(3)
        ]
    ratio = median(loop / exported.whole for loop, exported in runs)
    rates = f"{MANY / runs[-1][1].whole:.0f} rows/s, loop {MANY / runs[-1][0]:.0f} rows/s"
    table.add("CSV of 1,000,000 answers to a cursor loop", f"{100 * ratio:.0f} %", "≥ 70 %", rates)
    first = median(exported.first for _, exported in runs)
    table.add("first byte of it", f"{1000 * first:.0f} ms", "< 200 ms")
    added = max(exported.added_mib for _, exported in runs)
    table.add("memory added by it", f"{added:.1f} MiB", "< 16 MiB")


def download(port: int, process_id: int, form_id: str, cookies: str) -> Download:
    """The file over a bare socket, so that reading it costs as little as can be."""
    asked = request("GET", f"/forms/{form_id}/export.csv", cookies, "Connection: close", host=HOST)
    before = begin_peak(process_id)
    with socket.create_connection(("127.0.0.1", port), timeout=600) as connection:
        began = time.perf_counter()
        connection.sendall(asked)
        head = bytearray()
        while CSV_BEGINS not in head:
            head += connection.recv(4096)
        first = time.perf_counter() - began
        buffer, tail = bytearray(1 << 20), b""
        while received := connection.recv_into(buffer):
            last = bytes(buffer[max(0, received - len(LAST_CHUNK)) : received])
            tail = tail[-len(LAST_CHUNK) :] + last
        whole = time.perf_counter() - began
    assert head.startswith(b"HTTP/1.1 200 ")
    assert tail.endswith(LAST_CHUNK)
    return Download(first, whole, peak_mib(process_id) - before)


def plain_loop(app: Flask, form_id: str) -> float:
    """Seconds of the shortest program: one statement, one cursor, one row after the other."""
    writer = csv.writer(
        SimpleNamespace(write=lambda text: len(text)), quoting=csv.QUOTE_ALL
    )  # to nowhere
    literal = {"literal_binds": True}
    with app.app_context(), db.engine.connect() as connection:
        statement = text(JOINED).bindparams(form=form_id)
        # on PostgreSQL a cursor without a name would fetch everything first
        name = () if db.engine.dialect.name == "sqlite" else ("loop",)
        with closing(connection.connection.cursor(*name)) as cursor:
            if name:
                cursor.itersize = 1000
            began = time.perf_counter()
            cursor.execute(str(statement.compile(db.engine, compile_kwargs=literal)))
            written = sum(1 for row in cursor if writer.writerow(row))
            took = time.perf_counter() - began
    assert written == MANY
    return took
