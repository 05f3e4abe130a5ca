"""Processes and receivers of deliveries."""

from tests.jobs.conftest import allow, deliverer  # noqa: F401 (fixtures)
