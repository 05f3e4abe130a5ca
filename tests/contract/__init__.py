"""The API against its own document and the specification."""
