"""Small files for uploads, made when asked for and kept: recordings as browsers make them, and what
is none. Sounds are 16 kHz, one channel.
"""

import array
import io
import math
import random
import struct
import zipfile
from base64 import b64decode
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
    "ogg_vorbis": ("ogg", "vorbis", {}),
    "wav": ("wav", "pcm_s16le", {}),
    "mp3": ("mp3", "libmp3lame", {}),
}
# what phones and programs record beside those, and which browsers do not all play
OTHER_KINDS: dict[str, tuple[str, str, dict[str, str]]] = {
    "3gp_amr": ("3gp", "libopencore_amrnb", {}),
    "amr": ("amr", "libopencore_amrnb", {}),
    "aac": ("adts", "aac", {}),
    "m4a_alac": ("ipod", "alac", {}),
    "caf_alac": ("caf", "alac", {}),
    "caf_pcm": ("caf", "pcm_s16le", {}),
    "caf_ima4": ("caf", "adpcm_ima_qt", {}),
    "aiff": ("aiff", "pcm_s16be", {}),
    "aifc": ("aiff", "pcm_s16le", {}),
    "flac": ("flac", "flac", {}),
    "mka": ("matroska", "libopus", {}),
    "mov_pcm": ("mov", "pcm_s16le", {}),
    "wav_adpcm": ("wav", "adpcm_ima_wav", {}),
}
STREAMS: dict[str, dict[str, Any]] = {
    "libopencore_amrnb": {"rate": 8000},
    "vorbis": {"layout": "stereo", "options": {"strict": "experimental"}},
}
# no encoder or muxer makes these: the packets of another file, in a container by hand
BY_HAND = ("amr_wb", "3gp_amr_wb", "caf_aac", "caf_opus")
MEDIA_TYPES = {
    **{"webm": "audio/webm", "ogg": "audio/ogg", "wav": "audio/wav", "mp3": "audio/mpeg"},
    **{"ogg_vorbis": "audio/ogg", "mp4": "audio/mp4", "mp4_opus": "audio/mp4", "m4a": "audio/mp4"},
}


@cache
def samples(sound: str, seconds: float) -> bytes:
    """16-bit samples of a sound, by its name in SOUNDS."""
    function = SOUNDS[sound]
    values = (function(number, seconds) for number in range(int(RATE * seconds)))
    return array.array("h", (int(FULL * max(-1.0, min(1.0, v))) for v in values)).tobytes()


@cache
def recording(kind: str = "webm", sound: str = "voice", seconds: float = 1.0) -> bytes:
    """A valid recording, by a name in KINDS, OTHER_KINDS or BY_HAND and one in SOUNDS."""
    if kind in BY_HAND:
        return by_hand(kind, sound, seconds)
    muxer, encoder, options = (KINDS | OTHER_KINDS)[kind]
    file = io.BytesIO()
    with av.open(file, "w", format=muxer, options=options) as container:
        wanted = {"rate": RATE, "layout": "mono"} | STREAMS.get(encoder, {})
        stream = container.add_stream(encoder, **wanted)
        _encode(container, stream, samples(sound, seconds))
    return file.getvalue()


def by_hand(kind: str, sound: str, seconds: float) -> bytes:
    """A recording of BY_HAND; those of AMR-WB are noise, as no encoder is at hand."""
    if kind == "caf_aac":
        return _caf(b"aac ", 1024, *_packets(recording("m4a", sound, seconds)))
    if kind == "caf_opus":
        return _caf(b"opus", 320, *_packets(recording("ogg", sound, seconds)))
    frames = int(50 * seconds)  # of 20 ms: mode 0 of good quality and 132 bits
    chance = random.Random(kind)  # noqa: S311
    amr = b"#!AMR-WB\n" + b"".join(b"\x04" + chance.randbytes(17) for _ in range(frames))
    return amr if kind == "amr_wb" else _muxed(amr, "3gp")


def _packets(file: bytes) -> tuple[bytes, list[bytes]]:
    """The header of the codec of a recording, and its packets."""
    with av.open(io.BytesIO(file)) as container:
        stream = container.streams.audio[0]
        packets = [bytes(packet) for packet in container.demux(stream)]
        return stream.codec_context.extradata or b"", [packet for packet in packets if packet]


def _muxed(file: bytes, muxer: str) -> bytes:
    """The packets of a recording in another container."""
    out = io.BytesIO()
    with av.open(io.BytesIO(file)) as source, av.open(out, "w", format=muxer) as container:
        track = source.streams.audio[0]
        stream: Any = container.add_stream_from_template(track)
        for packet in source.demux(track):
            if packet.size:
                packet.stream = stream
                container.mux(packet)
    return out.getvalue()


def _caf(codec: bytes, samples_of_packet: int, header: bytes, packets: list[bytes]) -> bytes:
    """A Core Audio file of one channel with packets of varying size (Core Audio Format 1.0)."""
    form = struct.pack(">d4sIIIII", RATE, codec, 0, 0, samples_of_packet, 1, 0)
    table = struct.pack(">qqii", len(packets), len(packets) * samples_of_packet, 0, 0)
    table += b"".join(bytes([0x80 | len(each) >> 7, len(each) & 0x7F]) for each in packets)
    chunks = [(b"desc", form), (b"pakt", table), (b"data", bytes(4) + b"".join(packets))]
    if codec == b"aac ":
        header = b"\x40\x15" + bytes(11) + _descriptor(5, header)
        chunks.insert(1, (b"kuki", _descriptor(3, bytes(3) + _descriptor(4, header))))
    return b"caff\0\1\0\0" + b"".join(
        struct.pack(">4sq", name, len(content)) + content for name, content in chunks
    )


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


def _descriptor(tag: int, content: bytes) -> bytes:
    """Of MPEG-4 (ISO 14496-1, 8.3.3), its length in four bytes."""
    return bytes((tag, 0x80, 0x80, 0x80, len(content))) + content


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
def video(muxer: str = "webm", tracks: int = 1) -> bytes:
    """Pictures with so many tracks of sound, as `webm`, `mp4`, `3gp`, `mov` or `matroska`."""
    encoder = "libvpx" if muxer == "webm" else "mpeg4"
    file = io.BytesIO()
    with av.open(file, "w", format=muxer) as container:
        pictures: Any = container.add_stream(encoder, rate=10)
        pictures.width, pictures.height, pictures.pix_fmt = 64, 64, "yuv420p"
        codec = "libopus" if muxer == "webm" else "aac"
        sound = [container.add_stream(codec, rate=RATE, layout="mono") for _ in range(tracks)]
        for number in range(5):
            frame = av.VideoFrame(64, 64, "yuv420p")
            frame.pts = number
            container.mux(pictures.encode(frame))
        container.mux(pictures.encode(None))
        for track in sound:
            _encode(container, track, samples("voice", 1.0))
    return file.getvalue()


@cache
def with_cover(muxer: str) -> bytes:
    """A recording with a picture as its cover, as `mp3`, `flac` or `mp4`."""
    encoder = {"mp3": "libmp3lame", "flac": "flac", "mp4": "aac"}[muxer]
    file = io.BytesIO()
    with av.open(file, "w", format=muxer) as container:
        sound = container.add_stream(encoder, rate=RATE, layout="mono")
        cover: Any = container.add_stream("mjpeg", rate=1)
        cover.width, cover.height, cover.pix_fmt = 64, 64, "yuvj420p"
        cover.disposition = av.stream.Disposition.attached_pic
        picture = av.VideoFrame(64, 64, "yuvj420p")
        picture.pts = 0
        container.start_encoding()
        for packet in (*cover.encode(picture), *cover.encode(None)):
            container.mux(packet)
        _encode(container, sound, samples("voice", 1.0))
    return file.getvalue()


# what is stored as WAV: a second of sound each
NOT_PLAIN = (
    *(*OTHER_KINDS, *BY_HAND, "cover mp3", "cover flac", "cover mp4"),
    *("film webm", "film mp4", "film 3gp", "film mov", "film matroska", "spatial mov"),
)


def not_plain(name: str) -> bytes:
    """One of NOT_PLAIN."""
    what, _, muxer = name.partition(" ")
    if what == "cover":
        return with_cover(muxer)
    return video(muxer, 2 if what == "spatial" else 1) if muxer else recording(name)


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
    return b64decode(
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJ"
        "RU5ErkJggg=="
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
