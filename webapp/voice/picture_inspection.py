"""Pictures that people upload, redrawn by the child that opens audio: a PNG of ours is kept."""

from tempfile import TemporaryFile

from webapp.voice.audio_inspection import LOOK_SECONDS, AudioBusy, child
from webapp.voice.child_process import ChildBusy, ChildFailed, ChildKilled

HEAD_BYTES = 12
TYPES = "PNG, JPEG or WebP"


class NotPicture(Exception):
    """No picture that we take, broken, or too large to draw."""


def redraw(content: bytes) -> bytes:
    """The picture of an uploaded file as a PNG without metadata, at most 192 pixels a side, which
    are at most 148 kB.

    Raises NotPicture, AudioBusy, OSError.
    """
    request = {"question": "picture", "demuxer": _demuxer(content[:HEAD_BYTES])}
    with TemporaryFile() as file, TemporaryFile() as out:
        file.write(content)
        file.flush()
        try:
            answer = child.call(request, [file.fileno(), out.fileno()], seconds=LOOK_SECONDS)
        except ChildKilled as error:
            raise NotPicture(str(error)) from error
        except (ChildBusy, ChildFailed) as error:
            raise AudioBusy(str(error)) from error
        if "refused" in answer:
            raise NotPicture(str(answer["refused"])[:200])
        out.seek(0)
        return out.read()


def _demuxer(head: bytes) -> str:
    """As FFmpeg calls it; raises NotPicture."""
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return "png_pipe"
    if head.startswith(b"\xff\xd8\xff"):
        return "jpeg_pipe"
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return "webp_pipe"
    raise NotPicture(f"not {TYPES}")
