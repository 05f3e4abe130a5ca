"""Recordings, their store, and the transcription engines."""
