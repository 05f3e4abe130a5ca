"""Transcription of recordings by the engine that the settings name.

Whisper runs in a child process: in a thread of a serving process it would block the other threads
for seconds. The child loads the model when somebody begins to record, and ends a quarter of an hour
after the last recording. It gets samples made by `audio_inspection`, never an uploaded file.
"""

import tempfile
from contextlib import suppress
from pathlib import Path

from webapp.base.config import WHISPER, Settings
from webapp.voice import openai_transcriber
from webapp.voice.audio_inspection import AudioFormat, TranscriptionFailed, to_pcm
from webapp.voice.child_process import ChildBusy, ChildFailed, ChildKilled, ChildProcess

IDLE_SECONDS = 900.0
WHISPER_SECONDS = 1800.0  # for models at a third of real time, with the longest recording

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

    Raises TranscriptionFailed, NotAudio, AudioBusy, OSError.
    """
    if config.transcriber == WHISPER:
        return _whisper(path, audio, config.transcriber_model or "", language or hint)
    return openai_transcriber.transcribe(path, audio, language, config=config)


def get_ready(config: Settings) -> None:
    """Load the model of a local engine."""
    if config.transcriber == WHISPER:
        request = {"model": _model(config.transcriber_model or ""), "language": ""}
        with suppress(ChildBusy, ChildFailed, ChildKilled):  # the next recording reports the reason
            child.call(request, [], seconds=WHISPER_SECONDS, wait_seconds=0)


def _whisper(path: Path, audio: AudioFormat, model: str, language: str) -> str:
    """Return at most 100,000 code points; the engine detects a language that the model lacks."""
    request = {"model": _model(model), "language": language.partition("-")[0].lower()}
    with tempfile.TemporaryFile(dir=path.parent) as samples:
        to_pcm(path, audio, samples)
        try:
            answer = child.call(request, [samples.fileno()], seconds=WHISPER_SECONDS)
        except (ChildBusy, ChildFailed, ChildKilled) as error:
            raise TranscriptionFailed(str(error)) from error
    if "refused" in answer:
        raise TranscriptionFailed(answer["refused"])
    return str(answer["text"])


def _model(name: str) -> str:
    """Return a name that faster-whisper knows, or the absolute path of a model folder."""
    folder = Path(name).resolve()
    return str(folder) if folder.is_dir() else name
