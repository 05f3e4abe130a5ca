"""The tools, by what they are about. Their use cases are those of the REST routes."""
