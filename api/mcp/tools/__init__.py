"""The tools, one module per subject. They share their use cases with the REST routes."""
