"""Writing a recording down, by the engine that the settings name. Engines are imported on use."""

from pathlib import Path

from webapp.base.config import WHISPER, Settings
from webapp.voice.audio_inspection import AudioFormat


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
        from webapp.voice import whisper

        model = config.transcriber_model or ""
        return whisper.transcribe(path, model=model, language=language or hint)
    from webapp.voice import openai_transcriber

    return openai_transcriber.transcribe(path, audio, language, config=config)


def get_ready(config: Settings) -> None:
    """Somebody begins to record: an engine of this server loads its model."""
    if config.transcriber == WHISPER:
        from webapp.voice import whisper

        whisper.get_ready(config.transcriber_model or "")


def is_loaded(config: Settings) -> bool:
    """Whether an engine of this server runs in this process."""
    if config.transcriber != WHISPER:
        return False
    from webapp.voice import whisper

    return whisper.child.pid is not None
