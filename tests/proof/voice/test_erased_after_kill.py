"""What was withdrawn when a server was killed is erased by the next one."""

import time
from datetime import timedelta
from pathlib import Path

from sqlalchemy import text

from tests.proof.loaded import Server
from tests.proof.voice.speaking import noise, upload
from tests.services import wait_until
from webapp.base.database import db, utc_now
from webapp.voice.uploads import purge_unclaimed, read_backlog

WITHIN_SECONDS = 60


def test_a_withdrawn_recording_is_erased_after_a_kill(
    empty_database_url: str, tmp_path: Path
) -> None:
    server = Server(empty_database_url, tmp_path)
    with server.database():
        db.session.execute(text("UPDATE forms SET records_voice = true"))
        db.session.commit()
    with server.up():  # killed at the end of the block
        session = server.new_session(server.share_token)
        assert upload(server, server.share_token, session, noise(40_000))
    with server.database():
        assert sum(purge_unclaimed(utc_now() + timedelta(days=2))) == 1
        assert read_backlog()[0] == 1
    assert len(objects(tmp_path)) == 1

    began = time.monotonic()
    with server.up():
        wait_until(lambda: objects(tmp_path) == [], "erasing", WITHIN_SECONDS)
        with server.database():
            wait_until(lambda: read_backlog()[0] == 0, "forgetting it", WITHIN_SECONDS)

    print(f"erased {time.monotonic() - began:.1f} s after the start")


def objects(folder: Path) -> list[Path]:
    return list(folder.glob("recordings/*/*"))
