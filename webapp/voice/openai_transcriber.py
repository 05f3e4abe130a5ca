"""Client of a `/v1/audio/transcriptions` service.

The service gets the recording, the model name, the answer format and the language if one is set,
but nothing of our environment or about this machine.
"""

from functools import partial
from itertools import chain
from pathlib import Path
from secrets import token_hex

import orjson

from webapp.base.config import Settings
from webapp.base.outbound import Bounds, Unreachable, ask_service
from webapp.voice.audio_inspection import AudioFormat, TranscriptionFailed

CONNECT_SECONDS = 5.0
ANSWER_SECONDS = 300.0  # until the answer begins: ten minutes of speech on a machine without a GPU
TOTAL_SECONDS = 600.0
ANSWER_MAX_BYTES = 4 * 1024**2  # many times the longest transcript kept, even if escaped
PART_BYTES = 16 * 1024  # of a recording, sent at a time
FIELD = '--{}\r\nContent-Disposition: form-data; name="{}"{}\r\n\r\n'


def transcribe(path: Path, audio: AudioFormat, language: str, *, config: Settings) -> str:
    """Return the text of the answer, unchecked. Raises TranscriptionFailed, OSError."""
    url, key = (config.transcriber_url or "").rstrip("/"), config.transcriber_api_key
    bounds = Bounds(
        body_bytes=ANSWER_MAX_BYTES,
        connect_seconds=CONNECT_SECONDS,
        step_seconds=ANSWER_SECONDS,
        total_seconds=TOTAL_SECONDS,
    )
    fields = {"model": config.transcriber_model or "", "response_format": "json"}
    fields |= {"language": language} if language else {}
    boundary = token_hex(16)  # of the parts (RFC 7578)
    named = f'; filename="recording.{audio.extension}"\r\nContent-Type: {audio.media_type}'
    parts = [FIELD.format(boundary, name, "") + f"{text}\r\n" for name, text in fields.items()]
    before = "".join([*parts, FIELD.format(boundary, "file", named)]).encode()
    after = f"\r\n--{boundary}--\r\n".encode()
    headers = {
        "content-type": f"multipart/form-data; boundary={boundary}",
        "content-length": str(len(before) + path.stat().st_size + len(after)),
    }
    headers |= {"authorization": f"Bearer {key}"} if key else {}
    try:
        with path.open("rb") as file:
            body = chain([before], iter(partial(file.read, PART_BYTES), b""), [after])
            url = f"{url}/audio/transcriptions"
            answer = ask_service(url, headers=headers, bounds=bounds, body=body)
    except Unreachable as error:
        raise TranscriptionFailed(str(error)) from None
    if not answer.is_success:
        raise TranscriptionFailed(f"it answered with status {answer.status}")
    try:
        text = orjson.loads(b"" if answer.cut else answer.body)["text"]
    except (ValueError, LookupError, TypeError):
        raise TranscriptionFailed("it answered with something else than a text") from None
    if not isinstance(text, str):
        raise TranscriptionFailed("it answered without a text")
    return text
