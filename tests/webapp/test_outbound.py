"""The one way out reaches public addresses only, within its bounds."""

import socket
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from tests.oauth.clients.documents import HOST, Site, running_site
from tests.pinning import pinning
from webapp.base import outbound
from webapp.base.outbound import Bounds, Unreachable, fetch
from webapp.base.public_addresses import is_public

CLOSED = """
0.0.0.0 0.1.2.3 10.0.0.1 100.64.0.1 100.127.255.255 127.0.0.1 127.255.255.254 169.254.169.254
172.16.0.1 172.31.255.255 192.0.0.1 192.0.0.8 192.0.0.9 192.0.0.10 192.0.0.170 192.0.2.1
192.88.99.1 192.168.1.1 198.18.0.1 198.19.255.255 198.51.100.7 203.0.113.7 224.0.0.1
239.255.255.250 240.0.0.1 255.255.255.255 168.63.129.16
:: ::1 ::127.0.0.1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:169.254.169.254 64:ff9b::7f00:1
64:ff9b::a9fe:a9fe 64:ff9b:1::1 100::1 2001::1 2001:2::1 2001:10::1 2001:20::1 2001:db8::1
2002:7f00:1:: 2002:a9fe:a9fe:: 2620:4f:8000::1 3fff::1 4000::1 5f00::1 fc00::1 fd12:3456::1
fe80::1 fe80::1%eth0 fec0::1 ff02::1 ff0e::1 2606:4700::1111%1
""".split()  # noqa: SIM905
OPEN = """
1.1.1.1 8.8.8.8 93.184.215.14 100.63.255.255 100.128.0.1 172.15.255.255 172.32.0.1 192.0.1.1
198.17.255.255 223.255.255.254 168.63.129.17 ::ffff:8.8.8.8 2001:4860:4860::8888 2606:4700::1111
2a00:1450:4001:81b::200e 3ffe::1
""".split()  # noqa: SIM905


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder: Path = tmp_path_factory.mktemp("site")
    with running_site(folder) as site:
        yield site


@pytest.fixture
def site(running: Site) -> Site:
    running.__init__(pinned=running.pinned)  # type: ignore[misc]
    running.serve(b"hello")
    return running


@pytest.fixture
def bounds(site: Site) -> Iterator[Bounds]:
    with pinning(site.pinned):
        yield Bounds(body_bytes=100)


def reason(url: str, bounds: Bounds) -> str:
    with pytest.raises(Unreachable) as refusal:
        fetch(url, headers={}, bounds=bounds)
    return refusal.value.reason


def resolve_to(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> list[str]:
    """Let every name have these addresses; returns the names that were looked up."""
    asked: list[str] = []

    def answer(host: str, port: int, **_options: object) -> list[tuple[object, ...]]:
        asked.append(host)
        return [(0, 0, 0, "", (address, port)) for address in addresses]

    monkeypatch.setattr(socket, "getaddrinfo", answer)
    return asked


def test_public_addresses_alone_are_let_through() -> None:
    assert [each for each in [*CLOSED, *OPEN] if is_public(each)] == OPEN


def test_it_reaches_the_server_by_its_name(site: Site, bounds: Bounds) -> None:
    reply = fetch(f"https://{HOST}/a?b=c", headers={"X-One": "1"}, bounds=bounds)

    assert (reply.status, reply.body, reply.cut) == (200, b"hello", False)
    assert site.asked == ["/a?b=c"]
    assert site.received == [
        {"Host": HOST, "Accept-Encoding": "identity", "Connection": "close", "X-One": "1"}
    ]


@pytest.mark.parametrize("body", [b"", b"x" * 1_000_000])
def test_a_body_is_posted(site: Site, bounds: Bounds, body: bytes) -> None:
    json = {"Content-Type": "application/json"}

    reply = fetch(f"https://{HOST}/hook", headers=json, bounds=bounds, body=body)

    assert (reply.status, reply.body) == (200, b"hello")
    assert (site.asked, site.posted) == (["/hook"], [body])
    assert site.received[0]["Content-Type"] == "application/json"


ODD = [
    *"""
http://agent.example/ ftp://agent.example/ //agent.example/ https:// https:///x
https://me:pw@agent.example/ https://@agent.example/ https://agent.example/#part
https://agent.example/# https://agent.example:80/ https://agent.example:99999/
https://agent.example:x/ https://agent.example\\@evil.example/ https://agent.example/caf\u00e9
https://\u00e4gent.example/ https://agent..example/ https://-agent.example/
https://agent.example./ https://1.2.3.4/ https://[::1]/ https://127.1/ https://2130706433/
https://0x7f.1/ https://agent.0x7f/
""".split(),  # noqa: SIM905
    *("https://agent.example/a b", "https://agent.example/a\tb", "https://agent.exam\nple/"),
    *("https://" + "a" * 250 + ".example/", "https://agent.example/" + "x" * 2048),
]


def test_an_odd_address_is_refused_before_anything_is_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = resolve_to(monkeypatch, "8.8.8.8")

    assert {reason(url, Bounds(body_bytes=10)) for url in ODD} == {"invalid_url"}
    assert asked == []


@pytest.mark.parametrize("addresses", [["127.0.0.1"], ["8.8.8.8", "10.0.0.1"], ["::1"]])
def test_one_closed_address_refuses_the_name(
    addresses: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    resolve_to(monkeypatch, *addresses)

    assert reason("https://agent.example/", Bounds(body_bytes=10)) == "address_refused"


@pytest.mark.parametrize("count", [1, 9])
def test_a_name_is_resolved_once_and_at_most_three_checked_addresses_are_used(
    count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that changes its address between check and connection gains nothing."""
    addresses = [f"8.8.8.{last}" for last in range(count)]
    asked = resolve_to(monkeypatch, *addresses)
    connected: list[tuple[str, int]] = []

    def refuse(address: tuple[str, int], **_options: object) -> socket.socket:
        connected.append(address)
        raise ConnectionRefusedError

    monkeypatch.setattr(socket, "create_connection", refuse)

    assert reason("https://agent.example/", Bounds(body_bytes=10)) == "connection_failed"
    assert (asked, connected) == (["agent.example"], [(each, 443) for each in addresses[:3]])


def test_a_slow_resolver_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbound, "RESOLVE_SECONDS", 0.05)
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_a, **_o: time.sleep(5) or [])

    started = time.monotonic()

    assert reason("https://agent.example/", Bounds(body_bytes=10)) == "unresolved"
    assert time.monotonic() - started < 4


@pytest.mark.parametrize("stranger", [False, True])
def test_a_certificate_of_another_name_or_authority_is_refused(
    site: Site, bounds: Bounds, tmp_path: Path, *, stranger: bool
) -> None:
    host = HOST if stranger else "other.example"
    with running_site(tmp_path) as other:
        port = other.pinned[0].port if stranger else site.pinned[0].port

        with pinning([site.pinned[0]._replace(host=host, port=port)]):
            assert reason(f"https://{host}/", bounds) == "tls_failed"


def test_redirects_are_returned_not_followed(site: Site, bounds: Bounds) -> None:
    site.status = 302
    site.headers["Location"] = f"https://{HOST}/elsewhere"

    reply = fetch(f"https://{HOST}/", headers={}, bounds=bounds)

    assert (reply.status, site.asked) == (302, ["/"])


def test_a_long_body_is_cut(site: Site, bounds: Bounds) -> None:
    site.serve(b"x" * 10_000_000)

    reply = fetch(f"https://{HOST}/", headers={}, bounds=bounds)

    assert (len(reply.body), reply.cut) == (100, True)


@pytest.mark.parametrize("size", ["-1", "-ffffffffff", "ffffffffff"])
def test_a_chunk_of_any_size_stays_within_the_bound(site: Site, bounds: Bounds, size: str) -> None:
    """http.client reads a chunk of -1 bytes to the end of the connection, however far that is."""
    site.serve(f"{size}\r\n".encode() + b"x" * 10_000_000, Transfer_Encoding="chunked")
    tracemalloc.start()

    with suppress(Unreachable):
        fetch(f"https://{HOST}/", headers={}, bounds=bounds)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert most < 2_000_000


def test_a_dripping_body_ends_at_the_deadline(site: Site, bounds: Bounds) -> None:
    site.serve(b"x" * 90)
    site.drip_seconds = 0.05

    assert reason(f"https://{HOST}/", replace(bounds, total_seconds=0.5)) == "timed_out"


def test_a_server_that_says_nothing_ends_at_the_deadline(site: Site, bounds: Bounds) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        port = silent.getsockname()[1]

        with pinning([site.pinned[0]._replace(port=port)]):
            assert reason(f"https://{HOST}/", replace(bounds, total_seconds=0.3)) == "timed_out"


def test_a_server_that_does_not_read_ends_at_the_deadline(site: Site, bounds: Bounds) -> None:
    site.read_seconds = 1

    with pytest.raises(Unreachable, match="timed_out"):
        fetch(
            f"https://{HOST}/",
            headers={},
            bounds=replace(bounds, total_seconds=0.3),
            body=b"x" * 10_000_000,
        )


def test_proxies_of_the_environment_are_ignored(
    bounds: Bounds, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")

    assert fetch(f"https://{HOST}/", headers={}, bounds=bounds).status == 200
