"""Where requests to models and engines go, and when they are over."""

import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.followups import model_server as replies
from tests.followups.model_server import model_server
from tests.raw_receiver import raw_receiver, says
from tests.tls import Authority, certified
from webapp.base import outbound
from webapp.base.outbound import Bounds, Reply, Unreachable, ask_service

SECONDS = 0.6
NOT_LATER = 3.0  # on a machine that does much else
HOST = "models.example"


def post(url: str, body: bytes = b'{"said": "canary"}', seconds: float = SECONDS) -> Reply:
    bounds = Bounds(body_bytes=1000, connect_seconds=seconds, total_seconds=seconds)
    return ask_service(url, headers={"x-api-key": "sk-mine"}, bounds=bounds, body=body)


def failure(url: str, body: bytes = b"{}") -> str:
    """Why a request to this address fails, within the time that it has."""
    began = time.monotonic()
    with pytest.raises(Unreachable) as caught:
        post(url, body)
    assert time.monotonic() - began < NOT_LATER
    return str(caught.value)


@pytest.fixture
def authority(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Authority:
    """Its certificate is believed, and the host that it is for leads to this machine."""
    made = certified(tmp_path, HOST)
    context = ssl.create_default_context(cafile=str(made.ca_file))
    context.sslsocket_class = outbound._TimedTls
    monkeypatch.setattr(outbound, "_tls_context", lambda: context)
    resolve_to(monkeypatch, "127.0.0.1")
    return made


def resolve_to(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> None:
    resolve = socket.getaddrinfo
    rows = [(2, 1, 6, "", (address, 0)) for address in addresses]

    def answer(host: str, *arguments: object, **options: object) -> object:
        return rows if host.endswith(".example") else resolve(host, *arguments, **options)

    monkeypatch.setattr(socket, "getaddrinfo", answer)


@contextmanager
def silent() -> Iterator[int]:
    """A port where connections are taken and nothing is ever said."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


def test_a_certificate_is_checked_against_the_name(authority: Authority) -> None:
    with raw_receiver(says(b"HTTP/1.1 204 Fine\r\n\r\n"), tls=authority.context) as there:
        url = f"https://{HOST}:{there.port}/v1"
        assert post(url, seconds=4).status == 204
        assert "certificate" in failure(f"https://other.example:{there.port}/v1")


def test_a_handshake_that_never_ends_and_headers_that_drip_are_given_up(
    authority: Authority,
) -> None:
    drip = says(b"HTTP/1.1 200 OK\r\nX-Late: ", *[b"x"] * 100, pause=0.1)
    with silent() as port, raw_receiver(drip, tls=authority.context) as there:
        assert failure(f"https://{HOST}:{port}/v1")
        assert failure(f"https://{HOST}:{there.port}/v1")


def test_a_name_that_is_looked_up_for_ever_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_a, **_o: ended.wait(20) and [])

    assert failure(f"https://{HOST}/v1") == "unresolved"
    ended.set()


def test_a_reader_that_takes_nothing_is_given_up() -> None:
    with silent() as port:
        assert failure(f"http://127.0.0.1:{port}/v1", b"x" * 50_000_000) == "timed_out"


@pytest.mark.parametrize("found", [["93.184.216.34"], ["10.0.0.7", "93.184.216.34"]])
def test_plain_http_goes_to_no_name_with_a_public_address(
    monkeypatch: pytest.MonkeyPatch, found: list[str]
) -> None:
    resolve_to(monkeypatch, *found)

    assert failure(f"http://{HOST}/v1") == "address_refused"


def test_an_address_that_takes_no_connection_leaves_time_for_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with model_server(replies.asking()) as model:
        connect = socket.create_connection

        def slow(address: tuple[str, int], timeout: float, **options: object) -> socket.socket:
            if address[0] == "127.0.0.9":
                time.sleep(timeout)
                raise TimeoutError
            return connect(address, timeout, **options)  # type: ignore[arg-type]

        monkeypatch.setattr(socket, "create_connection", slow)
        resolve_to(monkeypatch, "127.0.0.9", "127.0.0.1")
        url = f"http://{HOST}:{model.port}"
        assert post(f"{url}/v1/chat/completions", b'{"model": "a"}', seconds=2).status == 200

    assert model.asked[0].headers["host"] == f"{HOST}:{model.port}"


def test_an_answer_has_at_most_so_many_bytes() -> None:
    with model_server(replies.junk(b"x" * 1001)) as model:
        reply = post(f"http://{model.host}/v1/x")
    assert (len(reply.body), reply.cut) == (1000, True)
