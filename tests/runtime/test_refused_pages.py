"""What the server itself refuses of a browser is a page of ours, in the language of the browser."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from flask import Flask

from tests.factories import make_form
from tests.services import wait_until
from tests.serving import connect, exchange, new_app, serving
from tests.voice.audio_files import wav
from tests.voice.factories import make_voice_form
from webapp.base.config import Settings
from webapp.base.data_folder import SPOOL, SPOOLED_SECONDS, empty_spool, spool_folder
from webapp.records.accounts.models import Account
from webapp.web.form_body_limits import (
    ANSWER_BODY_MAX_BYTES,
    FORM_BODY_MAX_BYTES,
    UPLOAD_BODY_MAX_BYTES,
)

FIELD = re.compile(r'type="hidden" name="(session|recording_key|lang)" value="([^"]*)"')
GERMAN = "Accept-Language: de"


@pytest.fixture
def served(settings: Settings) -> Iterator[Flask]:
    app = new_app(settings)
    with serving(app):
        yield app


@pytest.fixture
def share_token(served: Flask, account: Account) -> str:
    with served.app_context():
        token: str = make_form(account.id).share_token
    return token


def post(served: Flask, path: str, *headers: str) -> tuple[int, str]:
    """Status and text of the answer to headers that no body follows."""
    sent = "\r\n".join([f"POST {path} HTTP/1.1", "Host: 127.0.0.1", *headers, "", ""])
    answer = exchange(served, sent.encode())
    return int(answer.split()[1]), answer.decode()


def too_large(path: str) -> str:
    of_pages = {"/q/1": ANSWER_BODY_MAX_BYTES, "/check": FORM_BODY_MAX_BYTES}
    return f"Content-Length: {of_pages.get(path, UPLOAD_BODY_MAX_BYTES) + 1}"


@pytest.mark.parametrize("path", ["/q/1", "/q/1/recording", "/check"])
@pytest.mark.parametrize("language", [GERMAN, "Accept-Language: fr"])
def test_too_large_a_body_is_refused_from_its_headers(
    served: Flask, share_token: str, path: str, language: str
) -> None:
    status, page = post(served, f"/r/{share_token}{path}", too_large(path), language)

    assert status == 413
    assert re.search("zu viel auf einmal|C’est trop|größer als 25 MiB|dépasse 25 Mio", page)
    assert ("content-language: de" in page) == (language == GERMAN)
    assert f'href="/r/{share_token}"' in page
    assert "content-security-policy: default-src 'none'; script-src 'self'" in page


def test_the_language_of_the_page_comes_before_that_of_the_browser(
    served: Flask, share_token: str
) -> None:
    path = f"/r/{share_token}/q/1/recording?lang=es&embed=1"
    _, page = post(served, path, too_large("/recording"), GERMAN)

    assert '<html lang="es"' in page
    assert f'href="/r/{share_token}?embed=1"' in page


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("Host: example.org", 400),
        (f"A: {'a' * 70_000}", 431),
        ("Transfer-Encoding: chunked\r\n\r\nz", 400),
    ],
)
def test_what_cannot_be_read_is_a_page_too(
    served: Flask, share_token: str, line: str, status: int
) -> None:
    found, page = post(served, f"/r/{share_token}/q/1", GERMAN, line)

    assert found == status
    assert '<html lang="de"' in page
    assert f'href="/r/{share_token}"' in page


def test_scripts_get_a_note_for_their_page(served: Flask, share_token: str) -> None:
    headers = ("HX-Request: true", GERMAN, too_large(""))
    status, note = post(served, f"/r/{share_token}/q/1", *headers)

    assert status == 413
    assert "<html" not in note
    assert 'role="alert"' in note


@pytest.mark.parametrize("path", ["/login", "/", "/r/unknown/q/1/recording/more"])
def test_other_pages_read_no_more(served: Flask, path: str) -> None:
    status, page = post(served, path, too_large(""))

    assert status == 413
    assert "That is too much at once." in page


def test_only_recordings_may_be_large(served: Flask, share_token: str) -> None:
    sent = f"POST /r/{share_token}/q/1/recording HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    sent += f"Content-Length: {UPLOAD_BODY_MAX_BYTES}\r\n\r\n"
    with connect(served) as connection:
        connection.settimeout(0.3)
        connection.sendall(sent.encode())
        with pytest.raises(TimeoutError):  # it waits for the body
            connection.recv(1)


def test_a_large_body_lies_in_the_data_folder(served: Flask, share_token: str) -> None:
    spool = served.config["SETTINGS"].data_folder / SPOOL
    sent = f"POST /r/{share_token}/q/1/recording HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    sent += f"Content-Length: {UPLOAD_BODY_MAX_BYTES}\r\n\r\n"
    with connect(served) as connection:
        connection.sendall(sent.encode() + b"x" * 700_000)
        wait_until(lambda: opened_in(spool), "the body in a file")


@pytest.mark.settings(audio_free_bytes=1024**5)
def test_nobody_takes_the_last_room_of_the_disk(served: Flask, share_token: str) -> None:
    sent = f"POST /r/{share_token}/q/1/recording HTTP/1.1\r\nHost: 127.0.0.1\r\n{GERMAN}\r\n"
    sent += f"Content-Length: {UPLOAD_BODY_MAX_BYTES}\r\n\r\n"

    page = exchange(served, sent.encode() + b"x" * 700_000).decode()

    assert page.startswith("HTTP/1.1 413 ")
    assert "Dieser Server hat gerade keinen Platz für Aufnahmen." in page


@pytest.mark.settings(audio_free_bytes=1024**5)
def test_what_is_typed_needs_none_of_it(served: Flask, share_token: str) -> None:
    body = "answer=" + "x" * 900_000
    sent = f"POST /r/{share_token}/q/1 HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
    sent += f"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {len(body)}"

    assert exchange(served, f"{sent}\r\n\r\n{body}".encode()).startswith(b"HTTP/1.1 422 ")


def test_a_recording_of_two_megabytes_arrives_by_the_server(
    served: Flask, account: Account
) -> None:
    with served.app_context():
        token = make_voice_form(account.id).share_token
    address = f"{served.config['SETTINGS'].public_url}/r/{token}"
    file = wav(b"\x80" * 44_100 * 45, rate=44_100, bits=8)
    with httpx.Client() as browser:
        fields = dict(FIELD.findall(browser.get(address).text))
        sent = {"data": fields | {"answer": "é" * 1000}, "files": {"audio": ("a.wav", file)}}
        page = browser.post(f"{address}/q/1/recording", **sent, timeout=20)

    assert page.status_code == 200
    assert "é" * 1000 in page.text
    assert "Your recording, 0:45" in page.text


def opened_in(folder: Path) -> bool:
    """Whether this process has a file open that lies there."""
    opened = [each for each in Path("/proc/self/fd").iterdir() if each.is_symlink()]
    return any(os.readlink(each).startswith(f"{folder}/") for each in opened if each.exists())


def test_what_a_killed_process_left_is_erased_at_the_next_start(tmp_path: Path) -> None:
    fresh, left = (spool_folder(tmp_path) / name for name in ("fresh", "left"))
    for path in (fresh, left):
        path.touch()
    long_ago = left.stat().st_mtime - SPOOLED_SECONDS - 1
    os.utime(left, (long_ago, long_ago))

    empty_spool(tmp_path)

    assert fresh.exists()
    assert not left.exists()
    assert (tmp_path / SPOOL).stat().st_mode & 0o777 == 0o700
