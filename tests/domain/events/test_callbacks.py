"""Callbacks: which addresses may be one, what is signed, challenged, and what the worst cost."""

import base64
import hashlib
import hmac
import json
import socket
import tracemalloc
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from standardwebhooks import Webhook

from tests.raw_receiver import Answer, raw_receiver, read_request, says
from webapp.base.database import utc_now
from webapp.base.outbound import Bounds, Reply, Unreachable, fetch
from webapp.events import callbacks, signatures

OK = b"HTTP/1.1 200 OK\r\n"
MEBIBYTE = b"x" * 2**20


@pytest.fixture
def canary(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    connected: list[object] = []
    monkeypatch.setattr(
        socket, "create_connection", lambda address, **_: connected.append(address) or _refuse()
    )
    return connected


def _refuse() -> None:
    raise ConnectionRefusedError


def send(url: str, bounds: Bounds) -> Reply:
    return fetch(url, headers={"webhook-id": "evt_1"}, body=b"{}", bounds=bounds)


def reason(url: str, bounds: Bounds) -> str:
    with pytest.raises(Unreachable) as failure:
        send(url, bounds)
    return failure.value.reason


def test_an_allowed_origin_lifts_the_rules_for_itself_alone(canary: list[object]) -> None:
    allowed = frozenset({"http://127.0.0.1:9000", "https://n8n.internal:5678", "http://[fd12::7]"})
    bounds = callbacks.callback_bounds(allowed)

    assert callbacks.check_callback_url("http://127.0.0.1:9000/x?y", allowed) == "127.0.0.1:9000"
    assert callbacks.check_callback_url("HTTPS://N8N.internal:5678", allowed) == "n8n.internal:5678"
    assert callbacks.check_callback_url("http://[fd12::7]:80/", allowed) == "[fd12::7]:80"
    assert reason("http://127.0.0.1:9000/", bounds) == "connection_failed"
    assert canary == [("127.0.0.1", 9000)]
    for other in (
        *("http://127.0.0.1:9001/", "https://127.0.0.1:9000/", "http://127.0.0.2:9000/"),
        *("http://127.1:9000/", "http://localhost:9000/", "http://2130706433:9000/"),
        *("http://n8n.internal:5678/", "https://n8n.internal:5679/", "http://127.0.0.1:9000@x.de/"),
        *("http://x@127.0.0.1:9000/", "http://127.0.0.1:9000/#a", "http://127.0.0.1/"),
    ):
        assert reason(other, bounds) == "invalid_url", other
    assert len(canary) == 1


HEADERS = b"".join(b"X-%d: %s\r\n" % (n, b"y" * 60_000) for n in range(90))


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        pytest.param(says(OK + b"\r\n", MEBIBYTE, repeat=1000), (200, 65_536), id="1 GB"),
        pytest.param(
            says(b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1/\r\n\r\n"), (302, 0), id="302"
        ),
        pytest.param(says(OK + HEADERS + b"\r\n"), "invalid_reply", id="many long ones"),
        pytest.param(
            says(b"HTTP/1.1 100 Continue\r\n\r\n" * 40_000),
            "invalid_reply",
            id="continued for ever",
        ),
        pytest.param(says(b"hello\r\n\r\n"), "invalid_reply", id="no HTTP"),
    ],
)
def test_an_answer_costs_little_however_long_it_is(
    answer: Answer, outcome: str | tuple[int, int]
) -> None:
    with raw_receiver(answer) as receiver:
        bounds = callbacks.callback_bounds(frozenset({receiver.origin}))
        tracemalloc.start()
        try:
            reply = send(receiver.origin, bounds)
            found: str | tuple[int, int] = reply.status, len(reply.body)
        except Unreachable as failure:
            found = failure.reason.replace("connection_failed", "invalid_reply")
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()

    assert found == outcome
    assert most < 1_000_000
    assert receiver.connections == 1


KEY = bytes(range(32))
SIGNING = "whsec_" + base64.b64encode(KEY).decode()
OTHER = "whsec_" + base64.b64encode(bytes(range(24))).decode()
BODY = '{"eventId":"evt_1","name":"Zoë"}'.encode()


def signed(*secrets: str, now: datetime | None = None) -> dict[str, str]:
    return signatures.signed_headers(
        "evt_1", BODY, secrets or (SIGNING,), subscription_id="sub_1", now=now or utc_now()
    )


def test_an_independent_implementation_verifies_it() -> None:
    now = datetime(2026, 11, 21, 12, 4, 0, 999_000, tzinfo=UTC)
    headers = signed(now=now)
    text = b"evt_1.1795262640." + BODY

    assert headers["webhook-timestamp"] == "1795262640"
    digest = hmac.digest(KEY, text, hashlib.sha256)
    assert headers["webhook-signature"] == f"v1,{base64.b64encode(digest).decode()}"
    assert headers["X-MCP-Subscription-Id"] == "sub_1"
    assert headers["webhook-id"] == "evt_1"
    assert Webhook(SIGNING).verify(BODY, signed())["eventId"] == "evt_1"


def test_a_rotated_secret_signs_alongside_the_new_one() -> None:
    headers = signed(SIGNING, OTHER)

    assert len(headers["webhook-signature"].split(" ")) == 2
    assert headers["webhook-signature"].startswith(signed(SIGNING)["webhook-signature"])
    for secret in (SIGNING, OTHER):
        Webhook(secret).verify(BODY, headers)


@pytest.mark.parametrize(
    ("secret", "reason"),
    [
        ("whsec_" + base64.b64encode(bytes(23)).decode(), "23 bytes"),
        ("whsec_" + base64.b64encode(bytes(65)).decode(), "65 bytes"),
        (SIGNING + "\n", "base64"),
    ],
)
def test_other_secrets_are_refused_with_a_reason_that_repeats_nothing(
    secret: str, reason: str
) -> None:
    with pytest.raises(ValueError, match=reason) as refused:
        signatures.secret_key(secret)
    assert SIGNING[6:20] not in str(refused.value)


SECRET = "whsec_" + "Zk9x" * 8
Body = Callable[[str], bytes]  # the body to answer to a challenge


def judged(
    reply: Body, status: int = 200, content_type: str = ""
) -> tuple[callbacks.Unverified | None, bytes]:
    seen: list[bytes] = []

    def answer(connection: socket.socket) -> None:
        seen.append(read_request(connection))
        body = reply(json.loads(seen[0].partition(b"\r\n\r\n")[2])["challenge"])
        head = f"HTTP/1.1 {status} X\r\nContent-Length: {len(body)}\r\n{content_type}\r\n"
        connection.sendall(head.encode() + body)

    with raw_receiver(answer, reads=False) as receiver:
        bounds = callbacks.callback_bounds(frozenset({receiver.origin}), seconds=8)
        return callbacks.send_challenge(receiver.origin, SECRET, "sub_1", bounds=bounds), seen[0]


def failure_in(said: callbacks.Unverified | None) -> str:
    return said.failure if said else ""


def echo(challenge: str) -> bytes:
    return json.dumps({"challenge": challenge}).encode()


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
        *(b"", b"{}", b'{"challenge": null}', b'{"challenge": 1}', b'{"challenge": ["x"]}'),
        *(b'{"challenge": "\\ud800"}', b'{"challenge": ""}', b"\xff\xfe", b"[" * 50_000),
        str.encode,
        lambda challenge: echo(challenge + " "),
        lambda challenge: echo(challenge)[:-1] + b', "x": "' + b"y" * 70_000 + b'"}',
    ],
)
def test_anything_else_fails(reply: Body | bytes) -> None:
    answer = reply if callable(reply) else lambda _challenge: reply
    assert failure_in(judged(answer)[0]) == "challenge_failed"


@pytest.mark.parametrize(
    ("status", "content_type", "body", "answered", "taken"),
    [
        (200, "text/html", b"x" * 70_000, "200 with more than 65,536 bytes of text/html", True),
        (200, "approve/this.address.now", b"", "200 with 0 bytes of no type", True),
        (302, "text/html", b"x", "302 with 1 bytes of text/html", False),
    ],
)
def test_what_came_instead_is_described_and_not_quoted(
    status: int, content_type: str, body: bytes, answered: str, *, taken: bool
) -> None:
    header = f"Content-Type: {content_type}\r\n" if content_type else ""

    said, _ = judged(lambda _challenge: body, status, header)

    assert said
    assert (said.answered, said.taken) == (answered, taken)
