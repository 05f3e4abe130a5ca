"""What a command notes stays while somebody can go on with it, and not for ever."""

import os
import time
from pathlib import Path

import pytest

from tests.agent_cli.terminal import ASK, User
from webapp.agent_cli import progress
from webapp.agent_cli.progress import UNUSED_SECONDS, working

SERVER = "https://ask.example.org"


def noted(user: User) -> set[str]:
    return {path.suffix for path in (user.home / ".local/state/askback").glob("*")}


def test_a_command_that_is_done_leaves_nothing(user: User) -> None:
    command = user.answered(*ASK)

    assert command.end().code == 0
    assert noted(user) == set()
    assert user.run("wait", command.event("published")["formId"]).code == 0
    assert noted(user) == set()


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return progress.user_folder("XDG_STATE_HOME", ".local/state")


def begun(key: str, *, days: float = 0) -> None:
    """A command with this key has noted something, and ended so many days ago."""
    with working("ask", SERVER, key) as command:
        command.note(draft_id="drf_1")
    os.utime(lock_of(key), (time.time() - days * 86_400,) * 2)


def lock_of(key: str) -> Path:
    folder = progress.user_folder("XDG_STATE_HOME", ".local/state")
    return folder / f"ask-{progress.short_name(SERVER, key)}.lock"


def test_what_nobody_has_used_for_long_is_removed(state: Path) -> None:
    days = UNUSED_SECONDS / 86_400
    begun("old", days=days + 1)
    begun("newer", days=days - 1)
    (state / "more.txt").touch()

    begun("own")

    left = {path.stem for path in state.iterdir()}
    assert left == {lock_of("newer").stem, lock_of("own").stem, "more"}
