"""A module with the name and the signatures of faster-whisper, for the child that imports it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from webapp.integrations import audio_inspection, whisper

ENGINE = """
import wave
from collections import namedtuple

Segment = namedtuple("Segment", "text")


class WhisperModel:
    made = 0
    supported_languages = ["en", "pt"]

    def __init__(self, name, *, device, compute_type, cpu_threads):
        if name == "missing":
            raise ValueError("Invalid model size 'missing'")
        WhisperModel.made += 1
        self.name = name

    def transcribe(self, file, *, language, vad_filter, condition_on_previous_text):
        with wave.open(file) as samples:
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
    whisper.child.end()
    try:
        yield
    finally:
        for child in (whisper.child, audio_inspection.child):
            child.end()
