"""A service with the wire format of `/v1/audio/transcriptions`, through the SDK of OpenAI.

It gets the recording, the name of the model, the format of the answer and, where one is set, the
language: nothing of our environment and nothing about this machine.
"""

import time
from pathlib import Path

import httpx2
import openai

from webapp.base.config import Settings
from webapp.base.guarded_client import Bounds, guarded_client, reason_of, silence
from webapp.voice.audio_inspection import AudioFormat, TranscriptionFailed

CONNECT_SECONDS = 5.0
WRITE_SECONDS = 30.0  # for each piece of the recording
ANSWER_SECONDS = 300.0  # until the answer begins: ten minutes of speech on a machine without a GPU
TOTAL_SECONDS = 600.0
ANSWER_MAX_BYTES = 4 * 1024**2  # many times the words that are kept, however they are escaped

silence("openai")


def transcribe(path: Path, audio: AudioFormat, language: str, *, config: Settings) -> str:
    """The text of the answer, however long and odd. Raises TranscriptionFailed, OSError."""
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
    text = getattr(found, "text", None)  # the SDK checks no types, and may hand over a plain string
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
