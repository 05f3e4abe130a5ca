"""Public pages: start, documents, about, privacy, theme."""
