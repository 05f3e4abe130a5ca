"""Files that are made to cost too much, or to make a library open something else."""

import io
import random
import re
import struct
from collections.abc import Iterator
from typing import Any

import av

from tests.voice.audio_files import KINDS, NOT_PLAIN, not_plain, recording

MANY = 120_000_000


def huge_sample_table() -> bytes:
    """An mp4 of a few kilobytes whose index has 120 million entries of 24 bytes and more."""
    file = bytearray(recording("m4a"))
    for box in (b"stts", b"stsc", b"stsz"):
        at = file.index(box) + 4
        if box == b"stts":  # entries, then count and duration of the first
            file[at + 8 : at + 12] = struct.pack(">I", MANY)
        elif box == b"stsc":  # entries, then first chunk and samples of each
            file[at + 12 : at + 16] = struct.pack(">I", MANY)
        else:  # one size for all samples, and how many
            file[at + 4 : at + 12] = struct.pack(">II", 1, MANY)
    return bytes(file)


def hurried(seconds: float) -> bytes:
    """An mp4 whose index claims a sixteenth of the time that each of its packets sounds."""
    file = bytearray(recording("m4a", "voice", seconds))
    at = file.index(b"stts") + 8
    (entries,) = struct.unpack_from(">I", file, at)
    for entry in range(entries):
        place = at + 8 + 8 * entry
        (claimed,) = struct.unpack_from(">I", file, place)
        struct.pack_into(">I", file, place, claimed // 16)
    return bytes(file)


def wrong_rate(rate: int) -> bytes:
    """A WAV file that claims a sampling rate."""
    file = bytearray(recording("wav"))
    at = file.index(b"fmt ") + 12
    file[at : at + 4] = struct.pack("<I", rate)
    return bytes(file)


def slowed(rate: int) -> bytes:
    """A webm file of Vorbis that says another sampling rate after its first packets."""
    out = io.BytesIO()
    with (
        av.open(io.BytesIO(recording("ogg_vorbis", seconds=3.0))) as source,
        av.open(out, "w", format="webm") as container,
    ):
        track = source.streams.audio[0]
        stream: Any = container.add_stream_from_template(track)
        packets = [packet for packet in source.demux(track) if packet.size]
        headers = _vorbis_headers(bytes(track.codec_context.extradata or b""))
        headers[0] = headers[0][:12] + struct.pack("<I", rate) + headers[0][16:]
        changed = [av.Packet(header) for header in headers]
        for packet in changed:
            packet.pts = packet.dts = packets[5].pts
            packet.time_base = track.time_base
        for packet in (*packets[:5], *changed, *packets[5:]):
            packet.stream = stream
            container.mux(packet)
    return out.getvalue()


def _vorbis_headers(extradata: bytes) -> list[bytes]:
    """The three headers, behind their number and the lengths of the first two."""
    _, first, second = extradata[:3]
    start = 3 + first
    return [extradata[3:start], extradata[start : start + second], extradata[start + second :]]


def many_channels() -> bytes:
    """A WAV file that claims 64 channels."""
    file = bytearray(recording("wav"))
    at = file.index(b"fmt ") + 10
    file[at : at + 2] = struct.pack("<H", 64)
    file[at + 10 : at + 12] = struct.pack("<H", 128)
    return bytes(file)


def external_reference(url: str) -> bytes:
    """An mp4 whose samples are in another file (`dref` without the flag of its own file)."""
    file = recording("m4a")
    name = url.encode() + b"\0"
    entry = struct.pack(">I4sI", 12 + len(name), b"url ", 0) + name
    found = re.search(rb"\0\0\0\x0curl \0\0\0\x01", file)
    assert found is not None
    return _grown(file, found.start(), found.end(), entry)


def _grown(file: bytes, start: int, end: int, content: bytes) -> bytes:
    """With other content at a place in the boxes that lead to it, which get longer."""
    changed = bytearray(file[:start] + content + file[end:])
    for box in (b"moov", b"trak", b"mdia", b"minf", b"dinf", b"dref"):
        at = changed.index(box) - 4
        (size,) = struct.unpack_from(">I", changed, at)
        struct.pack_into(">I", changed, at, size + len(content) - (end - start))
    return bytes(changed)


def damaged(count: int, seed: int = 11) -> Iterator[bytes]:
    """Recordings with bytes changed, cut out or doubled at random places."""
    chance = random.Random(seed)  # noqa: S311
    sound = [*map(recording, KINDS), *map(not_plain, NOT_PLAIN)]
    for number in range(count):
        file = bytearray(sound[number % len(sound)])
        for _ in range(chance.choice((1, 4, 40))):
            at = chance.randrange(len(file))
            file[at] = chance.choice((0, 255, chance.randrange(256)))
        at = chance.randrange(len(file))
        if number % 3 == 0:
            del file[at : at + chance.randrange(200)]
        elif number % 7 == 0:
            file[at:at] = file[at : at + 100]
        yield bytes(file)
