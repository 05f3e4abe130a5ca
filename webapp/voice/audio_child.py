"""The child process of `audio_inspection`: opens audio and pictures, the only one to import PyAV.

After its imports the process confines itself for good: it can read and write the open files of a
request and nothing else, whatever a hostile file does to the libraries. On a machine that cannot
confine it, the resource limits remain; one of them leaves no descriptor to open anything with.
"""

import io
import os
import re
import resource
import time
import wave
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from itertools import chain
from typing import Any, BinaryIO, NoReturn, cast

import av
from av.container import InputContainer
from av.filter import Graph

from webapp.voice import voice_activity
from webapp.voice.child_process import FILES_MAX, Answer, Request, give_way
from webapp.voice.confinement import confine

MEMORY_BYTES = 512 * 1024**2
NICE = 5
DESCRIPTORS = 3 + FILES_MAX  # standard streams and the files of a request
CPU_SECONDS = 600
SPENT_SECONDS = CPU_SECONDS // 2  # from then on, the next request starts a new process
PCM_RATE = 16000
SAMPLE_BYTES = 2
MAX_SECONDS = 660  # of decoded sound; a recording lasts ten minutes at most
WRITTEN_BYTES = (MAX_SECONDS + 60) * PCM_RATE * SAMPLE_BYTES  # and room for one more packet
MAX_PACKETS = 300_000  # eleven minutes of the shortest Opus packets
FIRST_PACKETS = 50  # one of them must decode to sound
SURPLUS_BYTES = 64 * 1024  # headers, indexes and tags, plus the overhead of each packet
SURPLUS_PER_PACKET = 64
EDGE_BYTES = 4096  # programs detect types at the head of a file, archives at its end
# Each is long enough not to occur by chance in a recording. A ZIP archive shows by its head,
# with the version needed to unpack it, or by its end, with the number of its only disk.
OTHER_TYPES = re.compile(
    rb"(?i:<html|<!doctype|<script|<svg[\s/>]|<\?php|%PDF-|#EXTM3U|ffconcat)"
    rb"|PK\x03\x04[\x0a-\x3f]\0|PK\x05\x06\0\0\0\0"
)
PLAIN_CODECS = ("opus", "vorbis", "aac", "mp3", "flac")
PLAIN_PCM = ("pcm_u8", "pcm_s16le", "pcm_s24le", "pcm_s32le", "pcm_f32le", "pcm_mulaw", "pcm_alaw")
CODECS = (
    *(*PLAIN_CODECS, *PLAIN_PCM),
    *("alac", "amr_nb", "amr_wb", "adpcm_ima_qt", "adpcm_ima_wav", "adpcm_ms"),
    *("pcm_s8", "pcm_s16be", "pcm_s24be", "pcm_s32be", "pcm_f32be", "pcm_f64be", "pcm_f64le"),
)
DECODERS = (*CODECS, "libopus", "libvorbis", "mp3float", "amrnb", "amrwb")
RATES = range(4000, 192_001)
PICTURE_DECODERS = ("png", "mjpeg", "webp")
PICTURE_MAX_PIXELS = 25_000_000
PICTURE_SIDE = 192  # at four bytes a pixel, a PNG of 148 kB at most
CHANNELS = range(1, 9)


class Refused(Exception):
    """A file that is not an acceptable recording."""


class NotPlain(Refused):
    """A file that is a recording only after conversion by `to_pcm`."""


def prepare() -> Answer:
    """Confine this process; "lacks" names the confinement that this machine does not support."""
    give_way(NICE)
    _limit(resource.RLIMIT_AS, MEMORY_BYTES)
    _import_all()
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_CPU, CPU_SECONDS)
    _limit(resource.RLIMIT_FSIZE, WRITTEN_BYTES)
    _limit(resource.RLIMIT_NOFILE, DESCRIPTORS)
    _limit(resource.RLIMIT_NPROC, 0)
    return {"lacks": ", ".join(confine())}


def _limit(of: int, most: int) -> None:
    given = resource.getrlimit(of)[1]
    least = most if given == resource.RLIM_INFINITY else min(most, given)
    resource.setrlimit(of, (least, least))


def _import_all() -> None:
    """Make PyAV import everything now; confinement prevents later imports."""
    file = io.BytesIO()
    _write_wav(file, [bytes(PCM_RATE)])
    file.seek(0)
    with _opened(file, "wav") as container:
        list(_voice_band(container, _track(container)))
    picture = _encoded(av.VideoFrame(2, 2, "rgba"))
    _redrawn(io.BytesIO(picture), "png_pipe")


def answer(request: Request, files: Sequence[int]) -> Answer:
    """Answer a question about the first file; write the output, if any, into the second."""
    if time.process_time() > SPENT_SECONDS:
        os._exit(0)  # `child_process` starts another
    try:
        return _answer(str(request["question"]), str(request["demuxer"]), files)
    except MemoryError:
        os._exit(1)
    except Exception as error:  # a hostile file can make the libraries raise anything
        reason = f"{type(error).__name__}: {error}"[:200]
        return {"refused": reason, "sound": isinstance(error, NotPlain)}


class _File(io.RawIOBase):
    """An open file, read by system calls that the filter permits; `open` would call `fstat`."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def readable(self) -> bool:
        return True

    writable = seekable = readable

    def readinto(self, buffer: Any) -> int:
        return os.readv(self._descriptor, [buffer])

    def write(self, data: Any) -> int:
        return os.write(self._descriptor, data)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return os.lseek(self._descriptor, offset, whence)


def _answer(question: str, demuxer: str, files: Sequence[int]) -> Answer:
    file = io.BufferedReader(_File(files[0]))
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    if question == "picture":
        picture = _redrawn(file, demuxer)
        with io.BufferedWriter(_File(files[1])) as out:
            out.write(picture)
        return {"written": True}
    with _opened(file, demuxer) as container:
        track = _track(container)
        if question == "inspect":
            _require_plain(container, track)
            length = duration_ms(container, track, size)
            _require_no_other_type(file)
            return {"duration_ms": length}
        if question == "look":
            levels = list(voice_activity.frame_levels(_voice_band(container, track)))
            voiced = voice_activity.is_voiced(levels)
            return {
                "voiced": voiced,
                "levels": voice_activity.level_curve(levels),
                "decoded_ms": len(levels) * voice_activity.FRAME_MS,
            }
        with io.BufferedWriter(_File(files[1])) as out:
            _write_wav(out, _converted(_frames(container, track), PCM_RATE))
        return {"written": True}


def _redrawn(file: BinaryIO, demuxer: str) -> bytes:
    """Return the first picture of a file as a small PNG without metadata."""
    with _opened(file, demuxer, PICTURE_DECODERS) as container:
        track = container.streams.video[0]
        context = track.codec_context
        context.thread_count = 1
        if not 0 < context.width * context.height <= PICTURE_MAX_PIXELS:
            raise Refused("no picture, or one of too many pixels")
        frame = next(container.decode(track))
        longest = max(frame.width, frame.height, PICTURE_SIDE)
        width, height = (
            max(side * PICTURE_SIDE // longest, 1) for side in (frame.width, frame.height)
        )
        return _encoded(frame.reformat(width, height, "rgba"))


def _encoded(frame: av.VideoFrame) -> bytes:
    encoder = av.CodecContext.create("png", "w")
    encoder.width, encoder.height, encoder.pix_fmt = frame.width, frame.height, "rgba"
    encoder.time_base, encoder.thread_count = Fraction(1, 25), 1
    frame.pts = 0
    return b"".join(bytes(packet) for packet in (*encoder.encode(frame), *encoder.encode(None)))


def _opened(file: BinaryIO, demuxer: str, decoders: Sequence[str] = DECODERS) -> InputContainer:
    options = {
        "protocol_whitelist": "",
        "format_whitelist": demuxer,
        "codec_whitelist": ",".join(decoders),
    }
    return av.open(
        file,
        "r",
        format=demuxer,
        container_options=options,
        metadata_errors="replace",
        io_open=_open_no_other,
    )


def _open_no_other(url: str, flags: int, options: dict[str, str]) -> NoReturn:
    raise Refused("it names another file")


def _track(container: InputContainer) -> av.AudioStream:
    """Return the first audio track in a known codec; raises Refused."""
    for track in container.streams.audio:
        codec = track.codec_context
        is_known = codec is not None and codec.codec.canonical_name in CODECS
        if is_known and codec.sample_rate in RATES and codec.layout.nb_channels in CHANNELS:
            codec.thread_count = 1
            return track
    raise Refused("no track of sound with the codec, sampling rate and channels of a recording")


def _require_plain(container: InputContainer, track: av.AudioStream) -> None:
    if len(container.streams) > 1:
        raise NotPlain("it holds something other than one track of sound")
    plain = PLAIN_PCM if container.format.name == "wav" else PLAIN_CODECS
    if track.codec_context.codec.canonical_name not in plain:
        raise NotPlain("a codec that not every browser plays")


def duration_ms(container: InputContainer, track: av.AudioStream, size: int) -> int:
    """Return the duration by the packets, not the headers: their time span or their sum, if longer.

    A recorder that was cut off writes no duration. Raises Refused for a file without sound, and for
    a file with too much other data.
    """
    times: list[int] = []
    lasted = carried = packets = 0
    heard = False
    for packet in container.demux(track):
        packets += 1
        if packets > MAX_PACKETS:
            raise Refused("too many packets")
        heard = heard or (packets <= FIRST_PACKETS and any(_decoded(packet)))
        carried += packet.size
        lasted += packet.duration or 0
        if packet.pts is not None:
            times += (packet.pts, packet.pts + (packet.duration or 0))
    span = max(times) - min(times) if times else 0
    length = int(max(span, lasted) * 1000 * (track.time_base or 0))
    if not heard or length < 1:
        raise Refused("no sound")
    if size - carried > SURPLUS_BYTES + SURPLUS_PER_PACKET * packets:
        raise Refused("too much besides the sound")
    return length


def _require_no_other_type(file: BinaryIO) -> None:
    """Raise Refused if other programs would take the recording for a page, an archive or a list."""
    for start, whence in ((0, os.SEEK_SET), (-EDGE_BYTES, os.SEEK_END)):
        with suppress(OSError):  # the file is shorter
            file.seek(start, whence)
        if OTHER_TYPES.search(file.read(EDGE_BYTES)):
            raise Refused("something else as well")


def _decoded(packet: "av.Packet[av.AudioStream]") -> list[av.AudioFrame]:
    """Return the frames of a packet; none if it is damaged."""
    try:
        return packet.decode()
    except av.error.MemoryError:
        raise
    except av.error.FFmpegError:
        return []


def _frames(container: InputContainer, track: av.AudioStream) -> Iterator[av.AudioFrame]:
    """Yield the decoded frames, MAX_SECONDS at most, without damaged packets.

    It also skips frames whose rate is out of range: at one hertz, a frame would last for hours.
    """
    seconds = 0.0
    for packet in container.demux(track):
        for frame in _decoded(packet):
            if frame.sample_rate not in RATES:
                continue
            yield frame
            seconds += frame.samples / frame.sample_rate
        if seconds > MAX_SECONDS:
            return


def _voice_band(container: InputContainer, track: av.AudioStream) -> Iterator[bytes]:
    highpass = ("highpass", f"f={voice_activity.HIGHPASS_HZ}")
    return _converted(_frames(container, track), voice_activity.RATE, highpass)


def _converted(
    frames: Iterable[av.AudioFrame], rate: int, *filters: tuple[str, str]
) -> Iterator[bytes]:
    """Yield mono 16-bit samples at `rate`; the input format may change between frames."""
    graph, made_for = None, None
    for frame in chain(frames, [None]):
        shape = frame and (frame.sample_rate, frame.format.name, frame.layout.name)
        if graph and shape != made_for:
            graph.push(None)
            yield from _pulled(graph)
        if frame is None:
            return
        if graph is None or shape != made_for:
            graph, made_for = _graph(frame, rate, filters), shape
        frame.pts = None
        graph.push(frame)
        yield from _pulled(graph)


def _graph(frame: av.AudioFrame, rate: int, filters: Sequence[tuple[str, str]]) -> Graph:
    graph = Graph()
    graph.threads = 1
    source = graph.add_abuffer(
        sample_rate=frame.sample_rate,
        format=frame.format.name,
        layout=frame.layout.name,
        time_base=frame.time_base,
    )
    wanted = f"sample_fmts=s16:sample_rates={rate}:channel_layouts=mono"
    chain = [graph.add(name, arguments) for name, arguments in (*filters, ("aformat", wanted))]
    graph.link_nodes(source, *chain, graph.add("abuffersink")).configure()
    return graph


def _pulled(graph: Graph) -> Iterator[bytes]:
    with suppress(av.error.BlockingIOError, av.error.EOFError):
        while True:
            frame = cast(av.AudioFrame, graph.pull())
            yield bytes(frame.planes[0])[: frame.samples * SAMPLE_BYTES]


def _write_wav(out: BinaryIO, chunks: Iterable[bytes]) -> None:
    with wave.open(out, "wb") as file:
        file.setparams((1, SAMPLE_BYTES, PCM_RATE, 0, "NONE", "not compressed"))
        for chunk in chunks:
            file.writeframesraw(chunk)
