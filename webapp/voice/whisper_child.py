"""Runs faster-whisper: the process that `transcription` asks."""

import os
from collections.abc import Iterable, Sequence
from functools import lru_cache

from faster_whisper import WhisperModel

from webapp.voice.child_process import Answer, Request, give_way

NICE = 15  # far behind the processes that serve
MAX_CHARS = 100_000


def prepare() -> Answer:
    """Leave the processors to whatever serves."""
    give_way(NICE)
    return {}


def answer(request: Request, files: Sequence[int]) -> Answer:
    """The words of the WAV file that is the first of the files; without one, load the model."""
    try:
        engine = _model(str(request["model"]))
        return {"text": _words(engine, str(request["language"]), files[0]) if files else ""}
    except Exception as error:  # a model that is missing or broken
        return {"refused": f"{type(error).__name__}: {error}"[:500]}


def _words(engine: WhisperModel, language: str, samples: int) -> str:
    known = language if language in engine.supported_languages else None
    with open(samples, "rb", closefd=False) as file:
        file.seek(0)
        # without what is silent and without what came before: from either, the model makes words up
        segments, _ = engine.transcribe(
            file, language=known, vad_filter=True, condition_on_previous_text=False
        )
        return _joined(segment.text for segment in segments)[:MAX_CHARS].strip()


def _joined(texts: Iterable[str]) -> str:
    joined = ""
    for text in texts:
        joined += text
        if len(joined) >= MAX_CHARS:
            break
    return joined


@lru_cache(maxsize=1)
def _model(name: str) -> WhisperModel:
    tokens = os.path.join(name, "tokenizer.json")
    if os.path.isabs(name) and not os.path.isfile(tokens):
        # the engine would fetch that of another model
        raise FileNotFoundError(f"there is no {tokens}")
    threads = max(1, (os.cpu_count() or 1) // 2)
    return WhisperModel(name, device="cpu", compute_type="int8", cpu_threads=threads)
