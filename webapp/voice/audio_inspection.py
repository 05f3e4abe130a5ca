"""What a recording is: its type by its first bytes; its length, its loudness and its samples by a
child.

No audio is opened in this process, and PyAV is not imported in it: `audio_child` does both. A child
reads one file that was opened for it, by the demuxer that the bytes name, and may take ten seconds
and half a gigabyte for it. It can open nothing else, neither a file nor a connection, nor start or
signal a process (`confinement`).
"""

import logging
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, NamedTuple

from webapp.voice.child_process import ChildBusy, ChildFailed, ChildKilled, ChildProcess
from webapp.voice.child_requests import Answer

LOOK_SECONDS = 10.0
LEVELS = re.compile(r"[0-9]{64}")
HEAD_BYTES = 64  # enough to sniff

log = logging.getLogger("askback.audio")


class AudioFormat(NamedTuple):
    """What the first bytes say; `demuxer` as FFmpeg calls it."""

    media_type: str
    extension: str
    demuxer: str


class Look(NamedTuple):
    """Whether somebody speaks, and the loudness in 64 steps of equal length, digits 0 to 9.

    decoded_ms  how long it sounds, whatever its container claims; not beyond eleven minutes
    """

    voiced: bool
    levels: str
    decoded_ms: int


class NotAudio(Exception):
    """No recording that we take: no sound, something besides it, broken, or too much work."""


class NotPlain(NotAudio):
    """Sound together with other data, or in a codec that not every browser plays; see `to_pcm`."""


class AudioBusy(Exception):
    """Nothing is known about the file: too many wait for the child, or it cannot be started."""


WEBM = AudioFormat("audio/webm", "webm", "matroska")
MP4 = AudioFormat("audio/mp4", "m4a", "mov")
OGG = AudioFormat("audio/ogg", "ogg", "ogg")
WAV = AudioFormat("audio/wav", "wav", "wav")
MP3 = AudioFormat("audio/mpeg", "mp3", "mp3")
PLAIN = (WEBM, MP4, OGG, WAV, MP3)  # what is stored is one of these
MATROSKA = AudioFormat("audio/x-matroska", "mka", "matroska")
AAC = AudioFormat("audio/aac", "aac", "aac")
FLAC = AudioFormat("audio/flac", "flac", "flac")
AMR = AudioFormat("audio/amr", "amr", "amr")
CAF = AudioFormat("audio/x-caf", "caf", "caf")
AIFF = AudioFormat("audio/aiff", "aiff", "aiff")
# of the files that people may choose; phones know some by their names alone
ACCEPTED = (
    "audio/*,.m4a,.mp4,.qta,.3gp,.3ga,.aac,.mp3,.wav,.ogg,.oga,.opus,.webm,.weba,.mka,.caf,.amr,"
    ".awb,.flac,.aif,.aiff"
)

child = ChildProcess("webapp.voice.audio_child", fixed={"MALLOC_ARENA_MAX": "1"})


def sniff(head: bytes) -> AudioFormat | None:
    """The format that the first HEAD_BYTES of a file have; None for none that we take."""
    if head.startswith(b"\x1a\x45\xdf\xa3"):
        return WEBM if b"webm" in head[:HEAD_BYTES] else MATROSKA
    if head[4:8] == b"ftyp":
        return MP4
    for start, form, audio in _HEADS:
        if head.startswith(start) and head[8:12].startswith(form):
            return audio
    return _of_frame(head)


_HEADS = (
    (b"OggS\0", b"", OGG),
    (b"RIFF", b"WAVE", WAV),
    (b"ID3", b"", MP3),
    (b"fLaC", b"", FLAC),
    (b"#!AMR", b"", AMR),
    (b"caff", b"", CAF),
    (b"FORM", b"AIF", AIFF),
)


def _of_frame(head: bytes) -> AudioFormat | None:
    """Of MPEG audio without a tag: sync, layer, a bit rate and a sampling rate (ISO 11172-3,
    2.4.1.3), or sync, layer and a sampling rate of an ADTS frame (ISO 14496-3, 1.A.2.2).
    """
    if len(head) < 4 or head[0] != 0xFF:
        return None
    if head[1] & 0xF6 == 0xF0:
        return AAC if head[2] & 0x3C < 0x34 else None
    is_mp3 = head[1] & 0xE6 == 0xE2 and head[2] & 0xF0 not in {0x00, 0xF0}
    return MP3 if is_mp3 and head[2] & 0x0C != 0x0C else None


def inspect(path: Path, audio: AudioFormat) -> int:
    """The length in milliseconds, at least 1, of a file that holds one track of sound and nothing
    else. Raises NotPlain, NotAudio, AudioBusy, OSError.
    """
    if audio not in PLAIN:
        raise NotPlain(audio.media_type)
    with _named_failures():
        return int(_ask("inspect", path, audio)["duration_ms"])


def look(path: Path, audio: AudioFormat) -> Look:
    """Decode it and listen. Raises NotAudio, AudioBusy, OSError."""
    with _named_failures():
        answer = _ask("look", path, audio)
        levels = str(answer["levels"])
        if not LEVELS.fullmatch(levels):
            raise ValueError("no levels")
        return Look(bool(answer["voiced"]), levels, int(answer["decoded_ms"]))


def to_pcm(path: Path, audio: AudioFormat, out: IO[bytes]) -> None:
    """Write its first track of sound into the open file `out` as WAV: 16 kHz, one channel, 16 bits.

    Raises NotAudio, AudioBusy, OSError.
    """
    with _named_failures():
        _ask("to_pcm", path, audio, out)


def unconfined() -> str:
    """What this machine lacks to confine the child, "" for nothing. Raises AudioBusy."""
    with _named_failures():
        return str(child.start()["lacks"])


def _ask(question: str, path: Path, audio: AudioFormat, out: IO[bytes] | None = None) -> Answer:
    request = {"question": question, "demuxer": audio.demuxer}
    with ExitStack() as opened:
        file = opened.enter_context(path.open("rb"))
        files = [file.fileno(), (out or file).fileno()]  # the child always takes two
        answer = child.call(request, files, seconds=LOOK_SECONDS)
    if "refused" in answer:
        raise (NotPlain if answer.get("sound") else NotAudio)(str(answer["refused"])[:200])
    return answer


@contextmanager
def _named_failures() -> Iterator[None]:
    try:
        yield
    except (ChildKilled, KeyError, TypeError, ValueError) as error:  # killed, or taken over
        raise NotAudio(str(error)) from error
    except ChildBusy as error:
        raise AudioBusy(str(error)) from error
    except ChildFailed as error:
        log.error("audio cannot be opened: %s", error)
        raise AudioBusy(str(error)) from error
