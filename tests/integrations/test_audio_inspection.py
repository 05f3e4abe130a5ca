"""Audio is looked at by a child, whatever it is."""

import os
import subprocess
import sys
import wave
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from tests.voice.audio_files import (
    KINDS,
    MEDIA_TYPES,
    image,
    long_recording,
    not_audio,
    recording,
    stretched_webm,
)
from webapp.voice import audio_inspection
from webapp.voice.audio_inspection import MP3, AudioFormat, NotAudio, inspect, look, sniff, to_pcm


def kept(folder: Path, content: bytes) -> tuple[Path, AudioFormat]:
    path = folder / "upload"
    path.write_bytes(content)
    audio = sniff(content)
    assert audio is not None
    return path, audio


@pytest.mark.parametrize("kind", KINDS)
def test_type_length_and_voice_are_those_of_the_bytes(kind: str, tmp_path: Path) -> None:
    path, audio = kept(tmp_path, recording(kind, seconds=1.5))

    assert audio.media_type == MEDIA_TYPES[kind]
    assert inspect(path, audio) == pytest.approx(1500, abs=120)
    found = look(path, audio)
    assert found.voiced
    assert len(found.levels) == 64
    assert found.levels.isdigit()
    assert max(found.levels) == "9"


def test_the_child_leaves_the_processors_to_the_server(tmp_path: Path) -> None:
    inspect(*kept(tmp_path, recording("webm", seconds=1.5)))

    child = audio_inspection.child.pid
    assert child
    assert os.getpriority(os.PRIO_PROCESS, child) == os.getpriority(os.PRIO_PROCESS, 0) + 5
    group = Path(f"/proc/{child}/autogroup")
    assert not group.exists() or group.read_text().endswith("nice 5\n")


@pytest.mark.parametrize("kind", ["webm", "mp4", "wav"])
@pytest.mark.parametrize(
    ("sound", "what"), [("silence", "none"), ("noise", "none"), ("soft_voice", "voice")]
)
def test_a_quiet_room_is_no_voice_and_a_soft_voice_is(
    kind: str, sound: str, what: str, tmp_path: Path
) -> None:
    assert look(*kept(tmp_path, recording(kind, sound, 2.0))).voiced is (what == "voice")


def test_samples_are_16_khz_of_one_channel(tmp_path: Path) -> None:
    path, audio = kept(tmp_path, recording("webm", "tone"))
    with (tmp_path / "samples.wav").open("w+b") as out:
        to_pcm(path, audio, out)
        out.seek(0)
        with wave.open(out, "rb") as samples:
            shape = (samples.getframerate(), samples.getnchannels(), samples.getsampwidth())
            assert shape == (16000, 1, 2)
            assert samples.getnframes() == pytest.approx(16000, abs=700)
            assert any(samples.readframes(8000))


@pytest.mark.parametrize(
    "chance", [b"<sVg\x9c", b"PK\x03\x04\xd1\x9f", b"PK\x05\x06\x93", b"pk\x03\x04\x14"]
)
def test_a_few_bytes_that_sound_holds_by_chance_make_no_other_file_of_it(
    chance: bytes, tmp_path: Path
) -> None:
    sound = recording("wav", seconds=1.5)

    assert inspect(*kept(tmp_path, sound[:-64] + chance + sound[-64 + len(chance) :])) == 1500


@pytest.mark.parametrize("made", [long_recording, stretched_webm])
def test_more_than_ten_minutes_are_told_as_such(made: Callable[[], bytes], tmp_path: Path) -> None:
    assert inspect(*kept(tmp_path, made())) > 600_000


def test_what_is_no_recording_is_refused(tmp_path: Path) -> None:
    taken = [name for name, content in not_audio() if is_taken(tmp_path, content)]

    assert taken == []


def is_taken(folder: Path, content: bytes) -> bool:
    if sniff(content) is None:
        return False
    with suppress(NotAudio):
        return bool(inspect(*kept(folder, content)))
    return False


@pytest.mark.parametrize(
    ("head", "audio"),
    [
        *((head, None) for head in (b"", b"\xff", image()[:64], b"\xff\xf1\x7c\x80")),
        *((head, None) for head in (b"FORM\0\0\0\0ILBM", b"RIFF\0\0\0\0AVI ")),
        (b"\xff\xfb\x90\x64", MP3),  # which needs no tag
    ],
)
def test_other_heads_have_no_type(head: bytes, audio: AudioFormat | None) -> None:
    assert sniff(head) == audio


def test_the_serving_process_imports_no_audio_library(tmp_path: Path) -> None:
    path, _ = kept(tmp_path, recording("wav"))
    code = (
        "import sys, pathlib, webapp.app.cli\n"
        "from webapp.voice import audio_inspection as audio, transcription\n"
        "print(audio.look(pathlib.Path(sys.argv[1]), audio.WAV).voiced)\n"
        "print([name for name in ('av', 'numpy', 'faster_whisper') if name in sys.modules])"
    )
    command = [sys.executable, "-c", code, str(path)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)

    assert ran.stdout == "True\n[]\n"
