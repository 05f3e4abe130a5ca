"""Client of a `/v1/audio/transcriptions` service, through the SDK of OpenAI.

The service gets the recording, the model name, the answer format and the language if one is set,
but nothing of our environment or about this machine.
"""

import time
from pathlib import Path

import httpx2
import openai

from webapp.base.config import Settings
from webapp.base.guarded_client import Bounds, guarded_client, reason_of, silence
from webapp.voice.audio_inspection import AudioFormat, TranscriptionFailed

CONNECT_SECONDS = 5.0
WRITE_SECONDS = 30.0  # for each chunk of the recording
ANSWER_SECONDS = 300.0  # until the answer begins: ten minutes of speech on a machine without a GPU
TOTAL_SECONDS = 600.0
ANSWER_MAX_BYTES = 4 * 1024**2  # many times the longest transcript kept, even if escaped

silence("openai")


def transcribe(path: Path, audio: AudioFormat, language: str, *, config: Settings) -> str:
    """Return the text of the answer, unchecked. Raises TranscriptionFailed, OSError."""
    try:
        with _client(config) as client, path.open("rb") as file:
            found = client.audio.transcriptions.create(
                file=(f"recording.{audio.extension}", file, audio.media_type),
                model=config.transcriber_model or "",
                response_format="json",
                language=language or openai.omit,
            )
    except openai.APIStatusError as error:
        raise TranscriptionFailed(f"it answered with status {error.status_code}") from None
    except openai.OpenAIError as error:
        what = reason_of(error.__cause__)
        raise TranscriptionFailed(f"{type(error).__name__}: {what}") from None
    except (ValueError, RecursionError):
        raise TranscriptionFailed("it answered with something else than JSON") from None
    text = getattr(found, "text", None)  # the SDK checks no types, and may return a plain string
    if not isinstance(text, str):
        raise TranscriptionFailed("it answered without a text")
    return text


def _client(config: Settings) -> openai.OpenAI:
    seconds = httpx2.Timeout(
        ANSWER_SECONDS, connect=CONNECT_SECONDS, write=WRITE_SECONDS, pool=CONNECT_SECONDS
    )
    url, key = config.transcriber_url or "", config.transcriber_api_key
    bounds = Bounds(time.monotonic() + TOTAL_SECONDS, seconds, ANSWER_MAX_BYTES)
    headers = {"authorization": f"Bearer {key}"} if key else {}
    return openai.OpenAI(
        api_key="sent by the transport",
        base_url=url,
        organization="",
        project="",
        max_retries=0,
        timeout=seconds,
        http_client=guarded_client(url, headers, bounds),
    )
