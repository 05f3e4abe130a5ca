"""Pages for everybody: start, documents, privacy, theme."""
