"""Words of a recording by faster-whisper on this server, in a child.

In a thread of a serving process the engine would stop all the others for seconds. Its child loads
the model when somebody begins to record, and keeps it while a form that records is out. It ends,
with all its memory, a minute after the last form or recording. It gets samples that
`audio_inspection` made and never the file of a stranger.
"""

import tempfile
from contextlib import suppress
from pathlib import Path

from webapp.voice.audio_inspection import HEAD_BYTES, NotAudio, sniff, to_pcm
from webapp.voice.child_process import ChildBusy, ChildFailed, ChildKilled, ChildProcess
from webapp.voice.transcription_failure import TranscriptionFailed

TRANSCRIBE_SECONDS = 1800.0  # a model that takes three times as long as the longest recording
WAIT_SECONDS = 2 * TRANSCRIBE_SECONDS

# where the libraries look for models, certificates, proxies and processors
ENVIRONMENT = (
    *("HOME", "XDG_CACHE_HOME", "HF_HOME", "HF_HUB_CACHE", "HF_ENDPOINT", "HF_HUB_OFFLINE"),
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "OMP_NUM_THREADS"),
)

child = ChildProcess(
    "webapp.voice.whisper_child", environment=ENVIRONMENT, wait_seconds=WAIT_SECONDS
)


def transcribe(path: Path, *, model: str, language: str) -> str:
    """The words of the recording at `path`, at most 100,000 code points.

    model     a name that faster-whisper knows and fetches once, or the folder of one
    language  a tag as `pt-BR`; what the engine hears if that is "" or none that the model knows

    Raises NotAudio, AudioBusy, TranscriptionFailed, OSError.
    """
    with path.open("rb") as file:
        audio = sniff(file.read(HEAD_BYTES))
    if audio is None:
        raise NotAudio("no format that we take")
    request = {"model": _found(model), "language": language.partition("-")[0].lower()}
    with tempfile.TemporaryFile(dir=path.parent) as samples:
        to_pcm(path, audio, samples)
        try:
            answer = child.call(request, [samples.fileno()], seconds=TRANSCRIBE_SECONDS)
        except (ChildBusy, ChildFailed, ChildKilled) as error:
            raise TranscriptionFailed(str(error)) from error
    if "refused" in answer:
        raise TranscriptionFailed(answer["refused"])
    return str(answer["text"])


def get_ready(model: str) -> None:
    """Load the model if it is not, and keep it for another minute; a child that works does both."""
    request = {"model": _found(model), "language": ""}
    with suppress(ChildBusy, ChildFailed, ChildKilled):  # a recording says why
        child.call(request, [], seconds=TRANSCRIBE_SECONDS, wait_seconds=0)


def _found(model: str) -> str:
    """The name of the model, or its folder, from where the child works."""
    folder = Path(model).resolve()
    return str(folder) if folder.is_dir() else model
