"""Shared by all nouns of the domain: vocabulary, limits, errors."""
