"""Small files for uploads, made when asked for and kept: recordings as browsers make them, and what
is none. Sounds are 16 kHz, one channel.
"""

import array
import io
import math
import random
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import av

RATE = 16000
FULL = 32767


def voice(number: int, seconds: float, peak: float = 0.3) -> float:
    """Syllables of a low voice, five a second, with a pause after every fourth."""
    at = number / RATE
    syllable = max(0.0, math.sin(math.pi * 5 * at)) ** 2 if int(at * 2.5) % 2 == 0 else 0.0
    pitch = 120 + 20 * math.sin(3 * at)
    tones = sum(math.sin(2 * math.pi * pitch * k * at) / k for k in (1, 2, 3, 5, 8, 13))
    return peak * (0.5 + 0.5 * syllable) * syllable * tones / 2


def tone(number: int, seconds: float) -> float:
    """440 Hz, a third of full scale."""
    return 0.3 * math.sin(2 * math.pi * 440 * number / RATE)


def silence(number: int, seconds: float) -> float:
    """Nothing at all, as of a muted microphone."""
    return 0.0


def noise(number: int, seconds: float) -> float:
    """A quiet room: hiss at about -62 dB below full scale and the hum of the mains at -45."""
    hum = 0.008 * math.sin(2 * math.pi * 50 * number / RATE)
    return hum + random.Random(number).uniform(-0.0014, 0.0014)  # noqa: S311


def soft_voice(number: int, seconds: float) -> float:
    """Somebody far from the microphone, in the quiet room without its hum."""
    return voice(number, seconds, 0.006) + random.Random(number).uniform(-0.0004, 0.0004)  # noqa: S311


SOUNDS: dict[str, Callable[[int, float], float]] = {
    function.__name__: function for function in (voice, tone, silence, noise, soft_voice)
}

# muxer, encoder, options: `live` and fragments are what a recorder in a browser writes
KINDS: dict[str, tuple[str, str, dict[str, str]]] = {
    "webm": ("webm", "libopus", {"live": "1"}),
    "mp4": ("mp4", "aac", {"movflags": "frag_keyframe+empty_moov"}),
    "mp4_opus": ("mp4", "libopus", {"movflags": "frag_keyframe+empty_moov"}),
    "m4a": ("ipod", "aac", {}),
    "ogg": ("ogg", "libopus", {}),
    "wav": ("wav", "pcm_s16le", {}),
    "mp3": ("mp3", "libmp3lame", {}),
}
MEDIA_TYPES = {
    **{"webm": "audio/webm", "ogg": "audio/ogg", "wav": "audio/wav", "mp3": "audio/mpeg"},
    **{"mp4": "audio/mp4", "mp4_opus": "audio/mp4", "m4a": "audio/mp4"},
}


@cache
def samples(sound: str, seconds: float) -> bytes:
    """16-bit samples of a sound, by its name in SOUNDS."""
    function = SOUNDS[sound]
    values = (function(number, seconds) for number in range(int(RATE * seconds)))
    return array.array("h", (int(FULL * max(-1.0, min(1.0, v))) for v in values)).tobytes()


@cache
def recording(kind: str = "webm", sound: str = "voice", seconds: float = 1.0) -> bytes:
    """A valid recording, by a name in KINDS and one in SOUNDS."""
    muxer, encoder, options = KINDS[kind]
    file = io.BytesIO()
    with av.open(file, "w", format=muxer, options=options) as container:
        stream = container.add_stream(encoder, rate=RATE, layout="mono")
        _encode(container, stream, samples(sound, seconds))
    return file.getvalue()


def _encode(container: Any, stream: Any, pcm: bytes) -> None:
    frame = av.AudioFrame(format="s16", layout="mono", samples=len(pcm) // 2)
    frame.sample_rate = RATE
    frame.pts = 0
    frame.planes[0].update(pcm)
    for packet in (*stream.encode(frame), *stream.encode(None)):
        container.mux(packet)


def decoded(sound: bytes) -> bytes:
    """The samples of a recording, at 16 kHz, of one channel, 16 bits each."""
    resampler = av.AudioResampler(format="s16", layout="mono", rate=RATE)
    with av.open(io.BytesIO(sound)) as container:
        frames = [part for frame in container.decode(audio=0) for part in resampler.resample(frame)]
    return b"".join(bytes(frame.planes[0])[: frame.samples * 2] for frame in frames)


def wav(pcm: bytes, rate: int = RATE, bits: int = 16) -> bytes:
    """A WAV file of one channel around these samples."""
    block = bits // 8
    fmt = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, rate, rate * block, block, bits)
    data = struct.pack("<4sI", b"data", len(pcm)) + pcm
    return struct.pack("<4sI4s", b"RIFF", 4 + len(fmt) + len(data), b"WAVE") + fmt + data


@cache
def long_recording(seconds: int = 601) -> bytes:
    """Silence of that length, 8000 bytes a second; a recording may have 600 s."""
    return wav(b"\x80" * 8000 * seconds, rate=8000, bits=8)


@cache
def stretched_webm(seconds: int = 601) -> bytes:
    """A second of sound before and one after so much time, in a few kilobytes."""
    file = io.BytesIO()
    with av.open(file, "w", format="webm", options={"live": "1"}) as container:
        stream: Any = container.add_stream("libopus", rate=RATE, layout="mono")
        frame = av.AudioFrame(format="s16", layout="mono", samples=RATE)
        frame.sample_rate, frame.pts = RATE, 0
        frame.planes[0].update(samples("tone", 1.0))
        packets = [*stream.encode(frame), *stream.encode(None)]
        for number, packet in enumerate(packets):
            if number > len(packets) // 2:
                shift = int(seconds / packet.time_base)
                packet.pts, packet.dts = packet.pts + shift, packet.dts + shift
            container.mux(packet)
    return file.getvalue()


@cache
def video(muxer: str = "webm") -> bytes:
    """Pictures with sound, as `webm` or `mp4`."""
    encoder = "libvpx" if muxer == "webm" else "mpeg4"
    file = io.BytesIO()
    with av.open(file, "w", format=muxer) as container:
        pictures: Any = container.add_stream(encoder, rate=10)
        pictures.width, pictures.height, pictures.pix_fmt = 64, 64, "yuv420p"
        sound = container.add_stream("libopus" if muxer == "webm" else "aac", rate=RATE)
        sound.layout = "mono"
        for number in range(5):
            frame = av.VideoFrame(64, 64, "yuv420p")
            frame.pts = number
            container.mux(pictures.encode(frame))
        container.mux(pictures.encode(None))
        _encode(container, sound, samples("voice", 0.5))
    return file.getvalue()


@cache
def without_sound(kind: str = "wav") -> bytes:
    """A valid head, and no sample: zero length."""
    if kind == "wav":
        return wav(b"")
    muxer, encoder, options = KINDS[kind]
    file = io.BytesIO()
    with av.open(file, "w", format=muxer, options=options) as container:
        container.add_stream(encoder, rate=RATE, layout="mono")
        container.start_encoding()
    return file.getvalue()


def image() -> bytes:
    """A PNG of one pixel."""
    chunks = (
        (b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)),
        (b"IDAT", b""),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(_png_chunk(*chunk) for chunk in chunks)


def _png_chunk(name: bytes, content: bytes) -> bytes:
    content = zlib.compress(b"\0\0") if name == b"IDAT" else content
    return (
        struct.pack(">I", len(content))
        + name
        + content
        + struct.pack(">I", zlib.crc32(name + content))
    )


def junk_after(kind: str) -> bytes:
    """The first bytes of a recording, then bytes of no meaning."""
    return recording(kind)[:48] + random.Random(kind).randbytes(20_000)  # noqa: S311


def playlist(url: str) -> bytes:
    """An HLS playlist that names an address."""
    return f"#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\n{url}\n#EXT-X-ENDLIST\n".encode()


def concat_script(url: str) -> bytes:
    """A script of the `concat` demuxer that names an address or a file."""
    return f"ffconcat version 1.0\nfile '{url}'\n".encode()


def polyglots() -> Iterator[tuple[str, bytes]]:
    """Recordings that are a web page, an archive or a list as well, with a name."""
    page = b"<html><script>alert(1)</script></html>"
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("index.html", page)
    for kind in KINDS:
        yield f"{kind} and a page", recording(kind) + page
        yield f"{kind} and an archive", recording(kind) + archive.getvalue()
    yield "wav and a large page", recording("wav") + page * 4000
    yield "wav around a page", wav(page + samples("voice", 1.0))
    tag = b"TIT2" + struct.pack(">IH", len(page) + 1, 0) + b"\0" + page
    yield "a page in a tag", b"ID3\3\0\0" + struct.pack(">I", len(tag)) + tag + recording("mp3")


def not_audio(url: str = "http://127.0.0.1:9/") -> Iterator[tuple[str, bytes]]:
    """Every kind of file that no upload takes, with a name; the scripts lead to `url`."""
    yield "empty", b""
    yield "text", b"My answer, as a file.\n" * 40
    yield "image", image()
    yield from ((f"video {muxer}", video(muxer)) for muxer in ("webm", "mp4"))
    yield from ((f"cut-off {kind}", recording(kind)[:24]) for kind in KINDS)
    yield from ((f"no sound {kind}", without_sound(kind)) for kind in ("wav", "webm", "ogg"))
    yield from ((f"junk {kind}", junk_after(kind)) for kind in KINDS)
    yield "playlist", playlist(url)
    yield "concat script", concat_script(url)
    yield "playlist after a head", recording("mp3")[:4] + playlist(url)
    yield "concat script after a head", b"RIFF\0\0\1\0WAVE" + concat_script(url)
    yield from polyglots()
