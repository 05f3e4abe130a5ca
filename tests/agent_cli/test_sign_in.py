"""`askback sign-in` and `sign-out`: one registration, one connection, private tokens."""

import json
import stat
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from sqlalchemy import delete, func, select, update

from tests.agent_cli.terminal import ASK, Command, User
from webapp.base.database import db, utc_now
from webapp.oauth.models import OAuthClient, OAuthGrant, OAuthToken

KEYRING = """
import json, pathlib
FILE = pathlib.Path(__file__).with_name("secrets.json")
def get_password(service, user):
    kept = json.loads(FILE.read_text()) if FILE.exists() else {}
    return kept.get(service + " " + user)
def set_password(service, user, text):
    REFUSES
    FILE.write_text(json.dumps({service + " " + user: text}))
def delete_password(service, user):
    if get_password(service, user) is None:
        raise RuntimeError
    FILE.write_text("{}")
"""


def asked(user: User) -> tuple[Command, str]:
    """A sign-in, and the address that its browser ends at."""
    command = user.start("sign-in", "--no-browser")
    return command, user.running.person().allow(command.said_line("http"))


def test_the_browser_of_this_computer_comes_back_by_itself(stranger: User) -> None:
    command, there = asked(stranger)
    with urllib.request.urlopen(there, timeout=30) as page:
        assert b"Go back to your terminal" in page.read()

    assert command.end().code == 0
    assert stranger.run(*ASK, "--timeout", "0").code == 3


@pytest.mark.parametrize("lost", [False, True])
def test_a_second_sign_in_ends_the_first(user: User, *, lost: bool) -> None:
    if lost:  # by a new installation
        with user.running.app.app_context():
            for model in (OAuthToken, OAuthGrant, OAuthClient):
                db.session.execute(delete(model))
            db.session.commit()

    assert user.sign_in().code == 0
    assert live(user) == 1
    assert user.run(*ASK, "--timeout", "0").code == 3


@pytest.mark.parametrize(
    "changed", [{"iss": None}, {"iss": "https://evil.example"}, {"iss": "http://127.0.0.1"}]
)
def test_an_answer_of_another_issuer_is_refused(stranger: User, changed: dict[str, Any]) -> None:
    command, there = asked(stranger)
    command.type(f"{with_query(there, **changed)}\n")

    assert command.end().code == 6
    assert stored(stranger, OAuthToken.id) == 0
    assert stranger.run(*ASK).code == 6


def test_an_answer_with_another_state_is_ignored(stranger: User) -> None:
    command, there = asked(stranger)
    command.type("hello\n")
    with urllib.request.urlopen(with_query(there, state="other"), timeout=30):
        assert command.process.poll() is None
    with pytest.raises(urllib.error.HTTPError, match="404"):
        urllib.request.urlopen(there.replace("/callback", "/other"), timeout=30)
    command.type(f"{there}\n")

    assert command.end().code == 0


def with_query(address: str, **changed: str | None) -> str:
    parts = urlsplit(address)
    query = {name: values[0] for name, values in parse_qs(parts.query).items()} | changed
    sent = {name: value for name, value in query.items() if value}
    return parts._replace(query=urlencode(sent)).geturl()


def test_the_tokens_are_for_the_user_alone_and_printed_nowhere(user: User) -> None:
    (path,) = connections(user)
    asked = user.run(*ASK, "--timeout", "0")
    state = list(user.home.rglob("askback/ask-*"))
    texts = [each.read_text(errors="replace") for each in state]

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert {stat.S_IMODE(each.stat().st_mode) for each in (path.parent, state[0].parent)} == {0o700}
    assert not any("askat_" in text or "askrt_" in text for text in [*texts, asked.said])


@pytest.mark.parametrize("refuses", ["pass", "raise RuntimeError", "return"])
def test_the_tokens_are_in_the_keyring_where_one_works(
    stranger: User, tmp_path: Path, refuses: str
) -> None:
    (tmp_path / "keyring.py").write_text(KEYRING.replace("REFUSES", refuses))
    stranger.variables["PYTHONPATH"] = str(tmp_path)
    assert stranger.sign_in().code == 0
    (path,) = connections(stranger)
    kept = json.loads(path.read_text())
    works = refuses == "pass"

    assert stranger.run(*ASK, "--timeout", "0").code == 3
    assert ("askat_" in path.read_text(), "askrt_" in path.read_text()) == (not works, not works)
    assert kept.get("in_keyring", False) is works
    if works:
        assert "askrt_" in (tmp_path / "secrets.json").read_text()
        elsewhere = {"PYTHONPATH": ""}
        assert stranger.run(*ASK, "--timeout", "0", **elsewhere).code == 6
        assert stranger.run("sign-out").code == 0
        assert (tmp_path / "secrets.json").read_text() == "{}"
        assert live(stranger) == 0


def test_two_at_once_refresh_once_and_both_go_on(user: User) -> None:
    (path,) = connections(user)
    path.write_text(json.dumps(json.loads(path.read_text()) | {"expires_at": 0}))
    commands = [user.start(*ASK, "--timeout", "0") for _ in range(4)]

    assert [command.end().code for command in commands] == [3] * 4
    assert stored(user, OAuthToken.id, OAuthToken.rotated_at.is_not(None)) == 1
    assert stored(user, OAuthGrant.id, OAuthGrant.revoked_at.is_not(None)) == 0


def test_a_token_that_ended_early_is_renewed(user: User) -> None:
    with user.running.app.app_context():
        ended = update(OAuthToken).where(OAuthToken.kind == "access").values(revoked_at=utc_now())
        db.session.execute(ended)
        db.session.commit()

    assert user.run(*ASK, "--timeout", "0").code == 3


def test_signing_out_ends_the_connection_and_removes_what_is_stored(user: User) -> None:
    ended = user.run("sign-out")

    assert (ended.code, ended.printed) == (0, "")
    assert f"You are signed out of {user.running.origin}" in ended.said
    assert live(user) == 0
    assert connections(user) == []
    assert user.run(*ASK).code == 6
    assert user.run("sign-out").code == 0  # again, too
    assert user.sign_in().code == 0


@pytest.mark.parametrize("lost", ["all", "tokens"])
def test_signing_out_removes_a_connection_that_nothing_here_can_end(user: User, lost: str) -> None:
    (path,) = connections(user)
    without = json.loads(path.read_text()) | {"access_token": "", "refresh_token": ""}
    path.write_text("{" if lost == "all" else json.dumps(without))
    refused = user.run(*ASK)

    assert (refused.code, str(path) in refused.said) == (6, lost == "all")
    assert user.run("sign-out", "more").code == 2
    assert user.run("sign-out").code == 6
    assert connections(user) == []


def connections(user: User) -> list[Path]:
    return sorted((user.home / ".config/askback").glob("connection-*.json"))


def stored(user: User, column: Any, *where: Any) -> int:
    with user.running.app.app_context():
        return db.session.scalar(select(func.count(column)).where(*where)) or 0


def live(user: User) -> int:
    return stored(user, OAuthGrant.id, OAuthGrant.revoked_at.is_(None))
