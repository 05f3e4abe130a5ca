"""JSON for agents."""
