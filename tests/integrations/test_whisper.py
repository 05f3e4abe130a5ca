"""faster-whisper in a child: a module of that name on its path stands in for it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.voice.audio_files import recording
from tests.voice.fake_whisper import fake_whisper
from webapp.voice import whisper
from webapp.voice.audio_inspection import NotAudio
from webapp.voice.transcription_failure import TranscriptionFailed
from webapp.voice.whisper import transcribe


@pytest.fixture
def spoken(tmp_path: Path) -> Path:
    path = tmp_path / "recording.webm"
    path.write_bytes(recording("webm", "voice", 2.0))
    return path


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with fake_whisper(tmp_path / "libraries", monkeypatch):
        yield


@pytest.mark.usefixtures("engine")
def test_words_come_from_the_engine_which_keeps_its_model(spoken: Path) -> None:
    assert transcribe(spoken, model="tiny", language="") == "tiny 1 None 2 and more."
    assert transcribe(spoken, model="tiny", language="pt-BR") == "tiny 1 pt 2 and more."
    assert transcribe(spoken, model="tiny", language="tlh") == "tiny 1 None 2 and more."
    assert set(spoken.parent.glob("*")) == {spoken.parent / "libraries", spoken}


@pytest.mark.usefixtures("engine")
def test_a_folder_is_found_from_where_the_server_runs(
    spoken: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(spoken.parent)
    folder = spoken.parent / "models/small"
    folder.mkdir(parents=True)
    (folder / "tokenizer.json").touch()

    assert transcribe(spoken, model="models/small", language="") == f"{folder} 1 None 2 and more."


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("there", [True, False])
def test_a_folder_that_is_not_of_a_model_is_told_and_fetches_nothing(
    spoken: Path, *, there: bool
) -> None:
    folder = spoken.parent / "small"
    if there:
        folder.mkdir()
        (folder / "model.bin").touch()

    with pytest.raises(TranscriptionFailed, match=f"there is no {folder}/tokenizer.json"):
        transcribe(spoken, model=str(folder), language="")


@pytest.mark.usefixtures("engine")
def test_a_model_that_is_missing_is_told(spoken: Path) -> None:
    with pytest.raises(TranscriptionFailed, match="Invalid model size"):
        transcribe(spoken, model="missing", language="")


@pytest.mark.usefixtures("engine")
def test_an_engine_that_never_ends_its_words_is_cut(spoken: Path) -> None:
    assert len(transcribe(spoken, model="talkative", language="")) == 99_999


@pytest.mark.usefixtures("engine")
def test_an_engine_that_hangs_is_ended(spoken: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whisper, "TRANSCRIBE_SECONDS", 0.5)
    with pytest.raises(TranscriptionFailed, match="longer than"):
        transcribe(spoken, model="stuck", language="")
    assert whisper.child.pid is None


def test_without_the_extra_it_says_so(spoken: Path) -> None:
    with pytest.raises(TranscriptionFailed, match="faster_whisper"):
        transcribe(spoken, model="tiny", language="")


@pytest.mark.usefixtures("engine")
def test_what_is_no_recording_never_reaches_the_engine(tmp_path: Path) -> None:
    path = tmp_path / "answer.webm"
    path.write_text("words")
    with pytest.raises(NotAudio):
        transcribe(path, model="tiny", language="")
    assert whisper.child.pid is None
