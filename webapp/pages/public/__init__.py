"""Pages for everybody: start, documents, about, privacy, theme."""
