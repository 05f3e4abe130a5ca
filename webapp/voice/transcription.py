"""Transcription of recordings by the engine that the settings name.

Whisper runs in a child process: in a thread of a serving process it would block the other threads
for seconds. The child loads the model when somebody begins to record, and ends a quarter of an hour
after the last recording. It gets samples made by `audio_inspection`, never an uploaded file.

A `/v1/audio/transcriptions` service gets the recording, the model name, the answer format and the
language if one is set, but nothing of our environment or about this machine.
"""

import tempfile
from contextlib import suppress
from functools import partial
from itertools import chain
from pathlib import Path
from secrets import token_hex

import orjson

from webapp.base.config import WHISPER, Settings
from webapp.base.outbound import Bounds, Unreachable, ask_service
from webapp.voice.audio_inspection import AudioFormat, TranscriptionFailed, to_pcm
from webapp.voice.child_process import ChildBusy, ChildKilled, ChildProcess

IDLE_SECONDS = 900.0
WHISPER_SECONDS = 1800.0  # for models at a third of real time, with the longest recording

# of a service
CONNECT_SECONDS = 5.0
ANSWER_SECONDS = 300.0  # until the answer begins: ten minutes of speech on a machine without a GPU
TOTAL_SECONDS = 600.0
ANSWER_MAX_BYTES = 4 * 1024**2  # many times the longest transcript kept, even if escaped
PART_BYTES = 16 * 1024  # of a recording, sent at a time
FIELD = '--{}\r\nContent-Disposition: form-data; name="{}"{}\r\n\r\n'

# the libraries find models, certificates, proxies and processors by these
ENVIRONMENT = (
    *("HOME", "XDG_CACHE_HOME", "HF_HOME", "HF_HUB_CACHE", "HF_ENDPOINT", "HF_HUB_OFFLINE"),
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "OMP_NUM_THREADS"),
)

child = ChildProcess(
    "webapp.voice.whisper_child",
    environment=ENVIRONMENT,
    idle_seconds=IDLE_SECONDS,
    wait_seconds=2 * WHISPER_SECONDS,
)


def write_down(
    path: Path, audio: AudioFormat, language: str, *, hint: str = "", config: Settings
) -> str:
    """Return the transcript of one recording, "" if it has no words; retries nothing.

    language  a tag that the creator chose; "": the engine detects the language
    hint      the language tag of the questions, for an engine on this server: its small models
              detect a language poorly from a few seconds

    Raises TranscriptionFailed, NotAudio, ChildBusy, OSError.
    """
    if config.transcriber == WHISPER:
        return _whisper(path, audio, config.transcriber_model or "", language or hint)
    return _by_service(path, audio, language, config=config)


def get_ready(config: Settings) -> None:
    """Load the model of a local engine."""
    if config.transcriber == WHISPER:
        request = {"model": _model(config.transcriber_model or ""), "language": ""}
        with suppress(ChildBusy, ChildKilled):  # the next recording reports the reason
            child.call(request, [], seconds=WHISPER_SECONDS, wait_seconds=0)


def _whisper(path: Path, audio: AudioFormat, model: str, language: str) -> str:
    """Return at most 100,000 code points; the engine detects a language that the model lacks."""
    request = {"model": _model(model), "language": language.partition("-")[0].lower()}
    with tempfile.TemporaryFile(dir=path.parent) as samples:
        to_pcm(path, audio, samples)
        try:
            answer = child.call(request, [samples.fileno()], seconds=WHISPER_SECONDS)
        except (ChildBusy, ChildKilled) as error:
            raise TranscriptionFailed(str(error)) from error
    if "refused" in answer:
        raise TranscriptionFailed(answer["refused"])
    return str(answer["text"])


def _model(name: str) -> str:
    """Return a name that faster-whisper knows, or the absolute path of a model folder."""
    folder = Path(name).resolve()
    return str(folder) if folder.is_dir() else name


def _by_service(path: Path, audio: AudioFormat, language: str, *, config: Settings) -> str:
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
