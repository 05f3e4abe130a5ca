"""What the HTTP server refuses before the application runs, and how it says so."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import orjson
import pytest
from flask import Flask

from tests.factories import make_form
from tests.services import wait_until
from tests.serving import connect, exchange, new_app, serving
from webapp.base.config import Settings
from webapp.base.data_folder import SPOOL, SPOOLED_SECONDS, empty_spool, spool_folder
from webapp.records.accounts.models import Account
from webapp.web.form_body_limits import FORM_BODY_MAX_BYTES, UPLOAD_BODY_MAX_BYTES

MIB = 1024 * 1024
GERMAN = "Accept-Language: de"
PAGE = "https://host.example.org"
STRANGER = "https://stranger.example.org"
CHUNKED = "Transfer-Encoding: chunked"
UNREADABLE = [
    ("Host: example.org", 400),
    (f"A: {'a' * 70_000}", 431),
    (f"{CHUNKED}\r\n\r\nz", 400),
]
LARGEST = f"Content-Length: {UPLOAD_BODY_MAX_BYTES}"
full_disk = pytest.mark.settings(audio_free_bytes=1024**5)


@pytest.fixture
def served(settings: Settings) -> Iterator[Flask]:
    app = new_app(settings.model_copy(update={"mcp_allowed_origins": frozenset({PAGE})}))
    with serving(app):
        yield app


@pytest.fixture
def link(served: Flask, account: Account) -> str:
    with served.app_context():
        return f"/r/{make_form(account.id).share_token}"


def head(path: str, *headers: str) -> bytes:
    lines = [f"POST {path} HTTP/1.1", "Host: 127.0.0.1", *headers, "", ""]
    return "\r\n".join(lines).encode()


def post(served: Flask, path: str, *headers: str, body: bytes = b"") -> tuple[int, str]:
    """Status and text of the answer."""
    answer = exchange(served, head(path, *headers) + body)
    return int(answer.split()[1]), answer.decode()


def headers_of(text: str) -> dict[str, str]:
    """Their names in lower case."""
    lines = text.partition("\r\n\r\n")[0].split("\r\n")[1:]
    return {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}


def test_a_refusal_is_readable_where_the_route_is(served: Flask) -> None:
    refusals = [("Content-Length: 99999999", 413), *UNREADABLE]
    for path, origins, allowed in (
        ("/mcp/app", [PAGE], PAGE),
        ("/mcp/app", [], None),
        ("/mcp/app", [STRANGER], None),
        ("/mcp/app", [f"{PAGE}.example.org"], None),
        ("/mcp/app", [PAGE, PAGE], None),
        ("/oauth/token", [STRANGER], "*"),
        ("/.well-known/oauth-authorization-server", [STRANGER], "*"),
        ("/api/forms", [PAGE], None),
        ("/r/x", [PAGE], None),
    ):
        for line, status in refusals:
            found, text = post(served, path, *(f"Origin: {each}" for each in origins), line)

            headers = headers_of(text)
            assert found == (400 if path.startswith("/api/") else status)
            assert headers.get("access-control-allow-origin") == allowed
            assert (headers.get("vary") == "Origin") == path.startswith("/mcp/")


def rpc_refusal(text: str) -> tuple[int, int]:
    """Status and code; the body is JSON-RPC without an id."""
    found = orjson.loads(text.partition("\r\n\r\n")[2])
    assert (found["jsonrpc"], found["id"]) == ("2.0", None)
    return int(text.split()[1]), found["error"]["code"]


def test_a_fault_of_the_application_is_an_internal_error_that_is_readable_too(
    served: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_given: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(served, "wsgi_app", broken)
    _, text = post(served, "/mcp/app", f"Origin: {PAGE}", "Content-Length: 0")

    assert rpc_refusal(text) == (500, -32603)
    assert headers_of(text)["access-control-allow-origin"] == PAGE


def test_nothing_of_a_chunked_body_is_read_beyond_its_limit(served: Flask) -> None:
    sent = 0
    with connect(served) as connection:
        connection.sendall(head("/mcp/app", CHUNKED))
        with suppress(OSError):
            while sent < 8 * MIB:
                connection.sendall(b"8000\r\n" + b"x" * 0x8000 + b"\r\n")
                sent += 0x8000
        answer = b"".join(iter(lambda: connection.recv(65_536), b""))

    assert rpc_refusal(answer.decode()) == (413, -32600)
    assert sent > MIB


def too_large(path: str) -> str:
    of_pages = dict.fromkeys(("/q/1", "/check"), FORM_BODY_MAX_BYTES)
    return f"Content-Length: {of_pages.get(path, UPLOAD_BODY_MAX_BYTES) + 1}"


def test_a_refusal_on_a_page_is_a_page_in_its_language(served: Flask, link: str) -> None:
    refusals = [(path, too_large(path), 413) for path in ("/q/1", "/q/1/recording", "/check")]
    refusals += [("/q/1", line, status) for line, status in UNREADABLE]
    for path, line, wanted in refusals:
        status, page = post(served, f"{link}{path}", GERMAN, line)

        assert status == wanted
        assert '<html lang="de"' in page
        assert f'href="{link}"' in page
        assert "content-security-policy: default-src 'none'; script-src 'self'" in page


def opened_in(folder: Path) -> bool:
    """Whether this process has a file open that lies there."""
    opened = [each for each in Path("/proc/self/fd").iterdir() if each.is_symlink()]
    return any(os.readlink(each).startswith(f"{folder}/") for each in opened if each.exists())


def test_recordings_alone_may_be_large_and_lie_in_the_data_folder(served: Flask, link: str) -> None:
    spool = served.config["SETTINGS"].data_folder / SPOOL
    with connect(served) as connection:
        connection.sendall(head(f"{link}/q/1/recording", LARGEST) + b"x" * 700_000)
        wait_until(lambda: opened_in(spool), "the body in a file")
        connection.settimeout(0.3)
        with pytest.raises(TimeoutError):  # it waits for the rest
            connection.recv(1)


@full_disk
def test_nobody_takes_the_last_room_of_the_disk(served: Flask, link: str) -> None:
    status, page = post(served, f"{link}/q/1/recording", GERMAN, LARGEST, body=b"x" * 700_000)

    assert status == 413
    assert "Dieser Server hat gerade keinen Platz für Aufnahmen." in page


@full_disk
def test_what_is_typed_needs_none_of_it(served: Flask, link: str) -> None:
    body = b"answer=" + b"x" * 900_000
    typed = ("Content-Type: application/x-www-form-urlencoded", f"Content-Length: {len(body)}")

    assert post(served, f"{link}/q/1", "Connection: close", *typed, body=body)[0] == 422


def test_what_a_killed_process_left_is_erased_at_the_next_start(tmp_path: Path) -> None:
    fresh, left = (spool_folder(tmp_path) / name for name in ("fresh", "left"))
    for path in (fresh, left):
        path.touch()
    long_ago = left.stat().st_mtime - SPOOLED_SECONDS - 1
    os.utime(left, (long_ago, long_ago))

    empty_spool(tmp_path)

    assert (fresh.exists(), left.exists()) == (True, False)
    assert (tmp_path / SPOOL).stat().st_mode & 0o777 == 0o700
