"""Each exit code of the commands of agents, and what they say with it."""

import json
import shlex
import signal
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from sqlalchemy import delete

from tests.agent_cli.terminal import ASK, User
from webapp.agent_cli.commands import main
from webapp.base.database import db
from webapp.oauth.models import OAuthToken
from webapp.records.drafts import Draft
from webapp.records.forms import Form


def test_0_and_nothing_twice_when_it_is_asked_again_after_the_end(user: User) -> None:
    first = user.run(*ASK, "--key", "mine", "--timeout", "0")
    user.publish()
    user.respond()
    second = user.run(*ASK, "--key", "mine")
    third = user.run("ask", "--key", "mine")

    assert (first.code, second.code, third.code) == (3, 0, 0)
    assert [*first.kinds, *second.kinds] == ["draft", "published", "answer", "completed"]
    assert third.events == []
    assert user.count(Draft) == 1


@pytest.mark.parametrize(
    ("arguments", "typed", "words"),
    [
        (("ask",), "", "at least one question"),
        (("ask", "Rota"), "", "at least one question"),
        (("ask",), "{", "JSON"),
        (("ask", "Rota", "Who?", "--file", "x"), "", "either"),
        (("ask", "--file", "nowhere.json"), "", "No such file"),
        (("ask", "Rota", "Who?", "--timeout", "soon"), "", "soon"),
        (("ask", "Rota", "Who?", "--server", "http://ask.example.org"), "", "plain http"),
    ],
)
def test_2_for_wrong_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], typed: str, words: str
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setenv("ASKBACK_URL", "http://127.0.0.1:9")

    refused = CliRunner().invoke(main, arguments, input=typed)

    assert (refused.exit_code, refused.stdout) == (2, "")
    assert words in refused.stderr


def test_2_for_what_the_server_refuses_to_be_corrected_under_the_same_key(user: User) -> None:
    asked = ("ask", "--key", "mine", "--timeout", "0")
    refused = user.run(*asked, typed='{"titel": "Rota"}')
    corrected = user.run(*asked, typed='{"title": "Rota", "questions": ["Who?"]}')

    assert ([refused.code, corrected.code], refused.events) == ([2, 3], [])
    assert "titel" in refused.said
    assert user.count(Draft) == 1


def test_3_when_nobody_confirms_and_4_when_nobody_answers_in_time(user: User) -> None:
    asked = user.run(*ASK, "--timeout", "1")
    again = user.run(*hint(asked.said), "--timeout", "0")
    user.publish()
    went_on = user.run(*hint(asked.said), "--timeout", "1")

    assert (asked.code, asked.kinds) == (3, ["draft"])
    assert (again.code, again.events) == (3, [])
    assert (went_on.code, went_on.kinds) == (4, ["published"])
    assert hint(went_on.said) == hint(asked.said)
    assert user.count(Draft) == 1


@pytest.mark.parametrize("gone", ["form", "unknown"])
def test_5_when_a_form_is_gone(user: User, gone: str) -> None:
    if gone == "unknown":
        refused = user.run("wait", "frm_unknown")
    else:
        asked = user.run(*ASK, "--timeout", "0")
        user.publish()
        user.delete()
        refused = user.run(*hint(asked.said))

    assert (refused.code, refused.events) == (5, [])


def test_3_while_the_draft_is_sent_back_and_5_when_it_was_discarded(user: User) -> None:
    command = user.start(*ASK)
    command.said_line("Waiting until")
    user.send_back("Shorter,\nplease\x1b[2J")
    returned = command.end()
    user.keep()
    user.confirm()
    again = user.run(*hint(returned.said), "--timeout", "0")
    user.run(*ASK, "--key", "other", "--timeout", "0")
    user.discard("Not now")
    discarded = user.run("ask", "--key", "other")

    assert (returned.code, returned.kinds) == (3, ["draft"])
    assert "sent this draft back, with the note “Shorter, please [2J”. Change" in returned.said
    assert (again.code, again.kinds) == (4, ["published"])
    assert discarded.code == 5
    assert "with the note “Not now”" in discarded.said


def test_6_until_the_creator_has_allowed_it(stranger: User) -> None:
    unknown = stranger.run(*ASK)
    signed_in = stranger.sign_in(may=["forms:read", "responses:read"])
    refused = stranger.run(*ASK)

    assert [(each.code, each.events) for each in (unknown, refused)] == [(6, [])] * 2
    assert f"askback sign-in --server {stranger.running.origin}" in unknown.said
    assert "forms:write" in signed_in.said
    assert "forms:write" in refused.said


def test_6_when_the_connection_has_ended(user: User) -> None:
    with user.running.app.app_context():
        db.session.execute(delete(OAuthToken))
        db.session.commit()
    refused = [user.run(*ASK), user.run(*ASK)]

    assert [each.code for each in refused] == [6, 6]
    assert user.sign_in().code == 0
    assert user.run(*hint(refused[0].said), "--timeout", "0").code == 3


def test_7_when_the_server_is_not_reached_with_the_program_as_it_was_called(user: User) -> None:
    user.program = [str(Path(sys.executable).with_name("askback"))]
    user.running.stop()
    refused = user.run(*ASK, "--timeout", "2")

    assert (refused.code, refused.events) == (7, [])
    assert "is not reached" in refused.said
    assert f"Go on with: {user.program[0]} ask" in refused.said


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_130_when_it_is_interrupted_with_the_command_that_goes_on(
    user: User, number: signal.Signals
) -> None:
    command = user.start(*ASK, "--responses", "2")
    command.said_line("Waiting until")
    command.send(number)
    user.publish()
    user.respond()
    user.respond()
    went_on = user.run(*hint(command.said))

    assert command.code == 130
    assert (went_on.code, user.count(Form)) == (0, 1)
    assert went_on.kinds.count("completed") == 2


@pytest.mark.parametrize("seconds", [0, pytest.param(60, marks=pytest.mark.prove)])
def test_a_server_away_for_a_while_is_waited_for(user: User, seconds: int) -> None:
    command = user.start(*ASK)
    command.event("draft")
    user.running.stop()
    command.said_line(f"{user.running.origin} is not reached")
    time.sleep(seconds)
    user.running.start()
    user.confirm()
    command.event("published")
    user.running.stop()
    user.respond()
    user.running.start()

    assert command.end().code == 0
    assert command.kinds == ["draft", "published", "answer", "completed"]


def hint(said: str) -> list[str]:
    """The arguments of the command that goes on."""
    words = shlex.split(said.partition("Go on with: ")[2])
    assert words[0] == "askback", said
    return words[1:]


def test_2_for_something_else_under_the_same_key_and_for_two_at_once(user: User) -> None:
    first = user.start(*ASK, "--key", "mine")
    first.event("draft")
    second = user.run("ask", "--key", "mine")
    first.send(signal.SIGTERM)
    other = user.run("ask", "Rota", "Who else?", "--key", "mine")

    assert [(each.code, each.events) for each in (second, other)] == [(2, [])] * 2
    assert user.count(Draft) == 1


def test_5_when_what_was_sent_a_day_ago_may_have_arrived(user: User) -> None:
    user.run(*ASK, "--key", "mine", "--timeout", "0")
    (path,) = (user.home / ".local/state/askback").glob("ask-*.json")
    unnoted = {"draft_id": "", "body": "{}", "asked_at": time.time() - 86_400}
    path.write_text(json.dumps(json.loads(path.read_text()) | unnoted))

    assert user.run("ask", "--key", "mine").code == 5
    assert user.count(Draft) == 1
