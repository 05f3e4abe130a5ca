"""Client of a `/v1/audio/transcriptions` service.

The service gets the recording, the model name, the answer format and the language if one is set,
but nothing of our environment or about this machine.
"""

import time
from pathlib import Path

import httpx2
import orjson

from webapp.base.config import Settings
from webapp.base.guarded_client import Bounds, guarded_client, reason_of
from webapp.voice.audio_inspection import AudioFormat, TranscriptionFailed

CONNECT_SECONDS = 5.0
WRITE_SECONDS = 30.0  # for each chunk of the recording
ANSWER_SECONDS = 300.0  # until the answer begins: ten minutes of speech on a machine without a GPU
TOTAL_SECONDS = 600.0
ANSWER_MAX_BYTES = 4 * 1024**2  # many times the longest transcript kept, even if escaped


def transcribe(path: Path, audio: AudioFormat, language: str, *, config: Settings) -> str:
    """Return the text of the answer, unchecked. Raises TranscriptionFailed, OSError."""
    url, key = (config.transcriber_url or "").rstrip("/"), config.transcriber_api_key
    steps = httpx2.Timeout(ANSWER_SECONDS, connect=CONNECT_SECONDS, write=WRITE_SECONDS)
    bounds = Bounds(time.monotonic() + TOTAL_SECONDS, steps, ANSWER_MAX_BYTES)
    headers = {"authorization": f"Bearer {key}"} if key else {}
    fields = {"model": config.transcriber_model or "", "response_format": "json"}
    fields |= {"language": language} if language else {}
    try:
        with guarded_client(url, headers, bounds) as client, path.open("rb") as file:
            sent = (f"recording.{audio.extension}", file, audio.media_type)
            answer = client.post(f"{url}/audio/transcriptions", data=fields, files={"file": sent})
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise TranscriptionFailed(f"{type(error).__name__}: {reason_of(error)}") from None
    if not answer.is_success:
        raise TranscriptionFailed(f"it answered with status {answer.status_code}")
    try:
        text = orjson.loads(answer.content)["text"]
    except (ValueError, LookupError, TypeError):
        raise TranscriptionFailed("it answered with something else than a text") from None
    if not isinstance(text, str):
        raise TranscriptionFailed("it answered without a text")
    return text
