"""Deleted forms and discarded drafts, until they are purged."""
