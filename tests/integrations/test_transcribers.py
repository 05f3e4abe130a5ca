"""What a service gets of a recording, and what of its answers is taken; faster-whisper in a child,
for which a module of that name on its path stands in.
"""

import gzip
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.services import free_port
from tests.voice.audio_files import recording
from tests.voice.fake_whisper import fake_whisper
from tests.voice.speech_engine import Reply, speech_engine, words
from tests.webapp.test_config import SECRET
from webapp.base.config import WHISPER, Settings
from webapp.voice import transcription
from webapp.voice.audio_inspection import WEBM, NotAudio, TranscriptionFailed
from webapp.voice.transcription import write_down

BYTES = b"\x1a\x45\xdf\xa3" + bytes(range(256)) * 2000
JSON = {"Content-Type": "application/json"}
TOO_LONG = b'{"text": "' + b"a" * (transcription.ANSWER_MAX_BYTES + 65_536) + b'"}'
PACKED = gzip.compress(orjson.dumps({"text": "a" * 50_000_000}))
JUNK = (
    *(b"", b"\x00\xff\xfe{", b"[]", b"null", b'"Ben did."', b"{}", b'{"text": 5}'),
    b"[" * 100_000,
)


def settings(url: str, **changed: Any) -> Settings:
    by = {"transcriber": "openai", "transcriber_url": url, "transcriber_model": "small-en"}
    given = {"public_url": "http://127.0.0.1:8000", "secret_key": SECRET} | by
    return Settings(**given | changed)


Ask = Callable[..., str]


@pytest.fixture
def ask(tmp_path: Path) -> Ask:
    """Let a service at this address write a recording down."""
    path = tmp_path / "anything"
    path.write_bytes(BYTES)

    def asked(url: str, language: str = "", **changed: Any) -> str:
        return write_down(path, WEBM, language, config=settings(url, **changed))

    return asked


def failure(ask: Ask, reply: Reply, **changed: Any) -> str:
    """Why this answer is none."""
    with speech_engine(lambda _number: reply) as engine:
        with pytest.raises(TranscriptionFailed) as caught:
            ask(engine.url, **changed)
        assert len(engine.heard) == 1
    return str(caught.value)


@pytest.mark.parametrize(
    ("language", "key", "sent", "header"),
    [
        ("", None, {}, {}),
        ("pt", "sk-mine", {"language": "pt"}, {"authorization": "Bearer sk-mine"}),
    ],
)
def test_it_gets_the_file_the_model_and_the_format_and_nothing_else(  # noqa: PLR0913
    ask: Ask, monkeypatch: pytest.MonkeyPatch, language: str, key: str, sent: Any, header: Any
) -> None:
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{free_port()}")
    with speech_engine(lambda _number: words("Ben did.")) as engine:
        assert ask(engine.url, language, transcriber_api_key=key) == "Ben did."

    (heard,) = engine.heard
    assert heard.path == "/v1/audio/transcriptions"
    assert heard.fields == {"model": "small-en", "response_format": "json"} | sent
    assert (heard.file, heard.file_name, heard.file_type) == (BYTES, "recording.webm", "audio/webm")
    assert heard.headers.pop("content-type").startswith("multipart/form-data; boundary=")
    assert heard.headers == header | {
        "host": engine.host,
        "accept": "application/json",
        "accept-encoding": "identity",
        "user-agent": "Askback",
        "connection": "close",
        "content-length": heard.headers["content-length"],
    }


@pytest.mark.parametrize(
    "reply",
    [
        *(Reply(body, headers=JSON) for body in (*JUNK, TOO_LONG)),
        Reply(b"Ben did.", headers={"Content-Type": "text/plain"}),
        Reply(PACKED, headers=JSON | {"Content-Encoding": "gzip"}),
    ],
)
def test_junk_other_types_and_compressed_answers_are_no_transcript(ask: Ask, reply: Reply) -> None:
    assert failure(ask, reply)


@pytest.mark.parametrize("status", [307, 401, 500])
def test_a_refusal_is_told_by_its_status_and_neither_followed_nor_asked_again(
    ask: Ask, status: int
) -> None:
    body = b'{"error": {"message": "you said: my secret. key sk-mine"}}'
    with speech_engine(lambda _number: words("elsewhere")) as other:
        headers = JSON | {"Location": f"{other.url}/audio/transcriptions"}
        told = failure(ask, Reply(body, status, headers=headers), transcriber_api_key="sk-mine")

    assert told == f"it answered with status {status}"
    assert other.heard == []


@pytest.mark.parametrize(
    ("bound", "reply"),
    [
        ("ANSWER_SECONDS", words("late", after=1.5)),
        ("TOTAL_SECONDS", words("late " * 20, pieces=100, pause=0.1)),
    ],
    ids=["does not begin", "drips"],
)
def test_a_late_answer_is_given_up(
    ask: Ask, monkeypatch: pytest.MonkeyPatch, bound: str, reply: Reply
) -> None:
    monkeypatch.setattr(transcription, bound, 0.4)
    began = time.monotonic()

    assert failure(ask, reply)
    assert time.monotonic() - began < 4


@pytest.fixture
def spoken(tmp_path: Path) -> Path:
    path = tmp_path / "recording.webm"
    path.write_bytes(recording("webm", "voice", 2.0))
    return path


@pytest.fixture
def _engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with fake_whisper(tmp_path / "libraries", monkeypatch):
        yield


def transcribe(path: Path, model: str, language: str = "", hint: str = "") -> str:
    config = settings("", transcriber=WHISPER, transcriber_url=None, transcriber_model=model)
    return transcription.write_down(path, WEBM, language, hint=hint, config=config)


@pytest.mark.usefixtures("_engine")
def test_words_come_from_the_engine_which_keeps_its_model(spoken: Path) -> None:
    languages = {"": "None", "pt-BR": "pt", "tlh": "None"}
    words = [transcribe(spoken, "tiny", language) for language in languages]

    assert words == [f"tiny 1 {heard} 2 and more." for heard in languages.values()]
    assert transcribe(spoken, "tiny", hint="en") == "tiny 1 en 2 and more."
    assert set(spoken.parent.glob("*")) == {spoken.parent / "libraries", spoken}
    assert len(transcribe(spoken, "talkative")) == 99_999


@pytest.mark.usefixtures("_engine")
@pytest.mark.parametrize(
    ("model", "reason"),
    [
        ("/nowhere", "there is no /nowhere/tokenizer.json"),
        ("stuck", "longer than"),
    ],
)
def test_an_engine_that_fails_or_hangs_says_why(
    spoken: Path, monkeypatch: pytest.MonkeyPatch, model: str, reason: str
) -> None:
    monkeypatch.setattr(transcription, "WHISPER_SECONDS", 1)
    with pytest.raises(TranscriptionFailed, match=reason):
        transcribe(spoken, model)


@pytest.mark.usefixtures("_engine")
def test_what_is_no_recording_never_reaches_the_engine(tmp_path: Path) -> None:
    path = tmp_path / "answer.webm"
    path.write_text("words")
    with pytest.raises(NotAudio):
        transcribe(path, "tiny")
    assert transcription.child.pid is None
