"""Marks that choose the database of a test."""

import pytest

# Runs a test once on SQLite and once on PostgreSQL.
both_databases = pytest.mark.parametrize("database_url", ["sqlite", "postgresql"], indirect=True)
on_postgresql = pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
# The same, on SQLite with the long proofs: for what takes seconds, and shows more on PostgreSQL.
_SQLITE_LATER = [pytest.param("sqlite", marks=pytest.mark.prove), "postgresql"]
postgresql_first = pytest.mark.parametrize("database_url", _SQLITE_LATER, indirect=True)
empty_postgresql_first = pytest.mark.parametrize("empty_database_url", _SQLITE_LATER, indirect=True)
# The same for a test of the schema.
both_empty_databases = pytest.mark.parametrize(
    "empty_database_url", ["sqlite", "postgresql"], indirect=True
)
