"""Background jobs: the delivery of events to agents, and transcription."""
