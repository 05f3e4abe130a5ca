"""Streams that are cut off at random and go on by Last-Event-ID, beside eight writers."""

import random
import secrets
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pytest
from flask import Flask

from tests.databases import both_databases
from tests.event_streams import EventStream
from tests.streaming_site import Site, site_on
from webapp.base.config import Settings


@pytest.fixture
def site(app: Flask, settings: Settings) -> Iterator[Site]:
    with site_on(settings) as served:
        yield served


@both_databases
@pytest.mark.parametrize("answers", [240, pytest.param(2000, marks=pytest.mark.prove)])
def test_connections_cut_at_random_lose_and_repeat_nothing(site: Site, answers: int) -> None:
    """Eight write, of whom every second response is completed; four read, and are cut off."""
    form = site.form()
    writers, each_writes = 8, answers // 8
    expected = writers * (each_writes + each_writes // 4)
    readers = [CutReader(site, form, random.Random(number)) for number in range(4)]  # noqa: S311
    with ThreadPoolExecutor(writers + len(readers)) as pool:
        reading = [pool.submit(reader.run, expected) for reader in readers]
        writing = [pool.submit(write, site, form, each_writes) for _ in range(writers)]
        for each in writing:
            each.result()
        for each in reading:
            each.result(60)

    for reader in readers:
        assert reader.seen.total() == len(reader.seen) == expected
        assert reader.connections > 5


def write(site: Site, form: Any, count: int) -> None:
    for number in range(count // 2):
        key = secrets.token_urlsafe(24)
        site.answer(form, key, 0)
        site.answer(form, key, 1)
        if number % 2:
            site.complete(form, key)


@dataclass
class CutReader:
    """A client that goes on with Last-Event-ID after each cut, and counts what it saw."""

    site: Site
    form: Any
    random: random.Random
    connections: int = 0
    last_id: str = ""

    def __post_init__(self) -> None:
        self.seen: Counter[str] = Counter()
        self.token = self.site.token(self.form).token

    def run(self, expected: int) -> None:
        deadline = time.monotonic() + 50
        while len(self.seen) < expected and time.monotonic() < deadline:
            headers = (f"Last-Event-ID: {self.last_id}",) if self.last_id else ()
            self.connections += 1
            with self.site.stream(self.form, self.token, *headers, seconds=2) as stream:
                if stream.status == 200:
                    self._read(stream, expected)
                else:  # the places of connections that were cut are not free yet
                    time.sleep(0.05)

    def _read(self, stream: EventStream, expected: int) -> None:
        for _ in range(self.random.randrange(1, max(2, expected // 10))):
            try:
                event = stream.next()
            except (TimeoutError, EOFError):
                return
            if event.name != "form_status":
                self.seen[event.id] += 1
                self.last_id = event.id
            if len(self.seen) == expected:
                return
