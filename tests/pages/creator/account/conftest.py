"""Hashing of passwords at a hundredth of its cost, for tests of what is around it."""

import pytest
from argon2 import PasswordHasher

from webapp.records.accounts import credentials


@pytest.fixture
def cheap_hashing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Argon2id with the least memory; its real cost is measured where passwords are."""
    cheap = PasswordHasher(memory_cost=8, time_cost=1, parallelism=1)
    monkeypatch.setattr(credentials, "HASHER", cheap)
    monkeypatch.setattr(credentials, "_NOBODY", cheap.hash("nobody has this password"))
