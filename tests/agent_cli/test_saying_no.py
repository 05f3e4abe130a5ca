"""`askback ask` when the creator sends the draft back, or discards it."""

import pytest

from tests.agent_cli.terminal import ASK, User
from webapp.records.drafts import Draft

NOTE = "Shorter,\nplease\x1b[2J"
SENT_BACK = "The creator sent this draft back"


def test_3_and_the_note_as_soon_as_the_draft_is_sent_back(user: User) -> None:
    command = user.start(*ASK, "--key", "mine")
    command.said_line("Waiting until")
    user.send_back("Shorter,\nplease")
    command.end()

    assert (command.code, command.kinds) == (3, ["draft"])
    assert f"{SENT_BACK}, with the note “Shorter, please”. Change it first" in command.said
    assert "Go on with: " in command.said


def test_3_at_once_while_it_stands_sent_back(user: User) -> None:
    user.run(*ASK, "--key", "mine", "--timeout", "0")
    user.send_back(None)

    again = user.run("ask", "--key", "mine")

    assert (again.code, again.events) == (3, [])
    assert f"{SENT_BACK}. Change it first, then this goes on." in again.said


def test_it_goes_on_after_the_creator_kept_it(user: User) -> None:
    user.run(*ASK, "--key", "mine", "--timeout", "0")
    user.send_back("No")
    user.keep()
    user.confirm()

    again = user.run("ask", "--key", "mine", "--timeout", "0")

    assert (again.code, again.kinds) == (4, ["published"])
    assert user.count(Draft) == 1


@pytest.mark.parametrize("waits", [True, False])
def test_5_and_the_note_when_the_draft_was_discarded(user: User, *, waits: bool) -> None:
    if waits:
        command = user.start(*ASK)
        command.said_line("Waiting until")
        user.discard("Not now")
        command.end()
    else:
        user.run(*ASK, "--key", "mine", "--timeout", "0")
        user.discard("Not now")
        command = user.run("ask", "--key", "mine")

    assert command.code == 5
    assert "Its creator discarded this draft at " in command.said
    assert "with the note “Not now”. Ask the creator" in command.said


def test_a_note_gives_a_terminal_no_orders(user: User) -> None:
    user.run(*ASK, "--key", "mine", "--timeout", "0")
    user.send_back(NOTE)

    again = user.run("ask", "--key", "mine")

    assert "\x1b" not in again.said
    assert "Shorter, please [2J" in again.said
