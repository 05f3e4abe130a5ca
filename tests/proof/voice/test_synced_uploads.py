"""A recording is on the disk before the database says that it is there."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.proof.loaded import Server
from tests.proof.test_durability import traced
from tests.proof.voice.speaking import noise, upload

UPLOADS = 10


@pytest.mark.prove
def test_file_and_folders_are_synced_before_the_commit(tmp_path: Path) -> None:
    server = Server(f"sqlite:///{tmp_path}/askback.sqlite3", tmp_path)
    with closing(sqlite3.connect(tmp_path / "askback.sqlite3")) as connection:
        connection.execute("UPDATE forms SET records_voice = 1")
        connection.commit()
    token = server.share_token

    with traced(server, tmp_path / "trace", "-y"):
        held = [
            upload(server, token, server.new_session(token), noise(40_000)) for _ in range(UPLOADS)
        ]

    assert all(held)
    stored = list((tmp_path / "recordings").glob("*/*"))
    synced = syncs(tmp_path / "trace")
    assert len(stored) == UPLOADS
    for file in stored:
        written = f"{file}.part"  # until it is renamed
        begun = synced.index(written)
        assert synced[begun : begun + 4] == [written, *map(str, list(file.parents)[:3])]
        assert synced[begun + 4].startswith(str(tmp_path / "askback.sqlite3"))


def syncs(trace: Path) -> list[str]:
    """What was synced, in the order in which the calls began."""
    return re.findall(r"f(?:data)?sync\(\d+<(.+?)>", trace.read_text(errors="replace"))
