"""What agents said beside their drafts, how the inbox lists those, and agents that are muted."""
