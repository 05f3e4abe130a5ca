"""`askback ask` and `askback wait`: from a draft to the answers, as lines of JSON."""

import json
from pathlib import Path

import pytest

from tests.agent_cli.terminal import ASK, User
from webapp.base.database import db
from webapp.records.drafts import Draft

QUESTIONS = {"title": "Rota", "questions": ["Who changed it?", {"text": "Why?"}]}


def test_a_question_comes_back_with_its_answer(user: User) -> None:
    command = user.start(*ASK)
    draft = command.event("draft")
    command.said_line("Waiting until")
    user.confirm()
    published = command.event("published")
    user.respond()
    command.end()

    assert draft["reviewUrl"] == f"{user.running.origin}/drafts/{draft['draftId']}"
    assert published["shareUrl"].startswith(f"{user.running.origin}/r/")
    assert (command.code, command.kinds[2:]) == (0, ["answer", "completed"])
    answer, completed = command.events[2:]
    assert (answer["answerText"], completed["responderName"]) == ("Me", "Mira")
    assert answer["formId"] == completed["formId"] == published["formId"]
    assert answer["responseId"] == completed["responseId"]
    waited_for = [draft["reviewUrl"], published["shareUrl"]]
    assert [line.split()[-1] for line in command.said.splitlines()] == waited_for


@pytest.mark.parametrize("way", ["file", "named", "piped"])
def test_a_draft_is_read_as_json(user: User, tmp_path: Path, way: str) -> None:
    file = tmp_path / "draft.json"
    file.write_text(json.dumps(QUESTIONS))
    given = {"file": ["--file", str(file)], "named": ["--file", "-"], "piped": []}[way]
    typed = "" if way == "file" else json.dumps(QUESTIONS)

    asked = user.run("ask", *given, "--timeout", "0", typed=typed)

    assert (asked.code, asked.kinds) == (3, ["draft"])
    with user.running.app.app_context():
        draft = db.session.scalars(db.select(Draft)).one()
        assert [question["text"] for question in draft.questions] == ["Who changed it?", "Why?"]


def test_a_trusted_connection_publishes_without_waiting(trusted: User) -> None:
    asked = trusted.run(*ASK, "--timeout", "0")

    assert (asked.code, asked.kinds) == (4, ["draft", "published"])


def test_the_answers_of_any_form_are_waited_for(user: User) -> None:
    asked = user.answered(*ASK).end()
    form_id = asked.event("published")["formId"]

    waited = user.run("wait", form_id)
    more = user.start("wait", form_id, "--responses", "2", "--key", "mine")
    more.event("completed")
    user.respond("Ann")
    more.end()
    nothing_new = user.run("wait", form_id, "--responses", "3", "--key", "mine", "--timeout", "0")

    assert (waited.code, waited.events) == (0, asked.events[2:])
    assert (more.code, more.kinds) == (0, ["answer", "completed"] * 2)
    assert (nothing_new.code, nothing_new.events) == (4, [])


def test_what_people_wrote_gives_a_terminal_no_orders(user: User) -> None:
    asked = user.run(*ASK, "--timeout", "0")
    user.publish()
    user.respond(text="\u202eMe\u009b2J")

    went_on = user.run("ask", "--key", asked.events[0]["key"])

    assert went_on.code == 0
    assert went_on.printed.isascii()
    assert went_on.events[1]["answerText"] == "\u202eMe\u009b2J"
