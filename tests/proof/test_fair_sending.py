"""A live receiver beside any number of slow, dead and hostile ones of others, in both run modes."""

import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from subprocess import PIPE
from typing import IO, Any, NamedTuple, cast

import pytest
from flask import Flask
from sqlalchemy import select, update

from tests.bench.servers import answers, started
from tests.bench.work import answered
from tests.databases import both_empty_databases
from tests.event_factories import make_delivery
from tests.factories import make_account, make_form
from tests.jobs.receiving import subscribe
from tests.jobs.test_processes import POSTGRESQL, all_delivered, beside, variables
from tests.proof.killing import Target
from tests.services import free_port, wait_until
from webapp.base.database import db
from webapp.base.text import token_hash
from webapp.events.outbox import event_id_of
from webapp.records.events import CallbackEndpoint
from webapp.records.responses.models import ResponseSession

HOSTILE = ("slow", "turns_slow", "late_gone", "gone", "reset", "drip", "headers")
EVENTS = 70
PAUSE_SECONDS = 0.3
P95_SECONDS = 5.0

__all__ = ["beside", "variables"]


class Got(NamedTuple):
    path: str
    event_id: str
    at: float


@dataclass
class Receivers:
    """Good and bad ones on one port; `dead_port` takes no connection."""

    port: int
    dead_port: int
    lines: IO[bytes] = field(init=False)
    got: list[Got] = field(default_factory=list)

    def url(self, host: int, manner: str) -> str:
        port = self.dead_port if manner == "dead" else self.port
        return f"http://127.0.1.{host}:{port}/{manner}/{host}"

    @property
    def origin(self) -> str:
        ports = (self.port, self.dead_port)
        return ",".join(f"http://127.0.1.{host}:{port}" for host in range(255) for port in ports)

    def read(self) -> None:
        with self.lines:
            for line in self.lines:
                path, event_id, moment = line.decode().split()
                self.got.append(Got(path, event_id, float(moment)))

    def of(self, manner: str) -> list[Got]:
        return [each for each in self.got if each.path.startswith(f"/{manner}/")]


@pytest.fixture
def place() -> Iterator[Receivers]:
    with ExitStack() as stack:
        listener = stack.enter_context(socket.create_server(("0.0.0.0", 0), backlog=0))  # noqa: S104
        found = Receivers(free_port(), listener.getsockname()[1])
        for _ in range(4):  # fills it: nobody accepts
            waiting = stack.enter_context(socket.socket())
            waiting.settimeout(0)
            waiting.connect_ex(("127.0.0.1", found.dead_port))
        module = "tests.proof.hostile_receivers"
        reading = threading.Thread(target=found.read)
        with started(module, str(found.port), stdout=PIPE) as process:
            found.lines = cast(IO[bytes], process.stdout)
            reading.start()
            wait_until(lambda: listens(found.port), "starting the receivers")
            yield found
        reading.join()


def listens(port: int) -> bool:
    with socket.socket() as caller:
        return caller.connect_ex(("127.0.0.1", port)) == 0


@dataclass
class Installation:
    """An installation: an application of this process on its database, and its address."""

    app: Flask
    port: int
    variables: dict[str, str]
    receivers: Receivers

    def strangers(self, urls: list[str], accounts: int, each: int) -> None:
        """Each account has its share of these receivers, all taken for quick ones."""
        with self.app.app_context():
            forms = [make_form(make_account().id) for _ in range(accounts)]
            for number, url in enumerate(urls):
                subscription = subscribe(forms[number % accounts], url)
                for _ in range(each):
                    make_delivery(subscription)

    def live(self, host: int, path: str = "live") -> Any:
        """A form whose receiver answers at once, which nobody knows yet."""
        with self.app.app_context():
            form = make_form(make_account().id)
            url = f"http://127.0.1.{host}:{self.receivers.port}/{path}/{form.id}"
            subscription = subscribe(form, url)
            endpoint = db.session.get_one(CallbackEndpoint, subscription.endpoint_id)
            endpoint.duration_ms = None
            db.session.commit()
        return form

    def answered(self, form: Any, count: int) -> dict[str, str]:
        """The sessions of so many people who have answered: key to the id of the event."""
        with self.app.app_context():
            keys = {token_hash(key): key for key in answered(form, count)}
            known = select(ResponseSession.key_hash, ResponseSession.id)
            found = db.session.execute(known.where(ResponseSession.key_hash.in_(keys))).all()
            return {keys[hashed]: event_id_of(session_id) for hashed, session_id in found}

    def sends(self, form: Any, sessions: dict[str, str]) -> dict[str, float]:
        """When each of them pressed Send, by the id of the event."""
        target = Target({}, self.port)
        sent: dict[str, float] = {}
        for key, event_id in sessions.items():
            fields = {"lang": "en", "website": "", "name": "Robin"}
            sent[event_id] = time.monotonic()
            status = target.post(f"/r/{form.share_token}/check", key, **fields)
            assert status in (200, 303)
            time.sleep(PAUSE_SECONDS)
        return sent

    def latencies(self, form: Any, sent: dict[str, float]) -> list[float]:
        def arrived() -> dict[str, float]:
            return {each.event_id: each.at for each in self.receivers.of("live")}

        wait_until(lambda: sent.keys() <= arrived().keys(), "delivering", seconds=60)
        return sorted(arrived()[event_id] - at for event_id, at in sent.items())


@contextmanager
def installed(
    app: Flask, variables: dict[str, str], receivers: Receivers, workers: int = 2
) -> Iterator[Installation]:
    """`askback run` without a Redis, else `askback web` and so many `askback worker`."""
    port = free_port()
    variables |= {"PUBLIC_URL": f"http://127.0.0.1:{port}", "PORT": str(port)}
    commands = ["web", *["worker"] * workers] if "REDIS_URL" in variables else ["run"]
    with ExitStack() as stack:
        for command in commands:
            process = stack.enter_context(started("webapp", command, **variables))
            stack.callback(process.kill)  # else it finishes what it sends
        wait_until(lambda: answers(port), "starting the server")
        yield Installation(app, port, variables, receivers)


@pytest.fixture
def installation(
    beside: Flask, variables: dict[str, str], place: Receivers, request: pytest.FixtureRequest
) -> Iterator[Installation]:
    if not variables["DATABASE_URL"].startswith("sqlite"):
        variables["REDIS_URL"] = request.getfixturevalue("redis_url")
    with installed(beside, variables, place) as found:
        yield found


@pytest.mark.prove
@pytest.mark.timeout(240)
@both_empty_databases
@pytest.mark.parametrize(
    ("hosts", "accounts", "manners"),
    [
        (0, 1, ("slow",)),  # on the same host
        (1, 1, ("slow",)),
        (10, 1, ("slow",)),
        (50, 1, ("slow",)),
        (50, 5, ("slow",)),
        (50, 5, ("dead",)),
        (50, 5, HOSTILE),
        (50, 1, HOSTILE),
    ],
)
def test_a_live_receiver_waits_for_none_of_others(
    installation: Installation, hosts: int, accounts: int, manners: tuple[str, ...]
) -> None:
    form = installation.live(host=254)
    keys = installation.answered(form, EVENTS)
    url = installation.receivers.url
    others = [url(host + 1, manners[host % len(manners)]) for host in range(hosts)]
    same = [f"{url(254, 'slow')}/{number}" for number in range(8)]
    installation.strangers(others or same, accounts, each=40 if others else 20)
    time.sleep(1.5)  # until they have taken what they may

    took = installation.latencies(form, installation.sends(form, keys))

    p95 = took[int(0.95 * len(took))]
    told = f"p50 {took[len(took) // 2]:.3f} s, p95 {p95:.3f} s, longest {took[-1]:.3f} s"
    print(f"{hosts} hosts of {accounts} accounts, {'/'.join(manners)}: {told}")
    assert p95 < P95_SECONDS
    answered_late = Counter(each.event_id for each in installation.receivers.of("slow"))
    assert set(answered_late.values()) <= {1}  # none doubled, though it takes long


@POSTGRESQL
def test_what_a_killed_worker_held_is_free_in_seconds(
    beside: Flask, variables: dict[str, str], redis_url: str, place: Receivers
) -> None:
    variables["REDIS_URL"] = redis_url
    with installed(beside, variables, place, workers=0) as found:
        form = found.live(host=1, path="hangs_twice")
        with beside.app_context():
            db.session.execute(update(CallbackEndpoint).values(duration_ms=20))
            db.session.commit()
        with started("webapp", "worker", **found.variables) as worker:
            sent = found.sends(form, found.answered(form, 2))
            wait_until(lambda: len(place.got) == 2, "holding both places")
            with started("webapp", "worker", **found.variables):
                time.sleep(3)  # it sees their leases renewed
                worker.kill()
                killed_at = time.monotonic()
                sent |= found.sends(form, found.answered(form, 1))
                wait_until(lambda: all_delivered(beside), "delivering", seconds=30)

    third = list(sent)[-1]
    waited = next(each.at for each in place.got if each.event_id == third) - killed_at
    print(f"the next event {waited:.1f} s after the kill")
    times = Counter(each.event_id for each in place.got)
    assert times == dict(zip(sent, (2, 2, 1), strict=True))
    assert waited < 20  # a lease has 30
