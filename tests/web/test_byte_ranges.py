"""Recordings are sent whole or in parts, and never as pages of ours."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from flask import Flask, Response
from flask.testing import FlaskClient

from tests.serving import new_app
from webapp.base.config import Settings
from webapp.voice.audio_store import audio_store
from webapp.web.byte_ranges import recording_response

KEY = "frm_1/b8Zk.webm"
CONTENT = os.urandom(700_000)
SIZE = len(CONTENT)


class Recording(NamedTuple):
    object_key: str = KEY
    media_type: str = "audio/webm"
    size: int = SIZE
    name: str = "recording-1.webm"


def recording() -> Response:
    return recording_response(Recording(), audio_store().read)


@pytest.fixture
def recorded_app(settings: Settings, tmp_path: Path) -> Iterator[Flask]:
    app = new_app(settings.model_copy(update={"data_folder": tmp_path}))
    app.add_url_rule("/test/played", "recording", recording)
    (tmp_path / "uploaded").write_bytes(CONTENT)
    with app.app_context():
        audio_store().put(KEY, tmp_path / "uploaded")
    return app


@pytest.fixture
def browser(recorded_app: Flask) -> FlaskClient:
    return recorded_app.test_client()


@pytest.mark.parametrize(
    ("asked", "start", "end"),
    [
        ("bytes=0-0", 0, 1),
        ("bytes=699999-", SIZE - 1, SIZE),
        ("bytes=5-99999999", 5, SIZE),
        ("bytes=-7", SIZE - 7, SIZE),
        (f"bytes={SIZE}-", 0, 0),
    ],
)
def test_one_range_is_sent_as_such_or_refused(
    browser: FlaskClient, asked: str, start: int, end: int
) -> None:
    answer = browser.get("/test/played", headers={"Range": asked})

    said = f"bytes {start}-{end - 1}/{SIZE}" if end else f"bytes */{SIZE}"
    assert (answer.status_code, answer.data) == (206 if end else 416, CONTENT[start:end])
    assert answer.headers["Content-Range"] == said
    assert answer.headers["Content-Length"] == str(end - start)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        *({"Range": f"bytes={asked}"} for asked in ("0-1,4-5", "5-2", "-0", "a-b")),
        {"Range": "pages=1-2"},
        {"Range": "bytes=0-1", "If-Range": '"some"'},
        {"Range": "bytes=0-1", "If-Range": "Sun, 22 Nov 2026 08:00:00 GMT"},
    ],
)
def test_what_we_do_not_do_in_parts_is_sent_whole(
    browser: FlaskClient, headers: dict[str, str]
) -> None:
    answer = browser.get("/test/played", headers=headers)

    assert (answer.status_code, answer.data) == (200, CONTENT)
    assert answer.headers["Accept-Ranges"] == "bytes"
    assert answer.headers["Content-Length"] == str(SIZE)
    assert "Content-Range" not in answer.headers
