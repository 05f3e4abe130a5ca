"""Audio is looked at by a child, whatever it is: ten seconds, half a gigabyte, and nothing else of
this machine.
"""

import io
import re
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import av
import pytest

from tests.voice import audio_files, hostile_audio
from tests.voice.audio_files import KINDS, MEDIA_TYPES, long_recording, recording
from webapp.voice import audio_inspection
from webapp.voice.audio_inspection import (
    MP3,
    MP4,
    WAV,
    WEBM,
    AudioFormat,
    NotAudio,
    NotPlain,
    inspect,
    look,
    sniff,
    to_pcm,
)

SCHEMES = ("http://{}/a.mp3", "file:{}")
QUESTIONS = (inspect, look)


@pytest.fixture
def upload(tmp_path: Path) -> Path:
    path = tmp_path / "upload"
    path.write_bytes(recording("wav"))
    return path


def kept(path: Path, content: bytes) -> tuple[Path, AudioFormat]:
    """The file with this content, and its format."""
    path.write_bytes(content)
    audio = sniff(content)
    assert audio is not None
    return path, audio


@pytest.mark.parametrize("kind", KINDS)
def test_type_length_and_voice_are_those_of_the_bytes(kind: str, upload: Path) -> None:
    path, audio = kept(upload, recording(kind, seconds=1.5))

    assert audio.media_type == MEDIA_TYPES[kind]
    assert inspect(path, audio) == pytest.approx(1500, abs=120)
    found = look(path, audio)
    assert found.voiced
    assert re.fullmatch("[0-9]{64}", found.levels)
    assert max(found.levels) == "9"


@pytest.mark.parametrize(("sound", "voiced"), [("noise", False), ("soft_voice", True)])
def test_a_quiet_room_is_no_voice_and_a_soft_voice_is(
    sound: str, *, voiced: bool, upload: Path
) -> None:
    assert look(*kept(upload, recording("webm", sound, 2.0))).voiced is voiced


@pytest.mark.parametrize("chance", [b"<sVg\x9c", b"PK\x03\x04\xd1\x9f"])
def test_a_few_bytes_that_sound_holds_by_chance_make_no_other_file_of_it(
    chance: bytes, upload: Path
) -> None:
    sound = recording("wav", seconds=1.5)

    assert inspect(*kept(upload, sound[:-64] + chance + sound[-64 + len(chance) :])) == 1500


@pytest.mark.parametrize("made", [long_recording, audio_files.stretched_webm])
def test_more_than_ten_minutes_are_refused_in_words(
    made: Callable[[], bytes], upload: Path
) -> None:
    assert inspect(*kept(upload, made())) > 600_000


def test_what_is_no_recording_is_refused(upload: Path) -> None:
    taken = []
    for name, content in audio_files.not_audio():
        if sniff(content):
            with suppress(NotAudio):
                inspect(*kept(upload, content))
                taken.append(name)

    assert taken == []


@pytest.mark.parametrize(
    ("head", "audio"),
    [
        *((head, None) for head in (b"", b"\xff", audio_files.image()[:64], b"RIFF\0\0\0\0AVI ")),
        (b"\xff\xfb\x90\x64", MP3),  # which needs no tag
    ],
)
def test_other_heads_have_no_type(head: bytes, audio: AudioFormat | None) -> None:
    assert sniff(head) == audio


@pytest.fixture
def address() -> Iterator[tuple[str, list[str]]]:
    """Of a listener on this machine, and who called it."""
    callers: list[str] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.05)
        ended = threading.Event()

        def listen() -> None:
            while not ended.is_set():
                with suppress(TimeoutError):
                    connection, caller = listener.accept()
                    connection.close()
                    callers.append(str(caller))

        thread = threading.Thread(target=listen)
        thread.start()
        yield f"127.0.0.1:{listener.getsockname()[1]}", callers
        ended.set()
        thread.join()


@pytest.mark.parametrize("demuxer", ["concat", "hls", "mov"])
@pytest.mark.parametrize("script", [audio_files.playlist, audio_files.concat_script])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_no_name_in_a_file_is_opened(
    demuxer: str, script: object, scheme: str, upload: Path, address: tuple[str, list[str]]
) -> None:
    where = address[0] if "//" in scheme else upload
    path = upload.with_name("script")
    path.write_bytes(script(scheme.format(where)))  # type: ignore[operator]
    for question in QUESTIONS:
        with pytest.raises(NotAudio):
            question(path, AudioFormat("audio/none", "none", demuxer))

    assert address[1] == []


@pytest.mark.parametrize("scheme", SCHEMES)
def test_samples_are_those_of_the_file_wherever_it_says_they_are(
    scheme: str, upload: Path, address: tuple[str, list[str]]
) -> None:
    upload.write_bytes(recording("m4a"))
    found = inspect(upload, MP4), look(upload, MP4)
    where = scheme.format(address[0] if "//" in scheme else upload)
    upload.write_bytes(hostile_audio.external_reference(where))

    assert (inspect(upload, MP4), look(upload, MP4)) == found
    assert address[1] == []


def test_the_limits_hold_before_the_first_file(upload: Path) -> None:
    inspect(upload, WAV)
    limits = Path(f"/proc/{audio_inspection.child.pid}/limits").read_text()
    found = dict(re.findall(r"Max ([a-z ]+?)  +\d+ +(\d+)", limits))  # the hard ones

    assert int(found["address space"]) <= 512 * 1024**2
    assert int(found["open files"]) == 3 + 2
    assert int(found["core file size"]) == int(found["processes"]) == 0
    assert int(found["cpu time"]) <= 600
    assert int(found["file size"]) < 24 * 1024**2


def test_an_index_beyond_all_memory_is_refused_and_the_next_file_is_not(upload: Path) -> None:
    with pytest.raises(NotAudio):
        inspect(*kept(upload.with_name("bomb"), hostile_audio.huge_sample_table()))

    assert inspect(upload, WAV) == 1000


def test_a_look_that_takes_too_long_is_ended(upload: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inspect(upload, WAV)
    pid = audio_inspection.child.pid
    endless = kept(upload.with_name("endless"), long_recording())
    monkeypatch.setattr(audio_inspection, "LOOK_SECONDS", 0.01)
    with pytest.raises(NotAudio, match="longer than"):
        look(*endless)
    monkeypatch.undo()

    assert inspect(upload, WAV) == 1000
    assert audio_inspection.child.pid != pid


def test_what_no_microphone_makes_is_refused(upload: Path) -> None:
    rates = map(hostile_audio.wrong_rate, (1, 2**31 - 1))
    for content in (*rates, hostile_audio.many_channels()):
        upload.write_bytes(content)
        for question in QUESTIONS:
            with pytest.raises(NotAudio):
                question(upload, WAV)


@pytest.mark.parametrize("muxer", ["webm", "mp4", "mov"])
def test_of_a_film_no_picture_is_decoded(muxer: str, upload: Path) -> None:
    """Pictures that no decoder could read harm nobody."""
    film = bytearray(audio_files.video(muxer))
    with av.open(io.BytesIO(film)) as container:
        pictures = [bytes(each) for each in container.demux(video=0) if each.size]
    for picture in pictures:
        at = film.index(picture)
        film[at : at + len(picture)] = b"\xff" * len(picture)
    upload.write_bytes(film)
    audio = WEBM if muxer == "webm" else MP4

    with pytest.raises(NotPlain, match="other than one track of sound"):
        inspect(upload, audio)
    assert samples_of(upload, audio) == pytest.approx(1000, abs=120)


def samples_of(path: Path, audio: AudioFormat) -> int:
    """The length of the WAV that is made of a file."""
    with path.with_name("samples.wav").open("w+b") as out:
        to_pcm(path, audio, out)
    return inspect(Path(out.name), WAV)


def test_samples_are_as_long_as_they_sound_and_end_after_eleven_minutes(upload: Path) -> None:
    upload.write_bytes(hostile_audio.hurried(16))
    assert inspect(upload, MP4) < 2000
    assert samples_of(upload, MP4) > 14_000

    upload.write_bytes(long_recording(680))
    assert samples_of(upload, WAV) == pytest.approx(660_000, abs=200)

    upload.write_bytes(hostile_audio.slowed(2))  # its rate changes on the way
    assert samples_of(upload, WEBM) < 3000


@pytest.mark.parametrize(
    ("count", "seed"), [(30, 11), pytest.param(5000, 12, marks=pytest.mark.prove)]
)
def test_damaged_recordings_harm_nobody(upload: Path, count: int, seed: int) -> None:
    """Each is taken or refused within its time, and a good one still is."""
    for content in hostile_audio.damaged(count, seed):
        upload.write_bytes(content)
        if audio := sniff(content):
            for question in (*QUESTIONS, samples_of):
                with suppress(NotAudio):
                    question(upload, audio)
    upload.write_bytes(recording("wav"))
    assert inspect(upload, WAV) == 1000
