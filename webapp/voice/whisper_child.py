"""The child process of `transcription`: runs faster-whisper."""

import os
from collections.abc import Sequence
from functools import lru_cache

from faster_whisper import WhisperModel

from webapp.voice.child_process import Answer, Request, give_way

NICE = 15  # far below the serving processes
MAX_CHARS = 100_000


def prepare() -> Answer:
    """Lower the priority below the serving processes."""
    give_way(NICE)
    return {}


def answer(request: Request, files: Sequence[int]) -> Answer:
    """Return the words of the first file, a WAV; without a file, only load the model."""
    try:
        engine = _model(str(request["model"]))
        return {"text": _words(engine, str(request["language"]), files[0]) if files else ""}
    except Exception as error:  # the model is missing or broken
        return {"refused": f"{type(error).__name__}: {error}"[:500]}


def _words(engine: WhisperModel, language: str, samples: int) -> str:
    known = language if language in engine.supported_languages else None
    with open(samples, "rb", closefd=False) as file:
        file.seek(0)
        # skip silence and earlier text: the model invents words from either
        segments, _ = engine.transcribe(
            file, language=known, vad_filter=True, condition_on_previous_text=False
        )
        text = ""
        for segment in segments:  # each is transcribed when it is asked for
            text += segment.text
            if len(text) >= MAX_CHARS:
                break
        return text[:MAX_CHARS].strip()


@lru_cache(maxsize=1)
def _model(name: str) -> WhisperModel:
    tokens = os.path.join(name, "tokenizer.json")
    if os.path.isabs(name) and not os.path.isfile(tokens):
        # the engine would download the tokenizer of another model
        raise FileNotFoundError(f"there is no {tokens}")
    threads = max(1, (os.cpu_count() or 1) // 2)
    return WhisperModel(name, device="cpu", compute_type="int8", cpu_threads=threads)
