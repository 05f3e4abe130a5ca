"""Drafts from their first revision to the form they become."""
