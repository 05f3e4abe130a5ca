"""Callbacks: which addresses may be one, and what the worst of receivers costs."""

import os
import socket
import time
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from tests.raw_receiver import Answer, raw_receiver, says
from tests.tls import certified
from webapp.base.outbound import Bounds, Pinned, Reply, Unreachable
from webapp.events import callbacks
from webapp.events.callbacks import (
    CHALLENGE_SECONDS,
    DELIVERY_SECONDS,
    callback_bounds,
    check_callback_url,
    failure_of,
    post,
)

OK = b"HTTP/1.1 200 OK\r\n"
MEBIBYTE = b"x" * 2**20


@pytest.fixture
def canary(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The addresses that anything connected to."""
    connected: list[object] = []
    monkeypatch.setattr(
        socket, "create_connection", lambda address, **_: connected.append(address) or _refuse()
    )
    return connected


def _refuse() -> None:
    raise ConnectionRefusedError


def send(url: str, bounds: Bounds) -> Reply:
    return post(url, {"webhook-id": "evt_1"}, b"{}", bounds=bounds)


def reason(url: str, bounds: Bounds) -> str:
    with pytest.raises(Unreachable) as failure:
        send(url, bounds)
    return failure.value.reason


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://Hooks.example.com/r/ab?k=9", "hooks.example.com:443"),
        ("https://hooks.example.com:8443/", "hooks.example.com:8443"),
        ("https://hooks.example.com", "hooks.example.com:443"),
    ],
)
def test_a_callback_is_an_https_address_of_a_name(url: str, host: str) -> None:
    assert check_callback_url(url) == host


@pytest.mark.parametrize(
    "url",
    [
        *("http://hooks.example.com/", "https://hooks.example.com:444/", "https://8.8.8.8/"),
        *("https://[2606:4700::1111]/", "https://hooks.example.com:0/", "https://127.0.0.1:8443/"),
        *("https://2130706433/", "https://0x7f000001/", "https://0177.0.0.1/", "https://127.1/"),
        *("https://a@hooks.example.com/", "https://hooks.example.com/#x", "", "hooks.example.com"),
        *(
            "https://hooks.example.com/\r\nX: y",
            "https://hooks.example.com./",
            "https://h\u00e9.de/",
        ),
    ],
)
def test_nothing_else_is_a_callback(url: str) -> None:
    with pytest.raises(Unreachable, match="invalid_url"):
        check_callback_url(url)


def test_an_allowed_origin_lifts_the_rules_for_itself_alone(canary: list[object]) -> None:
    allowed = frozenset({"http://127.0.0.1:9000", "https://n8n.internal:5678", "http://[fd12::7]"})
    bounds = callback_bounds(allowed)

    assert check_callback_url("http://127.0.0.1:9000/x?y", allowed) == "127.0.0.1:9000"
    assert check_callback_url("HTTPS://N8N.internal:5678", allowed) == "n8n.internal:5678"
    assert check_callback_url("http://[fd12::7]:80/", allowed) == "[fd12::7]:80"
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


def test_an_allowed_origin_is_posted_to_over_plain_http() -> None:
    with raw_receiver(says(OK + b"Content-Length: 2\r\n\r\nhi")) as receiver:
        reply = send(f"{receiver.origin}/a?b=c", callback_bounds(frozenset({receiver.origin})))

    assert (reply.status, reply.body) == (200, b"hi")
    head, _, body = receiver.requests[0].partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    assert (lines[0], body) == ("POST /a?b=c HTTP/1.1", b"{}")
    assert f"Host: 127.0.0.1:{receiver.port}" in lines
    assert "Accept-Encoding: identity" in lines
    assert "webhook-id: evt_1" in lines
    assert "User-Agent: Askback" in lines


@pytest.mark.parametrize(
    ("answer", "status", "size"),
    [
        pytest.param(says(OK + b"\r\n", MEBIBYTE, repeat=1000), 200, 65_536, id="1 GB"),
        pytest.param(
            says(OK + b"Content-Length: 1000000000\r\n\r\n" + MEBIBYTE), 200, 65_536, id="announced"
        ),
        pytest.param(says(b"HTTP/1.1 204 No Content\r\n\r\n"), 204, 0, id="204"),
        pytest.param(
            says(b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1/\r\n\r\n"), 302, 0, id="302"
        ),
    ],
)
def test_an_answer_costs_little_however_long_it_is(answer: Answer, status: int, size: int) -> None:
    with raw_receiver(answer) as receiver:
        bounds = callback_bounds(frozenset({receiver.origin}))
        tracemalloc.start()
        reply = send(receiver.origin, bounds)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()

    assert (reply.status, len(reply.body)) == (status, size)
    assert most < 1_000_000
    assert receiver.connections == 1


@pytest.mark.parametrize(
    "head",
    [
        pytest.param(OK + b"".join(b"X-%d: y\r\n" % n for n in range(200)), id="many"),
        pytest.param(OK + b"X: " + MEBIBYTE, id="long"),
        pytest.param(
            OK + b"".join(b"X-%d: %s\r\n" % (n, b"y" * 60_000) for n in range(90)), id="both"
        ),
        pytest.param(b"HTTP/1.1 " + MEBIBYTE, id="status"),
        pytest.param(b"HTTP/1.1 100 Continue\r\n\r\n" * 40_000, id="continued for ever"),
        pytest.param(b"hello\r\n\r\n", id="no HTTP"),
        pytest.param(b"", id="nothing"),
    ],
)
def test_a_flood_before_the_body_is_cut(head: bytes) -> None:
    with raw_receiver(says(head + b"\r\n")) as receiver:
        bounds = callback_bounds(frozenset({receiver.origin}))
        tracemalloc.start()
        assert reason(receiver.origin, bounds) in {"invalid_reply", "connection_failed"}
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()

    assert most < 1_000_000


def slow(bounds: Bounds) -> Bounds:
    """The bounds of a callback, in a small part of the time."""
    return replace(bounds, connect_seconds=0.5, socket_seconds=0.5, total_seconds=0.5)


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(says(OK + b"Content-Length: 90\r\n\r\n", *[b"x"] * 90, pause=0.1), id="body"),
        pytest.param(says(*(bytes([c]) for c in OK * 4), pause=0.1), id="head"),
        pytest.param(lambda _connection: time.sleep(6), id="silence"),
    ],
)
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_slow_answer_ends_at_the_deadline(answer: Answer, scheme: str, tmp_path: Path) -> None:
    authority = certified(tmp_path, "hooks.example")
    with raw_receiver(answer, tls=authority.context if scheme == "https" else None) as receiver:
        pinned = Pinned("hooks.example", "127.0.0.1", receiver.port, str(authority.ca_file))
        url = "https://hooks.example/" if scheme == "https" else receiver.origin
        bounds = callback_bounds(frozenset({receiver.origin}), pinned=(pinned,))
        started = time.monotonic()

        assert reason(url, slow(bounds)) == "timed_out"
        assert time.monotonic() - started < 4  # the answers take 6 s and more


def test_a_handshake_that_stalls_ends_with_the_time_to_connect(tmp_path: Path) -> None:
    authority = certified(tmp_path, "hooks.example")
    with raw_receiver(says(b"\x16\x03\x03", pause=0.1, repeat=60), reads=False) as receiver:
        pinned = Pinned("hooks.example", "127.0.0.1", receiver.port, str(authority.ca_file))
        bounds = replace(callback_bounds(pinned=(pinned,)), connect_seconds=0.5)
        started = time.monotonic()

        found = reason("https://hooks.example/", bounds)

        assert found in {"timed_out", "tls_failed"}
        assert time.monotonic() - started < 4  # the rest has 10 s


def test_an_answer_may_take_longer_than_connecting() -> None:
    def answer(connection: socket.socket) -> None:
        time.sleep(0.7)
        connection.sendall(OK + b"Content-Length: 0\r\n\r\n")

    with raw_receiver(answer) as receiver:
        bounds = replace(callback_bounds(frozenset({receiver.origin})), connect_seconds=0.5)

        assert send(receiver.origin, bounds).status == 200


FOR_EVER = {
    "drips its body": says(OK + b"\r\n", *[b"x"] * 60, pause=0.5),
    "drips its head": says(*[bytes([c]) for c in OK * 4], pause=0.5),
    "is silent": lambda _connection: time.sleep(30),
    "sends 1 GB": says(OK + b"\r\n", MEBIBYTE, repeat=1000),
    "sends chunks for ever": says(
        OK + b"Transfer-Encoding: chunked\r\n\r\n", *[b"1\r\nx\r\n"] * 60, pause=0.5
    ),
}


@pytest.mark.prove
@pytest.mark.timeout(120)
@pytest.mark.parametrize("seconds", [DELIVERY_SECONDS, CHALLENGE_SECONDS])
def test_each_attempt_ends_in_time_and_takes_little_memory(seconds: float, tmp_path: Path) -> None:
    """All at once, with the bounds as they are."""

    def attempt(origin: str) -> tuple[float, str]:
        started = time.monotonic()
        bounds = callback_bounds(frozenset({origin}), pinned=pins, seconds=seconds)
        try:
            outcome = str(send(origin, bounds).status)
        except Unreachable as failure:
            outcome = failure.reason
        return time.monotonic() - started, outcome

    authority, pins = certified(tmp_path, "stalls.example"), ()
    with ExitStack() as stack, ThreadPoolExecutor() as pool:
        origins = [stack.enter_context(raw_receiver(how)).origin for how in FOR_EVER.values()]
        stalls = stack.enter_context(raw_receiver(says(b"\x16", pause=1, repeat=20), reads=False))
        pins = (Pinned("stalls.example", "127.0.0.1", stalls.port, str(authority.ca_file)),)
        before = resident_bytes()
        took = list(pool.map(attempt, [*origins, "https://stalls.example"]))
        grown = resident_bytes() - before

    told = dict(zip([*FOR_EVER, "stalls TLS"], took, strict=True))
    print(f"{seconds:.0f} s:", told, f"{grown / 2**20:.1f} MiB more")
    assert told["sends 1 GB"][1] == "200"
    assert max(elapsed for elapsed, _ in took) < seconds + 0.5
    assert told["stalls TLS"][0] < 5.5
    assert grown < 10 * 2**20


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_the_bounds_are_those_of_the_documents() -> None:
    bounds = callback_bounds()

    assert (bounds.connect_seconds, bounds.total_seconds, bounds.body_bytes) == (5, 10, 65_536)
    assert (bounds.ports, callbacks.CHALLENGE_SECONDS) == ({443, 8443}, 8)


@pytest.mark.parametrize(
    ("outcome", "failure"),
    [
        *((status, "http_4xx") for status in (301, 308, 400, 404, 410, 413, 429)),
        *((status, "http_5xx") for status in (500, 503, 599)),
        ("timed_out", "timeout"),
        ("tls_failed", "tls_error"),
        *(
            (Unreachable(reason), "connection_refused")
            for reason in ("address_refused", "unresolved", "connection_failed", "invalid_reply")
        ),
    ],
)
def test_a_failure_has_one_of_six_names(outcome: str | int | Unreachable, failure: str) -> None:
    found = Unreachable(outcome) if isinstance(outcome, str) else outcome

    assert failure_of(found) == failure
