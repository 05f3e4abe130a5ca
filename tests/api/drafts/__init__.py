"""What agents read of drafts and of their review."""
