"""Readers of large files that stop reading: bounded memory, others are served, places are free."""

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests import bulk
from tests.databases import empty_postgresql_first
from tests.factories import make_account, make_form
from tests.pages.creator_client import creator
from tests.proof.loaded import Server, Writer
from tests.services import wait_until

ANSWERS = 500
MIB = 1024 * 1024

readers = pytest.mark.parametrize("readers", [24, pytest.param(140, marks=pytest.mark.prove)])


@empty_postgresql_first
@readers
def test_readers_that_stop_reading(
    empty_database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, readers: int
) -> None:
    monkeypatch.setattr(bulk, "WORDS", "x" * 20_000)
    server = Server(empty_database_url, tmp_path)
    downloads = [download(server, number) for number in range(readers // 2)]
    with server.up() as process:
        server.call("GET", downloads[0][0], Cookie=downloads[0][1])
        before = memory(process.pid)
        with ExitStack() as stack:
            answers = [
                first_of(stack.enter_context(reading(server.port, *which)))
                for which in downloads * 2
            ]
            began = time.monotonic()
            assert server.call("GET", f"/r/{server.share_token}")[0] == 200
            seconds = time.monotonic() - began
            added = (memory(process.pid) - before) / MIB
            writer = Writer(server)
            assert writer.try_once()
            if readers > 100:
                wait_until(lambda: begins(server.port, *downloads[0]), "ending a download", 45)

    print(f"{readers} readers add {added:.0f} MiB, others wait {seconds:.2f} s")
    begun = [head for head in answers if b" 200 " in head.split(b"\r\n")[0]]
    refused = [head for head in answers if b" 429 " in head.split(b"\r\n")[0]]
    assert len(begun) == 8
    assert len(begun) + len(refused) == readers
    assert all(b"\r\nretry-after: " in head for head in refused)
    assert seconds < 2
    assert added < 64


def download(server: Server, number: int) -> tuple[str, str]:
    """The path of a large file of one creator, and the cookies to ask for it with."""
    with server.database():
        account = make_account()
        form_id = make_form(account.id).id
        if number < 8:  # no others get as far as reading
            bulk.store_answers(form_id, ANSWERS)
    with server.database():
        cookies: Any = creator(server.app, account).client._cookies.values()
    cookie_header = "; ".join(f"{cookie.key}={cookie.value}" for cookie in cookies)
    return f"/forms/{form_id}/export.csv", cookie_header


@contextmanager
def reading(port: int, path: str, cookies: str) -> Iterator[socket.socket]:
    """A reader that has asked and takes as little as its system lets it."""
    with socket.socket() as reader:
        reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        reader.settimeout(20)
        reader.connect(("127.0.0.1", port))
        host = f"Host: 127.0.0.1:{port}\r\nCookie: {cookies}"
        reader.sendall(f"GET {path} HTTP/1.1\r\n{host}\r\n\r\n".encode())
        yield reader


def first_of(reader: socket.socket) -> bytes:
    """What arrives at first, the headers in it."""
    return reader.recv(2048)


def begins(port: int, path: str, cookies: str) -> bool:
    """Whether a further download is let in: the places of those that read nothing are free."""
    with reading(port, path, cookies) as reader:
        return b" 200 " in first_of(reader)


def memory(process: int) -> int:
    """Bytes of memory of a process."""
    status = Path(f"/proc/{process}/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmRSS:"))
    return int(line.split()[1]) * 1024
