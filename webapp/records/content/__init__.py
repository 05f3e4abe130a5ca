"""What a form asks, how agents send it, and how two versions differ."""
