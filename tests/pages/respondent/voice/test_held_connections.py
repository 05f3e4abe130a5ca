"""A store that is slow keeps no connection of the database, which typed answers need."""

from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask

from tests.databases import both_databases
from tests.pages.respondent.voice.conftest import Speaker, kept
from webapp.base.database import db
from webapp.pages.respondent import recordings
from webapp.records.responses.recordings import ObjectDeletion
from webapp.voice import audio_inspection
from webapp.voice.audio_store import FolderStore
from webapp.voice.child_process import Clients


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """How many connections are taken while a recording waits, is stored, read and erased."""
    found: dict[str, int] = {}

    def noted(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            found[name] = db.engine.pool.checkedout()  # type: ignore[attr-defined]
            return real(*arguments, **named)

        return call

    monkeypatch.setattr(recordings, "inspect", noted("looked at", audio_inspection.inspect))
    monkeypatch.setattr(Clients, "turn", noted("waited", Clients.turn))
    monkeypatch.setattr(FolderStore, "delete", noted("erased", FolderStore.delete))
    monkeypatch.setattr(FolderStore, "put", noted("stored", FolderStore.put))
    monkeypatch.setattr(FolderStore, "read", noted("read", FolderStore.read))
    return found


@both_databases
def test_no_connection_is_held_meanwhile(
    app: Flask, speaker: Speaker, held: dict[str, int]
) -> None:
    with app.app_context():
        db.session.add(ObjectDeletion(object_key="frm_a/gone.webm", noted_at=1))
        db.session.commit()
    speaker.upload()
    speaker.go_on(1)
    [row] = kept(app)
    with app.app_context():
        db.session.remove()

    played = speaker.client.get(f"/r/{speaker.share_token}/recordings/{row.id}")

    assert len(played.data) == row.size
    assert held == {"waited": 0, "looked at": 0, "erased": 0, "stored": 0, "read": 0}
