"""Whether a request holds a connection of the database while it reads a recording."""

from collections.abc import Iterator

import pytest
from flask import g

from webapp.base.database import db
from webapp.voice.audio_store import FolderStore


def holds_connection(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """One for each time that the store is asked for bytes from now on."""
    found: list[bool] = []
    real = FolderStore.read

    def read(store: FolderStore, key: str, start: int, end: int) -> Iterator[bytes]:
        # not those of the whole process: threads write the last use of a token
        has_session = db.session.registry.has() and db.session().in_transaction()
        found.append("connection" in g or has_session)
        return real(store, key, start, end)

    monkeypatch.setattr(FolderStore, "read", read)
    return found
