"""The name and the signatures of faster-whisper 1.2, for the child that imports it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from webapp.voice import audio_inspection, transcription

ENGINE = """
import wave
from collections import namedtuple

Segment = namedtuple("Segment", "text")


class WhisperModel:
    made = 0
    supported_languages = ["en", "pt"]

    def __init__(
        self,
        model_size_or_path,
        device="auto",
        device_index=0,
        compute_type="default",
        cpu_threads=0,
        num_workers=1,
        download_root=None,
        local_files_only=False,
    ):
        if model_size_or_path == "missing":
            raise ValueError("Invalid model size 'missing', expected one of: tiny.en, tiny")
        assert (device, compute_type) == ("cpu", "int8") and cpu_threads > 0
        WhisperModel.made += 1
        self.name = model_size_or_path

    def transcribe(
        self,
        audio,
        language=None,
        task="transcribe",
        log_progress=False,
        beam_size=5,
        *,
        condition_on_previous_text=True,
        vad_filter=False,
    ):
        with wave.open(audio) as samples:
            seconds = round(samples.getnframes() / samples.getframerate())
        assert vad_filter and not condition_on_previous_text
        if self.name == "talkative":
            return (Segment(" word" * 1000) for _ in range(1000)), None
        if self.name == "stuck":
            import time
            time.sleep(60)
        words = f" {self.name} {self.made} {language} {seconds}"
        return iter([Segment(words), Segment(" and more. ")]), None
"""


@contextmanager
def fake_whisper(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Children started in the block find the module, which is written into a new folder."""
    folder.mkdir()
    (folder / "faster_whisper.py").write_text(ENGINE)
    monkeypatch.setenv("PYTHONPATH", str(folder))
    transcription.child.end()
    try:
        yield
    finally:
        for child in (transcription.child, audio_inspection.child):
            child.end()
