"""What events cost whoever completes a response. Nobody delivers meanwhile."""

import time
from dataclasses import dataclass, field
from functools import partial
from itertools import cycle
from statistics import median
from typing import Any

import pytest

from tests.bench.figures import Side, Table, compare
from tests.bench.load import Measured
from tests.bench.servers import processor_seconds, served
from tests.bench.work import CONNECTIONS, Work, answered, new_form
from tests.databases import both_databases
from tests.event_factories import make_subscription
from webapp.answers.answering import complete_response
from webapp.base.config import Settings
from webapp.base.database import utc_now

pytestmark = [pytest.mark.bench, both_databases]

GOALS = {0: "≥ 95 %", 3: "≥ 85 %"}  # by the number of subscriptions
CALLS = 300


@dataclass(frozen=True)
class Counted(Side):
    """Also keeps the seconds of the processor that each round took."""

    process_ids: list[int]
    used: list[float] = field(default_factory=list)

    def run(self) -> Measured:
        before = sum(map(processor_seconds, self.process_ids))
        measured = super().run()
        self.used.append(sum(map(processor_seconds, self.process_ids)) - before)
        return measured

    @property
    def milliseconds(self) -> float:
        """Of the processor for one request, without the first round, which warms up."""
        return 1000 * median(self.used[1:]) / (CONNECTIONS * 15)


def test_completing_alongside_the_same_without_events(
    settings: Settings, table: Table, work: Work, processes: int, request: pytest.FixtureRequest
) -> None:
    """The whole request, beside processes in which events are switched off."""
    variables = {} if processes == 1 else {"REDIS_URL": request.getfixturevalue("redis_url")}
    off = settings.model_copy(update={"mcp_events_enabled": False})
    with (
        served("web", processes, off, **variables) as without,
        served("web", processes, settings, **variables) as ours,
    ):
        for subscriptions in (0, 3):
            forms = subscribed(work, subscriptions)
            sides = [
                Counted(list(each), partial(work.completions, forms), list(each.values()))
                for each in (without, ours)
            ]
            pair = compare(*sides)
            before, after = (side.milliseconds for side in sides)
            table.add_pair(name(subscriptions), pair, GOALS[subscriptions])
            detail = f"{after:.2f} ms of the processor to {before:.2f} ms"
            table.add("the same, processor", f"{before / after:.0%}", "", detail)


def test_completing_as_a_use_case(settings: Settings, table: Table, work: Work) -> None:
    """The transaction alone, in one thread, every second time without the outbox."""
    for subscriptions in (0, 3):
        before, after = one_by_one(settings, work, subscriptions)
        detail = f"p50 {1000 * after[0]:.2f} to {1000 * before[0]:.2f} ms"
        detail += f"; processor {1000 * after[1]:.2f} to {1000 * before[1]:.2f} ms"
        reached = f"{before[0] / after[0]:.0%}"
        table.add(f"{name(subscriptions)}, transaction", reached, GOALS[subscriptions], detail)


def name(subscriptions: int) -> str:
    return f"completing a response, {subscriptions or 'no'} subscriptions, to without events"


def subscribed(work: Work, subscriptions: int, count: int = CONNECTIONS) -> list[Any]:
    """Forms with so many live subscriptions each."""
    forms = [new_form(work) for _ in range(count)]
    with work.app.app_context():
        for form in forms:
            for _ in range(subscriptions):
                make_subscription(form)
    return forms


def one_by_one(settings: Settings, work: Work, subscriptions: int) -> list[tuple[float, float]]:
    """Median seconds and seconds of the processor, without events and with them."""
    form = subscribed(work, subscriptions, count=1)[0]
    with work.app.app_context():
        keys = answered(form, count=2 * CALLS)
    taken: dict[bool, list[tuple[float, float]]] = {False: [], True: []}
    for events, key in zip(cycle(taken), keys, strict=False):
        changed = settings.model_copy(update={"mcp_events_enabled": events})
        work.app.config["SETTINGS"] = changed
        with work.app.app_context():
            began, used = time.perf_counter(), time.process_time()
            complete_response(form.share_token, key, responder_name="Robin", now=utc_now())
            took = time.perf_counter() - began, time.process_time() - used
        taken[events].append(took)
    return [tuple(map(median, zip(*taken[events][20:], strict=True))) for events in taken]
