"""The schema, step by step (Alembic)."""
