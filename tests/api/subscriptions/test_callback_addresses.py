"""Nobody makes the server call an address that is not public, whatever the DNS answers."""

import ipaddress
import socket
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.api.conftest import Agent, refusal
from tests.api.subscriptions.subscribing import subscribe
from tests.raw_receiver import Receiver, raw_receiver, says
from tests.webapp.test_outbound import CLOSED
from webapp.events import callbacks

pytestmark = pytest.mark.settings(write_limits=False)

PUBLIC = "8.8.8.8"
SERVICES = {"127.0.0.1", "localhost"}
find_address = socket.getaddrinfo
NAME = "https://hooks.example.org"


@dataclass
class Network:
    answers: Iterator[list[str]] = iter(())
    asked: list[str] = field(default_factory=list)
    tried: list[str] = field(default_factory=list)

    def resolve(self, host: str, port: int, *arguments: Any, **options: Any) -> list[Any]:
        if host in SERVICES:  # a client of an earlier test connects to its Redis again
            return find_address(host, port, *arguments, **options)
        self.asked.append(host)
        family = socket.AF_INET, socket.SOCK_STREAM, 0, ""
        return [(*family, (address, port)) for address in next(self.answers)]


@pytest.fixture
def canary(monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    with raw_receiver(says(b"HTTP/1.1 200 OK\r\n\r\n"), reads=False) as receiver:
        monkeypatch.setattr(callbacks, "PORTS", callbacks.PORTS | {receiver.port})
        yield receiver


@pytest.fixture
def network(monkeypatch: pytest.MonkeyPatch) -> Network:
    found, connect = Network(), socket.create_connection

    def guarded(address: tuple[str, int], **options: Any) -> socket.socket:
        found.tried.append(address[0])
        if not ipaddress.ip_address(address[0]).is_loopback:
            raise ConnectionRefusedError
        return connect(address, **options)

    monkeypatch.setattr(socket, "getaddrinfo", found.resolve)
    monkeypatch.setattr(socket, "create_connection", guarded)
    return found


def refused(agent: Agent, form: Any, url: str) -> str:
    answer = subscribe(agent, form, url=url)
    assert answer.status_code == 400, url
    return f"{refusal(answer)[1]} {answer.json['message']}"


def test_no_closed_address_is_called(
    agent: Agent, form: Any, canary: Receiver, network: Network
) -> None:
    answers = [answer for one in CLOSED for answer in ([one], [PUBLIC, one], [one, PUBLIC])]
    network.answers = iter(answers)

    said = {refused(agent, form, f"{NAME}:{canary.port}/") for _ in answers}

    assert said == {"callback_failed url: did not answer the challenge (connection_refused)."}
    assert (len(network.asked), network.tried, canary.connections) == (len(answers), [], 0)
