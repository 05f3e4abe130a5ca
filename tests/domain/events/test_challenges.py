"""A callback is verified by what it sends back."""

import json
import socket
import time
from collections.abc import Callable

import pytest
from standardwebhooks import Webhook

from tests.raw_receiver import raw_receiver, read_request, says
from webapp.base.vocabulary import DeliveryFailure
from webapp.events.callbacks import Unverified, callback_bounds, send_challenge

SECRET = "whsec_" + "Zk9x" * 8
Reply = Callable[[str], bytes]  # the body to answer to a challenge


def judged(
    reply: Reply, status: int = 200, content_type: str = ""
) -> tuple[Unverified | None, bytes]:
    """What becomes of a receiver that answers so, and the request that it was sent."""
    seen: list[bytes] = []

    def answer(connection: socket.socket) -> None:
        seen.append(read_request(connection))
        body = reply(json.loads(seen[0].partition(b"\r\n\r\n")[2])["challenge"])
        head = f"HTTP/1.1 {status} X\r\nContent-Length: {len(body)}\r\n{content_type}\r\n"
        connection.sendall(head.encode() + body)

    with raw_receiver(answer, reads=False) as receiver:
        bounds = callback_bounds(frozenset({receiver.origin}), seconds=8)
        return send_challenge(receiver.origin, SECRET, "sub_1", bounds=bounds), seen[0]


def reason(said: Unverified | None) -> str:
    return said.failure if said else ""


def echo(challenge: str) -> bytes:
    return json.dumps({"challenge": challenge}).encode()


@pytest.mark.parametrize("status", [200, 201, 202, 299])
def test_an_echo_with_2xx_verifies(status: int) -> None:
    assert judged(echo, status)[0] is None


def test_the_challenge_is_signed_and_new_each_time() -> None:
    (_, first), (_, second) = judged(echo), judged(echo)

    head, _, body = first.decode().partition("\r\n\r\n")
    headers = dict(line.split(": ", 1) for line in head.split("\r\n")[1:])
    said = Webhook(SECRET).verify(body.encode(), headers)
    assert said["type"] == "verification"
    assert len(said["challenge"]) >= 43
    assert headers["webhook-id"].startswith("msg_verification_")
    assert headers["X-MCP-Subscription-Id"] == "sub_1"
    assert said["challenge"] not in second.decode()


@pytest.mark.parametrize(
    "reply",
    [
        lambda _challenge: b"",
        lambda _challenge: b"{}",
        lambda _challenge: b'{"challenge": null}',
        lambda _challenge: b'{"challenge": 1}',
        lambda _challenge: b'{"challenge": ["x"]}',
        lambda _challenge: b'{"challenge": "\\ud800"}',
        lambda _challenge: b'{"challenge": ""}',
        lambda _challenge: b"\xff\xfe",
        lambda _challenge: b"[" * 50_000,
        lambda challenge: challenge.encode(),
        lambda challenge: json.dumps([challenge]).encode(),
        lambda challenge: echo(challenge + " "),
        lambda challenge: echo(challenge.upper() + "x"),
        lambda challenge: echo(challenge)[:-1] + b', "x": "' + b"y" * 70_000 + b'"}',
    ],
)
def test_anything_else_fails(reply: Reply) -> None:
    assert reason(judged(reply)[0]) == "challenge_failed"


@pytest.mark.parametrize(
    ("status", "failure"),
    [
        *((status, "challenge_failed") for status in (300, 301, 304, 307)),
        *((status, "http_4xx") for status in (400, 401, 410, 413, 425, 429)),
        *((status, "http_5xx") for status in (500, 503)),
    ],
)
def test_a_status_beyond_2xx_fails_whatever_it_echoes(status: int, failure: str) -> None:
    assert reason(judged(echo, status)[0]) == failure


@pytest.mark.parametrize(
    ("status", "content_type", "body", "answered", "taken"),
    [
        (200, "text/plain", b"Accepted", "200 with 8 bytes of text/plain", True),
        (
            200,
            "Application/JSON; charset=utf-8",
            b"{}",
            "200 with 2 bytes of Application/JSON",
            True,
        ),
        (202, "", b"", "202 with 0 bytes of no type", True),
        (200, "text/html", b"x" * 70_000, "200 with more than 65,536 bytes of text/html", True),
        (200, "approve/this.address.now", b"", "200 with 0 bytes of no type", True),
        (200, "text/<b>x", b"", "200 with 0 bytes of no type", True),
        (302, "text/html", b"x", "302 with 1 bytes of text/html", False),
        (404, "text/html", b"x", "404 with 1 bytes of text/html", False),
        (503, "text/html", b"x", "503 with 1 bytes of text/html", False),
    ],
)
def test_what_came_instead_is_described_and_not_quoted(
    status: int, content_type: str, body: bytes, answered: str, *, taken: bool
) -> None:
    header = f"Content-Type: {content_type}\r\n" if content_type else ""

    said, _ = judged(lambda _challenge: body, status, header)

    assert said
    assert (said.answered, said.taken) == (answered, taken)


@pytest.mark.parametrize(
    ("answer", "failure"),
    [
        (lambda _connection: time.sleep(3), "timeout"),
        (lambda connection: connection.close(), "connection_refused"),
        (says(b"hello\r\n\r\n"), "challenge_failed"),
    ],
)
def test_no_answer_has_its_reason(answer: Callable[[socket.socket], None], failure: str) -> None:
    with raw_receiver(answer) as receiver:
        bounds = callback_bounds(frozenset({receiver.origin}), seconds=1)

        said = send_challenge(receiver.origin, SECRET, "sub_1", bounds=bounds)

    assert said == Unverified(DeliveryFailure(failure))


def test_nobody_who_listens_is_a_refused_connection() -> None:
    with raw_receiver(says(b"")) as receiver:
        origin = receiver.origin
    bounds = callback_bounds(frozenset({origin}), seconds=1)

    said = send_challenge(origin, SECRET, "sub_1", bounds=bounds)

    assert said == Unverified(DeliveryFailure.CONNECTION_REFUSED)
