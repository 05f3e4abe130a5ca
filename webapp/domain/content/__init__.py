"""What a form asks, how it is read from agents, and how two versions differ."""
