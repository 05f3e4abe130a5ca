"""Writing a recording down, by the engine that the settings name.

Whisper runs in a child: in a thread of a serving process it would stop all the others for seconds.
Its child loads the model when somebody begins to record, and keeps it while a form that records is
out. It ends, with all its memory, a minute after the last form or recording. It gets samples that
`audio_inspection` made and never the file of a stranger.
"""

import tempfile
from contextlib import suppress
from pathlib import Path

from webapp.base.config import WHISPER, Settings
from webapp.voice.audio_inspection import AudioFormat, TranscriptionFailed, to_pcm
from webapp.voice.child_process import ChildBusy, ChildFailed, ChildKilled, ChildProcess

WHISPER_SECONDS = 1800.0  # a model that takes three times as long as the longest recording

# where the libraries look for models, certificates, proxies and processors
ENVIRONMENT = (
    *("HOME", "XDG_CACHE_HOME", "HF_HOME", "HF_HUB_CACHE", "HF_ENDPOINT", "HF_HUB_OFFLINE"),
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "OMP_NUM_THREADS"),
)

child = ChildProcess(
    "webapp.voice.whisper_child", environment=ENVIRONMENT, wait_seconds=2 * WHISPER_SECONDS
)


def write_down(
    path: Path, audio: AudioFormat, language: str, *, hint: str = "", config: Settings
) -> str:
    """The words of one recording as the engine heard them, "" for none; nothing is tried twice.

    language  a tag of the creator's choice; "": the engine finds out
    hint      the tag of the language of the questions, for an engine of this server: its small
              models tell languages apart poorly by a few seconds

    Raises TranscriptionFailed, NotAudio, AudioBusy, OSError.
    """
    if config.transcriber == WHISPER:
        return _whisper(path, audio, config.transcriber_model or "", language or hint)
    from webapp.voice import openai_transcriber  # an extra that may not be installed

    return openai_transcriber.transcribe(path, audio, language, config=config)


def get_ready(config: Settings) -> None:
    """Load the model of an engine of this server, or keep it for another minute."""
    if config.transcriber == WHISPER:
        request = {"model": _model(config.transcriber_model or ""), "language": ""}
        with suppress(ChildBusy, ChildFailed, ChildKilled):  # a recording says why
            child.call(request, [], seconds=WHISPER_SECONDS, wait_seconds=0)


def is_loaded(config: Settings) -> bool:
    """Whether an engine of this server runs in this process."""
    return config.transcriber == WHISPER and child.pid is not None


def _whisper(path: Path, audio: AudioFormat, model: str, language: str) -> str:
    """At most 100,000 code points; a language that the model does not know is found out."""
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
    """A name that faster-whisper knows, or its folder, from where the child works."""
    folder = Path(name).resolve()
    return str(folder) if folder.is_dir() else name
