"""Inspection of recordings: the type from the first bytes; duration, loudness and samples from a
child process, which also redraws pictures.

This process opens no audio and never imports PyAV: `audio_child` does both. The child reads one
file that this process opened, with the demuxer that the first bytes indicate, within ten seconds
and half a gigabyte. It can open no file or connection, and start or signal no process
(`confinement`).
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, NamedTuple, TypeVar

from webapp.voice.child_process import Answer, ChildKilled, ChildProcess

LOOK_SECONDS = 10.0
LEVELS = re.compile(r"[0-9]{64}")
HEAD_BYTES = 64  # enough to detect the format

T = TypeVar("T")


class AudioFormat(NamedTuple):
    """A format, detected by the first bytes; `demuxer` is the name that FFmpeg uses."""

    media_type: str
    extension: str
    demuxer: str


class Look(NamedTuple):
    """Whether somebody speaks, and the loudness in 64 steps of equal length, digits 0 to 9.

    decoded_ms  decoded duration, whatever the container claims; eleven minutes at most
    """

    voiced: bool
    levels: str
    decoded_ms: int


class NotAudio(Exception):
    """The file is no acceptable recording: no sound, other data, broken, or costly to decode."""


class NotPlain(NotAudio):
    """Sound together with other data, or in a codec that not every browser plays; see `to_pcm`."""


class NotPicture(Exception):
    """The file is not an acceptable picture, or it is broken or too large."""


class TranscriptionFailed(Exception):
    """The engine returned no transcript; another attempt may succeed.

    The reason is for the log: it contains no transcript and no secret.
    """


WEBM = AudioFormat("audio/webm", "webm", "matroska")
MP4 = AudioFormat("audio/mp4", "m4a", "mov")
OGG = AudioFormat("audio/ogg", "ogg", "ogg")
WAV = AudioFormat("audio/wav", "wav", "wav")
MP3 = AudioFormat("audio/mpeg", "mp3", "mp3")
PLAIN = (WEBM, MP4, OGG, WAV, MP3)  # only these are stored
AAC = AudioFormat("audio/aac", "aac", "aac")
# files that people may choose; phones recognise some by their names only
ACCEPTED = (
    "audio/*,.m4a,.mp4,.qta,.3gp,.3ga,.aac,.mp3,.wav,.ogg,.oga,.opus,.webm,.weba,.mka,.caf,.amr,"
    ".awb,.flac,.aif,.aiff"
)
# patterns of the first bytes, in this order
HEADS = (
    (rb"\x1a\x45\xdf\xa3.*webm", WEBM),
    (rb"\x1a\x45\xdf\xa3", AudioFormat("audio/x-matroska", "mka", "matroska")),
    (rb".{4}ftyp", MP4),
    (rb"OggS\0", OGG),
    (rb"RIFF.{4}WAVE", WAV),
    (rb"ID3", MP3),
    (rb"fLaC", AudioFormat("audio/flac", "flac", "flac")),
    (rb"#!AMR", AudioFormat("audio/amr", "amr", "amr")),
    (rb"caff", AudioFormat("audio/x-caf", "caf", "caf")),
    (rb"FORM.{4}AIF", AudioFormat("audio/aiff", "aiff", "aiff")),
)
PICTURE_HEADS = (
    (rb"\x89PNG\r\n\x1a\n", "png_pipe"),
    (rb"\xff\xd8\xff", "jpeg_pipe"),
    (rb"RIFF.{4}WEBP", "webp_pipe"),
)

child = ChildProcess("webapp.voice.audio_child", fixed={"MALLOC_ARENA_MAX": "1"})


def sniff(head: bytes) -> AudioFormat | None:
    """Return the format from the first HEAD_BYTES of a file; None if it is not accepted."""
    return _by_head(head[:HEAD_BYTES], HEADS) or _of_frame(head)


def _by_head(head: bytes, known: Iterable[tuple[bytes, T]]) -> T | None:
    return next((kind for start, kind in known if re.match(start, head, re.DOTALL)), None)


def _of_frame(head: bytes) -> AudioFormat | None:
    """Detect MPEG audio without a tag by sync, layer, bit rate and sampling rate (ISO 11172-3,
    2.4.1.3), or an ADTS frame by sync, layer and sampling rate (ISO 14496-3, 1.A.2.2).
    """
    if len(head) < 4 or head[0] != 0xFF:
        return None
    if head[1] & 0xF6 == 0xF0:
        return AAC if head[2] & 0x3C < 0x34 else None
    is_mp3 = head[1] & 0xE6 == 0xE2 and head[2] & 0xF0 not in {0x00, 0xF0}
    return MP3 if is_mp3 and head[2] & 0x0C != 0x0C else None


def sniff_file(path: Path) -> AudioFormat:
    """Return the format from the first bytes of a file. Raises NotAudio, OSError."""
    with path.open("rb") as file:
        audio = sniff(file.read(HEAD_BYTES))
    if audio is None:
        raise NotAudio("no format that we take")
    return audio


def inspect(path: Path, audio: AudioFormat) -> int:
    """Return the duration in milliseconds, at least 1, of a file with one audio track and nothing
    else. Raises NotPlain, NotAudio, ChildBusy, OSError.
    """
    if audio not in PLAIN:
        raise NotPlain(audio.media_type)
    with _named_failures(), path.open("rb") as file:
        return int(_ask("inspect", audio.demuxer, file)["duration_ms"])


def look(path: Path, audio: AudioFormat) -> Look:
    """Decode the recording and measure it. Raises NotAudio, ChildBusy, OSError."""
    with _named_failures(), path.open("rb") as file:
        answer = _ask("look", audio.demuxer, file)
        levels = str(answer["levels"])
        if not LEVELS.fullmatch(levels):
            raise ValueError("no levels")
        return Look(bool(answer["voiced"]), levels, int(answer["decoded_ms"]))


def to_pcm(path: Path, audio: AudioFormat, out: IO[bytes]) -> None:
    """Write the first audio track into the open file `out` as WAV: 16 kHz, one channel, 16 bits.

    Raises NotAudio, ChildBusy, OSError.
    """
    with _named_failures(), path.open("rb") as file:
        _ask("to_pcm", audio.demuxer, file, out)


def redraw(content: bytes) -> bytes:
    """Return an uploaded picture as a PNG without metadata, at most 192 pixels a side and 148 kB.

    Raises NotPicture, ChildBusy, OSError.
    """
    demuxer = _by_head(content, PICTURE_HEADS)
    if demuxer is None:
        raise NotPicture("not PNG, JPEG or WebP")
    with TemporaryFile() as file, TemporaryFile() as out:
        file.write(content)
        file.flush()
        try:
            with _named_failures():
                _ask("picture", demuxer, file, out)
        except NotAudio as error:
            raise NotPicture(str(error)) from error
        out.seek(0)
        return out.read()


def unconfined() -> str:
    """Return what this machine lacks to confine the child, "" for nothing. Raises ChildBusy."""
    return str(child.start()["lacks"])


def _ask(question: str, demuxer: str, file: IO[bytes], out: IO[bytes] | None = None) -> Answer:
    request = {"question": question, "demuxer": demuxer}
    files = [file.fileno(), (out or file).fileno()]  # the child always takes two
    answer = child.call(request, files, seconds=LOOK_SECONDS)
    if "refused" in answer:
        raise (NotPlain if answer.get("sound") else NotAudio)(str(answer["refused"])[:200])
    return answer


@contextmanager
def _named_failures() -> Iterator[None]:
    try:
        yield
    except (ChildKilled, KeyError, TypeError, ValueError) as error:  # killed or compromised
        raise NotAudio(str(error)) from error
