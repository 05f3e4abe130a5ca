"""What a service gets of a recording, and what of its answers is taken."""

import gzip
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.raw_receiver import raw_receiver, says
from tests.services import free_port
from tests.voice.speech_engine import Reply, SpeechEngine, speech_engine, words
from tests.webapp.test_config import SECRET
from webapp.base.config import Settings
from webapp.voice import openai_transcriber
from webapp.voice.audio_inspection import WEBM
from webapp.voice.openai_transcriber import transcribe
from webapp.voice.transcription_failure import TranscriptionFailed

BYTES = b"\x1a\x45\xdf\xa3" + bytes(range(256)) * 2000
JSON = {"Content-Type": "application/json"}


def settings(url: str, **changed: Any) -> Settings:
    given = {
        "public_url": "http://127.0.0.1:8000",
        "secret_key": SECRET,
        "transcriber": "openai",
        "transcriber_url": url,
        "transcriber_model": "small-en",
    }
    return Settings(**given | changed)


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    path = tmp_path / "anything"
    path.write_bytes(BYTES)
    return path


Ask = Callable[..., str]


@pytest.fixture
def ask(recording: Path) -> Ask:
    """Let a service at this address write the recording down."""

    def asked(engine: SpeechEngine, language: str = "", **changed: Any) -> str:
        config = settings(engine.url, **changed)
        return transcribe(recording, WEBM, language, config=config)

    return asked


def failure(ask: Ask, reply: Reply, **changed: Any) -> str:
    """Why this answer is none."""
    with speech_engine(lambda _number: reply) as engine:
        with pytest.raises(TranscriptionFailed) as caught:
            ask(engine, **changed)
        assert len(engine.heard) == 1
    return str(caught.value)


def test_it_gets_the_file_the_model_and_the_format_and_nothing_else(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_ADMIN_KEY"):
        monkeypatch.setenv(name, "of-something-else")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Mine: of-something-else")
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{free_port()}/v1")
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{free_port()}")
    with speech_engine(lambda _number: words("Ben did.")) as engine:
        assert ask(engine) == "Ben did."

    (heard,) = engine.heard
    assert heard.path == "/v1/audio/transcriptions"
    assert heard.fields == {"model": "small-en", "response_format": "json"}
    assert (heard.file, heard.file_name, heard.file_type) == (
        BYTES,
        "recording.webm",
        "audio/webm",
    )
    assert heard.headers.pop("content-type").startswith("multipart/form-data; boundary=")
    assert heard.headers == {
        "host": engine.host,
        "accept": "application/json",
        "accept-encoding": "identity",
        "user-agent": "Askback",
        "connection": "close",
        "content-length": heard.headers["content-length"],
    }


def test_the_language_and_the_key_go_along_where_they_are_set(ask: Ask) -> None:
    with speech_engine(lambda _number: words("Foi o Ben.")) as engine:
        ask(engine, language="pt", transcriber_api_key="sk-mine")

    assert engine.heard[0].fields["language"] == "pt"
    assert engine.heard[0].headers["authorization"] == "Bearer sk-mine"


@pytest.mark.parametrize("text", ["", "مرحبا 👋🏽", "a" * 1_000_000, "\0\ud800"])
def test_any_text_is_handed_over(ask: Ask, text: str) -> None:
    body = orjson.dumps({"text": text}) if text.isprintable() else b'{"text": "\\u0000\\ud800"}'
    with speech_engine(lambda _number: Reply(body, headers=JSON)) as engine:
        assert ask(engine) == text


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\x00\xff\xfe{",
        b"{",
        b"[]",
        b"null",
        b"5",
        b'"Ben did."',
        b"{}",
        b'{"text": null}',
        b'{"text": 5}',
        b'{"text": ["Ben did."]}',
        b'{"error": {"message": "busy"}}',
        b"[" * 100_000,
    ],
)
def test_junk_is_no_transcript(ask: Ask, body: bytes) -> None:
    assert failure(ask, Reply(body, headers=JSON))


@pytest.mark.parametrize("media_type", ["text/plain", "text/event-stream", "text/html"])
def test_another_type_is_no_transcript(ask: Ask, media_type: str) -> None:
    assert failure(ask, Reply(b"Ben did.", headers={"Content-Type": media_type}))


@pytest.mark.parametrize("status", [400, 401, 404, 413, 429, 500, 503])
def test_a_refusal_is_told_by_its_status_and_not_asked_again(ask: Ask, status: int) -> None:
    body = b'{"error": {"message": "you said: my secret. key sk-mine"}}'

    told = failure(ask, Reply(body, status, headers=JSON), transcriber_api_key="sk-mine")

    assert told == f"it answered with status {status}"


def test_no_redirect_is_followed(ask: Ask) -> None:
    with speech_engine(lambda _number: words("elsewhere")) as other:
        to = {"Location": f"{other.url}/audio/transcriptions"}
        told = failure(ask, Reply(b"", 307, headers=to))

    assert told == "it answered with status 307"
    assert other.heard == []


@pytest.mark.parametrize("status", [200, 500])
def test_no_more_is_read_than_a_transcript_can_hold(ask: Ask, status: int) -> None:
    body = b'{"text": "' + b"a" * openai_transcriber.ANSWER_MAX_BYTES + b'"}'

    assert failure(ask, Reply(body, status, headers=JSON)) == (
        "APIConnectionError: the answer is too long"
    )


def test_what_nobody_asked_to_compress_is_not_unpacked(ask: Ask) -> None:
    packed = gzip.compress(orjson.dumps({"text": "a" * 50_000_000}))

    assert failure(ask, Reply(packed, headers=JSON | {"Content-Encoding": "gzip"}))


def test_an_answer_that_does_not_begin_is_given_up(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openai_transcriber, "ANSWER_SECONDS", 0.3)
    began = time.monotonic()

    assert failure(ask, words("late", after=1.5)).startswith("APITimeoutError")
    assert time.monotonic() - began < 4


def test_an_answer_that_drips_is_given_up(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openai_transcriber, "TOTAL_SECONDS", 0.5)
    began = time.monotonic()

    assert failure(ask, words("late " * 20, pieces=100, pause=0.1))
    assert time.monotonic() - began < 4


def test_headers_that_drip_are_given_up(recording: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openai_transcriber, "TOTAL_SECONDS", 0.5)
    head = says(b"HTTP/1.1 200 OK\r\nX-Late: ", *[b"x"] * 100, pause=0.1)
    began = time.monotonic()

    with (
        raw_receiver(head) as receiver,
        pytest.raises(TranscriptionFailed, match="APITimeoutError"),
    ):
        transcribe(recording, WEBM, "", config=settings(f"{receiver.origin}/v1"))
    assert time.monotonic() - began < 4


def test_nobody_there_is_a_failure(recording: Path) -> None:
    config = settings(f"http://127.0.0.1:{free_port()}/v1")

    with pytest.raises(TranscriptionFailed, match="APIConnectionError"):
        transcribe(recording, WEBM, "", config=config)


@pytest.mark.parametrize("found", [["93.184.216.34"], ["10.0.0.7", "93.184.216.34"]])
def test_plain_http_goes_to_no_name_with_a_public_address(
    recording: Path, monkeypatch: pytest.MonkeyPatch, found: list[str]
) -> None:
    rows = [(2, 1, 6, "", (address, 0)) for address in found]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: rows)

    with pytest.raises(TranscriptionFailed, match="not private"):
        transcribe(recording, WEBM, "", config=settings("http://speech.internal/v1"))


def test_a_name_without_an_address_is_a_failure(
    recording: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [])

    with pytest.raises(TranscriptionFailed, match="has no address"):
        transcribe(recording, WEBM, "", config=settings("http://speech.internal/v1"))


def test_a_name_of_the_network_keeps_its_name(
    recording: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolve = socket.getaddrinfo
    hosts = {"speaches": "127.0.0.1"}
    monkeypatch.setattr(
        socket, "getaddrinfo", lambda host, *a, **k: resolve(hosts.get(host, host), *a, **k)
    )
    with speech_engine(lambda _number: words("Ben did.")) as engine:
        config = settings(f"http://speaches:{engine.port}/v1")
        assert transcribe(recording, WEBM, "", config=config) == "Ben did."

    assert engine.heard[0].headers["host"] == f"speaches:{engine.port}"


def test_a_service_that_listens_on_the_second_address_of_its_name_is_found(
    recording: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolve = socket.getaddrinfo
    rows = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (f"127.0.0.{end}", 0)) for end in (9, 1)]
    monkeypatch.setattr(
        socket,
        "getaddrinfo",
        lambda host, *a, **k: rows if host == "both" else resolve(host, *a, **k),
    )
    with speech_engine(lambda _number: words("Ben did.")) as engine:
        config = settings(f"http://both:{engine.port}/v1")
        assert transcribe(recording, WEBM, "", config=config) == "Ben did."

    (heard,) = engine.heard
    assert heard.file == BYTES
