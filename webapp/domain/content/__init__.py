"""The content of drafts and forms: model, input validation and diff."""
