"""What a hostile file may cost and reach: ten seconds, half a gigabyte, nothing else."""

import io
import re
import shutil
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import av
import pytest

from tests.voice.audio_files import concat_script, long_recording, playlist, recording, video
from tests.voice.hostile_audio import (
    damaged,
    external_reference,
    huge_sample_table,
    hurried,
    many_channels,
    slowed,
    wrong_rate,
)
from webapp.voice import audio_inspection
from webapp.voice.audio_inspection import (
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
from webapp.voice.child_process import ChildProcess

CHILD = "webapp.voice.audio_child"
SCHEMES = ("http://{}/a.mp3", "tcp://{}", "file:{}", "{}")


@pytest.fixture
def upload(tmp_path: Path) -> Path:
    path = tmp_path / "upload"
    path.write_bytes(recording("wav"))
    return path


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


@pytest.mark.parametrize("demuxer", ["concat", "hls", "mov", "webm_dash_manifest", "sdp"])
@pytest.mark.parametrize("script", [playlist, concat_script])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_no_name_in_a_file_is_opened(
    demuxer: str, script: object, scheme: str, tmp_path: Path, address: tuple[str, list[str]]
) -> None:
    secret = tmp_path / "secret.wav"
    secret.write_bytes(recording("wav"))
    where = address[0] if "//" in scheme else str(secret)
    path = tmp_path / "upload"
    path.write_bytes(script(scheme.format(where)))  # type: ignore[operator]
    for question in (inspect, look):
        with pytest.raises(NotAudio):
            question(path, AudioFormat("audio/none", "none", demuxer))

    assert address[1] == []


@pytest.mark.parametrize("scheme", SCHEMES)
def test_samples_are_those_of_the_file_wherever_it_says_they_are(
    scheme: str, tmp_path: Path, address: tuple[str, list[str]]
) -> None:
    path = tmp_path / "upload"
    path.write_bytes(recording("m4a"))
    length, heard = inspect(path, MP4), look(path, MP4)
    path.write_bytes(external_reference(scheme.format(address[0] if "//" in scheme else path)))

    assert (inspect(path, MP4), look(path, MP4)) == (length, heard)
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
    bomb = upload.with_name("bomb")
    bomb.write_bytes(huge_sample_table())
    with pytest.raises(NotAudio):
        inspect(bomb, MP4)

    assert inspect(upload, WAV) == 1000


def test_a_look_that_takes_too_long_is_ended(upload: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inspect(upload, WAV)
    pid = audio_inspection.child.pid
    endless = upload.with_name("endless")
    endless.write_bytes(long_recording())
    monkeypatch.setattr(audio_inspection, "LOOK_SECONDS", 0.01)
    with pytest.raises(NotAudio, match="longer than"):
        look(endless, WAV)
    monkeypatch.undo()

    assert inspect(upload, WAV) == 1000
    assert audio_inspection.child.pid != pid


@pytest.mark.parametrize(
    "content", [wrong_rate(1), wrong_rate(2**31 - 1), many_channels()], ids=["1", "2^31", "64"]
)
def test_what_no_microphone_makes_is_refused(content: bytes, upload: Path) -> None:
    upload.write_bytes(content)
    for question in (inspect, look):
        with pytest.raises(NotAudio):
            question(upload, WAV)


@pytest.mark.parametrize("muxer", ["webm", "mp4", "mov"])
def test_of_a_film_no_picture_is_decoded(muxer: str, upload: Path) -> None:
    """Pictures that no decoder could read harm nobody."""
    film = bytearray(video(muxer))
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
    upload.write_bytes(hurried(16))
    assert inspect(upload, MP4) < 2000
    assert samples_of(upload, MP4) > 14_000

    upload.write_bytes(long_recording(900))
    assert samples_of(upload, WAV) == pytest.approx(660_000, abs=200)

    upload.write_bytes(slowed(2))  # its rate changes on the way
    assert samples_of(upload, WEBM) < 3000


def test_what_was_taken_damaged_is_heard_as_far_as_it_goes(tmp_path: Path) -> None:
    path = tmp_path / "upload"
    path.write_bytes(next(heard_in_part(path)))

    assert look(path, MP4).voiced


def heard_in_part(path: Path) -> Iterator[bytes]:
    """Recordings of AAC with a changed byte that are taken, though a decoder refuses a packet."""
    sound = recording("m4a")
    for at in range(1000, len(sound), 7):
        path.write_bytes(content := sound[:at] + b"\xff" + sound[at + 1 :])
        with suppress(NotAudio):
            if inspect(path, MP4) and refuses_a_packet(content):
                yield content


def refuses_a_packet(content: bytes) -> bool:
    with av.open(io.BytesIO(content), "r", format="mov", metadata_errors="replace") as container:
        try:
            list(container.decode(audio=0))
        except av.error.FFmpegError as error:
            return not isinstance(error, av.error.InvalidDataError)
    return False


def survives(folder: Path, contents: Iterator[bytes]) -> None:
    """Every file is taken or refused within its time, and a good one still is."""
    path = folder / "upload"
    for content in contents:
        audio = sniff(content)
        path.write_bytes(content)
        for question in (inspect, look, samples_of) if audio else ():
            with suppress(NotAudio):
                question(path, audio)
    path.write_bytes(recording("wav"))
    assert inspect(path, WAV) == 1000


def test_damaged_recordings_harm_nobody(tmp_path: Path) -> None:
    survives(tmp_path, damaged(60))


@pytest.mark.prove
def test_thousands_of_damaged_recordings_harm_nobody(tmp_path: Path) -> None:
    survives(tmp_path, damaged(5000, seed=12))


@pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace")
def test_between_a_request_and_its_answer_nothing_is_opened(upload: Path) -> None:
    trace = upload.with_name("trace")
    traced = ChildProcess(CHILD)
    calls = "trace=open,openat,socket,connect,recvmsg,sendto"
    traced._command[:0] = ["strace", "-f", "-o", str(trace), "-e", calls]
    try:
        with upload.open("rb") as file:
            files = [file.fileno()] * 2
            traced.call({"question": "look", "demuxer": "wav"}, files, seconds=30)
            upload.write_bytes(concat_script("/etc/passwd"))
            traced.call({"question": "look", "demuxer": "concat"}, files, seconds=30)
    finally:
        traced.end()
    lines = trace.read_text().splitlines()
    requests = [number for number, line in enumerate(lines) if "recvmsg(" in line]
    opened = [line for line in lines[requests[0] :] if re.search("open|socket|connect", line)]

    assert len(requests) >= 2
    assert [line for line in opened if " = -1 " not in line] == []
