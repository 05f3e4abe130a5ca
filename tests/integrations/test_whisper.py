"""faster-whisper in a child: a module of that name on its path stands in for it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integrations.test_openai_transcriber import settings
from tests.voice.audio_files import recording
from tests.voice.fake_whisper import fake_whisper
from webapp.base.config import WHISPER
from webapp.voice import transcription
from webapp.voice.audio_inspection import WEBM, NotAudio, TranscriptionFailed


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
def test_a_folder_is_found_from_where_the_server_runs(
    spoken: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(spoken.parent)
    folder = spoken.parent / "models/small"
    folder.mkdir(parents=True)
    with pytest.raises(TranscriptionFailed, match=f"there is no {folder}/tokenizer.json"):
        transcribe(spoken, "models/small")
    (folder / "tokenizer.json").touch()

    assert transcribe(spoken, "models/small") == f"{folder} 1 None 2 and more."


@pytest.mark.usefixtures("_engine")
@pytest.mark.parametrize(
    ("model", "reason"),
    [
        ("/nowhere", "there is no /nowhere/tokenizer.json"),
        ("missing", "Invalid model size"),
        ("stuck", "longer than"),
    ],
)
def test_an_engine_that_fails_or_hangs_says_why(
    spoken: Path, monkeypatch: pytest.MonkeyPatch, model: str, reason: str
) -> None:
    monkeypatch.setattr(transcription, "WHISPER_SECONDS", 1)
    with pytest.raises(TranscriptionFailed, match=reason):
        transcribe(spoken, model)


def test_without_the_extra_it_says_so(spoken: Path) -> None:
    with pytest.raises(TranscriptionFailed, match="faster_whisper"):
        transcribe(spoken, "tiny")


@pytest.mark.usefixtures("_engine")
def test_what_is_no_recording_never_reaches_the_engine(tmp_path: Path) -> None:
    path = tmp_path / "answer.webm"
    path.write_text("words")
    with pytest.raises(NotAudio):
        transcribe(path, "tiny")
    assert transcription.child.pid is None
