"""`askback sign-out`: the connection ends, and nothing of it stays on this computer."""

import json
from pathlib import Path

import pytest
from sqlalchemy import select

from tests.agent_cli.terminal import ASK, User
from tests.agent_cli.test_sign_in import KEYRING
from webapp.base.database import db
from webapp.oauth.models import OAuthGrant


def live_connections(user: User) -> int:
    with user.running.app.app_context():
        live = select(OAuthGrant.id).where(OAuthGrant.revoked_at.is_(None))
        return len(db.session.scalars(live).all())


def stored(user: User) -> list[Path]:
    return list((user.home / ".config/askback").glob("*"))


def test_it_ends_the_connection_and_removes_what_is_stored(user: User) -> None:
    ended = user.run("sign-out")

    assert (ended.code, ended.printed) == (0, "")
    assert f"You are signed out of {user.running.origin}" in ended.said
    assert live_connections(user) == 0
    assert stored(user) == []
    assert user.run(*ASK).code == 6
    assert user.run("sign-out").code == 0  # again, too


def test_after_it_one_can_sign_in_again(user: User) -> None:
    user.run("sign-out")

    assert user.sign_in().code == 0
    assert user.run(*ASK, "--timeout", "0").code == 3


def test_7_where_the_server_is_away_and_nothing_stays_here(user: User) -> None:
    user.running.stop()

    ended = user.run("sign-out")

    assert ended.code == 7
    assert "The page Agents lists the connection if it goes on." in ended.said
    assert stored(user) == []


def test_a_connection_that_has_ended_is_removed(user: User) -> None:
    (path,) = (user.home / ".config/askback").glob("connection-*.json")
    kept = json.loads(path.read_text()) | {"access_token": "", "refresh_token": ""}
    path.write_text(json.dumps(kept))

    assert user.run("sign-out").code == 6
    assert stored(user) == []


def test_a_file_that_cannot_be_read_is_removed_and_told(user: User) -> None:
    (path,) = (user.home / ".config/askback").glob("connection-*.json")
    path.write_text("{")

    ended = user.run("sign-out")

    assert ended.code == 6
    assert "cannot be read" in ended.said
    assert stored(user) == []


def test_other_connections_stay(user: User) -> None:
    other = "http://localhost:9"
    (path,) = (user.home / ".config/askback").glob("connection-*.json")

    assert user.run("sign-out", "--server", other).code == 0
    assert path in stored(user)
    assert live_connections(user) == 1


def test_tokens_leave_the_keyring(stranger: User, tmp_path: Path) -> None:
    (tmp_path / "keyring.py").write_text(KEYRING.replace("REFUSES", "pass"))
    stranger.variables["PYTHONPATH"] = str(tmp_path)
    assert stranger.sign_in().code == 0
    assert "askrt_" in (tmp_path / "secrets.json").read_text()

    assert stranger.run("sign-out").code == 0
    assert (tmp_path / "secrets.json").read_text() == "{}"
    assert live_connections(stranger) == 0


@pytest.mark.parametrize("wrong", [("--server", "ftp://x"), ("more",)])
def test_2_for_wrong_use(user: User, wrong: tuple[str, ...]) -> None:
    assert user.run("sign-out", *wrong).code == 2
    assert live_connections(user) == 1
