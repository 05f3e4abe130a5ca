"""Published forms, and where they may be shown."""
