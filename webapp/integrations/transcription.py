"""Writing a recording down, by the engine that the settings name. Engines are imported on use."""

from pathlib import Path

from webapp.integrations.audio_inspection import AudioFormat
from webapp.setting_groups.voice import WHISPER, VoiceSettings


def write_down(path: Path, audio: AudioFormat, language: str, *, config: VoiceSettings) -> str:
    """The words of one recording as the engine heard them, "" for none; nothing is tried twice.

    language  a tag of the creator's choice; "": the engine finds out

    Raises TranscriptionFailed, NotAudio, AudioBusy, OSError.
    """
    if config.transcriber == WHISPER:
        from webapp.integrations import whisper

        return whisper.transcribe(path, model=config.transcriber_model or "", language=language)
    from webapp.integrations import openai_transcriber

    return openai_transcriber.transcribe(path, audio, language, config=config)
