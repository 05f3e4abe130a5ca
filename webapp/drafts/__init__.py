"""Drafts until they are published, and what creators decide about their forms."""
