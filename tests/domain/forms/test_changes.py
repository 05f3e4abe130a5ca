"""Whoever waits for a form is told of everything that changes what they may see of it."""

import ast
import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from flask import Flask
from sqlalchemy import select

from tests.databases import both_databases
from tests.domain.voice.claims import answer_with, make_waiting
from tests.factories import make_account, make_answer, make_draft, make_form, make_response
from webapp.answers import answering, trash
from webapp.answers.late_transcripts import conclude
from webapp.base.database import db, note_change, utc_now, write_transaction
from webapp.drafts import publishing
from webapp.oauth.account_deletion import delete_account
from webapp.records import forms
from webapp.records.responses.recordings import Recording
from webapp.voice.transcripts import claim, settle_written

ROOT = Path(__file__).parents[3]
KEY = "a-session-key-of-one-respondent"

pytestmark = pytest.mark.usefixtures("app_context")


@pytest.fixture
def told(app: Flask, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    found: list[str] = []
    monkeypatch.setattr(app.extensions["wakeups"], "wake", found.append)
    return found


def answer(form: Any) -> None:
    make_answer(form, KEY)


def correct(form: Any) -> None:
    make_answer(form, KEY, text="Somebody else")


def take_back(form: Any) -> None:
    answering.skip_question(form.share_token, KEY, position=0, now=utc_now())


def complete(form: Any) -> None:
    answering.complete_response(form.share_token, KEY, responder_name="", now=utc_now())


def withdraw(form: Any) -> None:
    assert answering.withdraw_response(form.share_token, KEY, now=utc_now())


def close(form: Any) -> None:
    forms.close_form(form.account_id, form.id, now=utc_now())


def reopen(form: Any) -> None:
    forms.reopen_form(form.account_id, form.id, now=utc_now())


def throw_away(form: Any) -> None:
    trash.delete_form(form.account_id, form.id, now=utc_now())


def restore(form: Any) -> None:
    trash.restore_form(form.account_id, form.id, now=utc_now())


def erase(form: Any) -> None:
    trash.erase_form(form.account_id, form.id, now=utc_now())


def purge(form: Any) -> None:
    assert sum(trash.purge_deleted(utc_now() + timedelta(days=60)))


def speak(form: Any) -> None:
    """An answer without words, whose recording has been written down since."""
    answer(form)
    recording = make_waiting(form, KEY)
    answer_with(recording, KEY)
    held = claim(now=utc_now())
    assert held
    settle_written(held, "Somebody", now=utc_now())


def fill_in(form: Any) -> None:
    conclude(db.session.scalars(select(Recording.id)).one(), now=utc_now())


def leave(form: Any) -> None:
    delete_account(form.account_id, now=utc_now())


# what happens before, and what is then told
CHANGES: dict[Callable[[Any], None], tuple[Callable[[Any], None], ...]] = {
    answer: (),
    correct: (answer,),
    take_back: (answer,),
    complete: (answer,),
    withdraw: (answer, complete),
    close: (),
    reopen: (close,),
    throw_away: (),
    restore: (throw_away,),
    erase: (throw_away,),
    purge: (throw_away, erase),
    leave: (),
    fill_in: (speak,),
}


@both_databases
@pytest.mark.parametrize("change", CHANGES)
def test_a_change_of_a_form_is_told_after_the_commit(
    change: Callable[[Any], None], told: list[str]
) -> None:
    form = make_form(make_account().id)
    for before in CHANGES[change]:
        before(form)
    told.clear()

    change(form)

    assert [each for each in told if each.startswith("frm_")] == [form.id]


@both_databases
def test_a_new_form_is_told(told: list[str]) -> None:
    account = make_account()
    at_once = make_form(account.id)
    draft = make_draft(account.id)
    attested = publishing.publish_draft(account.id, draft.id, now=utc_now(), attested_by="grt_1")

    assert told == [at_once.id, attested.form.id]


@both_databases
def test_several_responses_tell_of_their_own_forms(told: list[str]) -> None:
    first, second = (make_form(make_account().id) for _ in range(2))
    told.clear()

    make_response(first)
    make_response(second)

    assert told == [first.id] * 2 + [second.id] * 2


@both_databases
def test_nobody_is_told_before_the_commit(told: list[str]) -> None:
    with write_transaction():
        note_change("frm_1")
        note_change("frm_1")
        assert told == []

    assert told == ["frm_1"]


@both_databases
def test_what_was_rolled_back_is_not_told(told: list[str]) -> None:
    def fail() -> None:
        with write_transaction():
            note_change("frm_1")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()

    assert told == []


# every function that carries out a statement which writes the table, with the changes above that
# come by it
WRITES: dict[str, tuple[Callable[[Any], None], ...] | str] = {
    "webapp/answers/trash.py:_mark": (throw_away, restore, erase),
    "webapp/answers/trash.py:_take_for_good": (purge,),
    "webapp/answers/trash.py:give_up_forms": (leave,),
    "webapp/drafts/publishing.py:_at_once": "test_a_new_form_is_told",
    "webapp/drafts/publishing.py:_in_steps": "test_a_new_form_is_told",
    "webapp/drafts/form_settings.py:allow_embedding": "changes who may show it",
    "webapp/records/forms.py:_set_status": (close, reopen),
    "webapp/drafts/form_settings.py:set_spoken_language": "a hint for transcribers",
    "webapp/drafts/terms.py:agree_to_terms": "changes how people answer, no status",
    "webapp/answers/answer_writes.py:_in_steps": (answer, correct),
    "webapp/answers/answer_writes.py:store_answer": (answer, correct),
    "webapp/answers/answer_writes.py:store_completion": (complete,),
    "webapp/answers/session_state.py:change_form": (take_back, withdraw),
    "webapp/answers/unread.py:mark_all_read": "what its creator has read, no status",
    "webapp/answers/unread.py:mark_read": "what its creator has read, no status",
    "webapp/answers/late_transcripts.py:_fill": (fill_in,),
}
_WRITING = {"update", "insert", "delete", "insert_into"}
_TABLE = {"Form", "_FORMS", "Form.__table__", "table"}
_BY_HAND = re.compile(r"\b(UPDATE|INSERT INTO|DELETE FROM) forms\b")
_COLUMNS = re.compile(r"\w*form\w*\.(status|last_stamp|completed_stamp|response_count|deleted_at)")


class Part(NamedTuple):
    """What stands at the top of a file: a function, a class or an assignment."""

    path: Path
    name: str
    node: ast.stmt

    @property
    def is_statement(self) -> bool:
        """Whether it makes a statement, which others carry out."""
        cached = "cache" in map(ast.unparse, getattr(self.node, "decorator_list", ()))
        return cached or isinstance(self.node, ast.Assign)

    @property
    def writes(self) -> bool:
        source = ast.unparse(self.node)
        if not re.search("form", source, re.IGNORECASE):
            return False  # a table of any kind
        return any(map(_writes, ast.walk(self.node))) or bool(_BY_HAND.search(source))

    def uses(self, statement: "Part") -> bool:
        if statement.name.startswith("_") and statement.path != self.path:
            return False
        return any(
            isinstance(node, ast.Name | ast.Attribute)
            and isinstance(node.ctx, ast.Load)
            and ast.unparse(node).rpartition(".")[2] == statement.name
            for node in ast.walk(self.node)
        )


def parts_of(path: Path) -> Iterator[Part]:
    for node in ast.parse(path.read_text()).body:
        named = getattr(node, "targets", None) or [getattr(node, "target", None)]
        name = getattr(node, "name", None) or "".join(map(ast.unparse, filter(None, named)))
        yield Part(path, name, node)


def _writes(node: ast.AST) -> bool:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args:
        return node.func.id in _WRITING and ast.unparse(node.args[0]) in _TABLE
    if isinstance(node, ast.Assign):
        return any(_COLUMNS.fullmatch(ast.unparse(target)) for target in node.targets)
    return False


def who_writes(parts: list[Part]) -> set[str]:
    """Those that write the table, or carry out a statement of others that does."""
    writing = [part for part in parts if part.writes]
    for found in writing:  # grows
        if found.is_statement:
            writing += [part for part in parts if part not in writing and part.uses(found)]
    return {
        f"{part.path.relative_to(ROOT)}:{part.name}" for part in writing if not part.is_statement
    }


def test_every_function_that_writes_a_form_is_among_them() -> None:
    paths = [path for folder in ("webapp", "api", "jobs") for path in (ROOT / folder).rglob("*.py")]
    parts = [part for path in paths if "migrations" not in path.parts for part in parts_of(path)]

    assert who_writes(parts) == set(WRITES)


@pytest.mark.parametrize(
    "source",
    [
        "def new(): execute(update(Form).values(last_stamp=1))",
        "def new(): execute(STAMP_ANSWER, form_id=1)",
        "def new(): execute(answer_statements.STAMP_COMPLETION, form_id=1)",
        "_MINE = STAMP_ANSWER.where(1)\ndef new(): execute(_MINE)",
        "def new(form): form.status = 'closed'",
        "def new(): execute(text('UPDATE forms SET status = 1'))",
    ],
)
def test_a_new_way_to_write_a_form_is_found(source: str, tmp_path: Path) -> None:
    path = tmp_path / "new.py"
    path.write_text(source)
    known = ROOT / "webapp/answers/answer_statements.py"
    parts = [Part(ROOT / "new.py", part.name, part.node) for part in parts_of(path)]

    assert "new.py:new" in who_writes([*parts_of(known), *parts])


def test_every_change_is_walked() -> None:
    named = [each for changes in WRITES.values() if isinstance(changes, tuple) for each in changes]

    assert set(named) == set(CHANGES)
