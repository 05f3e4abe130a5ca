"""PostgreSQL drops a connection around a commit: the response reports the outcome."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import func, select
from sqlalchemy.exc import OperationalError

from tests.api.conftest import Agent, refusal
from tests.databases import on_postgresql
from tests.factories import make_draft, make_form
from tests.pages.creator_client import Creator, creator
from tests.pages.respondent_client import Respondent, arrive, box, heading, hidden, texts
from tests.races.threads import each_statement
from webapp.base.database import Base, db, postgresql, utc_now
from webapp.drafts import confirmations, editing
from webapp.records.accounts.models import Account
from webapp.records.audit import AuditEvent, AuditKind
from webapp.records.content.model import DraftUpdate
from webapp.records.drafts import Draft, DraftConfirmation
from webapp.records.forms import Form
from webapp.records.responses.counters import read_link_views
from webapp.records.responses.models import ResponseSession
from webapp.web import deferred_writes, request_audit

pytestmark = on_postgresql
LOST = "server closed the connection unexpectedly"


@contextmanager
def cut(
    when: str, *, then_away: bool = False, meanwhile: Callable[[], object] = lambda: None
) -> Iterator[list[str]]:
    """The next commit loses its connection `before` or `after` the server has carried it out.

    A statement that commits by itself counts as one. Yields what was cut.
    then_away  every statement after that loses its connection, too
    meanwhile  called before the request goes on
    """
    commit, execute = psycopg.Connection.commit, psycopg.Cursor.execute
    done: list[str] = []

    def lose(connection: psycopg.Connection[Any], what: str, work: Callable[[], Any]) -> Any:
        if done:
            return work()
        if when == "after":
            work()
        done.append(what)
        meanwhile()
        connection.pgconn.finish()
        raise psycopg.OperationalError(LOST)

    def lost_commit(self: psycopg.Connection[Any]) -> Any:
        if self.info.transaction_status != psycopg.pq.TransactionStatus.INTRANS:
            return commit(self)
        return lose(self, "COMMIT", lambda: commit(self))

    def lost_write(self: Any, query: Any, *more: Any, **options: Any) -> Any:
        words = str(query).split()
        if done and then_away:
            self.connection.pgconn.finish()
            raise psycopg.OperationalError(LOST)
        if not (self.connection.autocommit and words[0] in {"INSERT", "UPDATE", "WITH"}):
            return execute(self, query, *more, **options)
        return lose(self.connection, words[0], lambda: execute(self, query, *more, **options))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(psycopg.Connection, "commit", lost_commit)
        patch.setattr(psycopg.Cursor, "execute", lost_write)
        yield done


@pytest.fixture
def ann(app: Flask, account: Account) -> Creator:
    return creator(app, account)


@pytest.fixture
def respondent(app: Flask, client: FlaskClient, account: Account) -> Respondent:
    with app.app_context():
        return arrive(client, make_form(account.id))


def count(app: Flask, table: type[Base]) -> int:
    with app.app_context():
        return db.session.scalar(select(func.count()).select_from(table)) or 0


both_sides = pytest.mark.parametrize("when", ["before", "after"])


@both_sides
def test_what_respondents_do_is_done_once_and_acknowledged(
    app: Flask, respondent: Respondent, when: str
) -> None:
    with cut(when) as done:
        assert heading(respondent.answer(1, "Me")) == "What went wrong?"
    with cut(when):
        assert heading(respondent.post("/q/2/skip")) == "Check your answers, then send."
    respondent.post("/q/2/open")
    with cut(when) as done_later:
        assert heading(respondent.answer(2, "It")) == "Check your answers, then send."
    assert (len(done), len(done_later)) == (1, 1)
    assert texts(app) == ["Me", "It"]
    for path, responses in (("/check", 1), ("/withdraw/now", 0)):
        with cut(when):
            assert respondent.post(path).status_code == 200
        with app.app_context():
            assert db.session.scalar(select(Form.response_count)) == responses
    assert count(app, ResponseSession) == 0


@both_sides
def test_an_agent_makes_changes_and_publishes_one_form(
    app: Flask, agent: Agent, account: Account, when: str
) -> None:
    agent.get("/forms")
    asked = {"title": "Rota", "questions": ["Who?"]}
    key = {"Idempotency-Key": "k1"}
    with cut(when):
        plain = agent.post("/drafts", json=asked)
    with cut(when):
        keyed = agent.post("/drafts", json=asked, headers=key)
    with cut(when):
        changed = agent.patch(
            f"/drafts/{keyed.json['draftId']}", json={"title": "New"}, headers={"If-Match": '"1"'}
        )
    with app.app_context():
        draft = db.session.get_one(Draft, keyed.json["draftId"])
        shown = {"revision": draft.revision, "shown_hash": draft.content_hash}
        confirmations.confirm_draft(account.id, draft.id, **shown, now=utc_now())
    with cut(when):
        published = agent.post(f"/drafts/{draft.id}/publish")

    statuses = [answer.status_code for answer in (plain, keyed, changed, published)]
    assert statuses == [201, 201, 200, 200]
    assert (changed.json["title"], changed.headers["ETag"]) == ("New", '"2"')
    assert (count(app, Draft), count(app, Form)) == (2, 1)


def test_an_agent_learns_that_another_change_followed_its_own(
    app: Flask, agent: Agent, account: Account
) -> None:
    made = agent.post("/drafts", json={"title": "Rota", "questions": ["Who?"]})
    path = f"/drafts/{made.json['draftId']}"

    def go_on() -> None:
        with app.app_context():
            change = DraftUpdate(goal="Fair shifts")
            draft_id = made.json["draftId"]
            editing.update_draft(account.id, draft_id, change, author=None, now=utc_now())

    with cut("after", meanwhile=go_on):
        changed = agent.patch(path, json={"title": "New"}, headers={"If-Match": '"1"'})

    assert (changed.status_code, changed.headers["ETag"]) == (200, '"2"')
    now = agent.get(path)
    assert (now.json["title"], now.json["goal"]) == ("New", "Fair shifts")
    assert now.headers["ETag"] == '"3"'


@both_sides
def test_publish_now_publishes_and_reports_it(app: Flask, ann: Creator, when: str) -> None:
    with app.app_context():
        draft = make_draft(ann.account.id)
    ann.post("/nowhere")

    with cut(when):
        page = ann.post(
            f"/drafts/{draft.id}/confirm", revision="1", shown_hash=draft.content_hash, then="now"
        )

    assert (page.status_code, "/share" in page.headers["Location"]) == (303, True)
    assert (count(app, Form), count(app, DraftConfirmation)) == (1, 1)


def test_an_unknown_outcome_is_neither_claimed_nor_denied(
    app: Flask, respondent: Respondent
) -> None:
    sent = hidden(respondent.page)
    with cut("after", then_away=True):
        page = respondent.answer(1, "A long story")

    assert (page.status_code, box(page)) == (503, "A long story")
    assert heading(page) == "It is not certain that this was saved. Your text is safe."
    assert "Not saved" not in page.text
    assert hidden(page) == sent
    assert heading(respondent.answer(1, box(page))) == "What went wrong?"
    assert texts(app) == ["A long story"]


def test_an_unknown_outcome_is_reported_to_the_agent(
    app: Flask, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgresql.Connection, "_became", lambda *_: None)
    agent.get("/forms")
    key = {"Idempotency-Key": "k1"}

    with cut("after"):
        answer = agent.post("/drafts", json={"title": "Rota"}, headers=key)

    assert refusal(answer) == (500, "storage_unavailable")
    assert "nothing was changed" not in answer.json["message"]
    assert agent.post("/drafts", json={"title": "Rota"}, headers=key).status_code == 201
    assert count(app, Draft) == 1


def test_deferred_rows_after_a_commit_of_unknown_outcome_are_stored_once(
    app: Flask, account: Account
) -> None:
    with app.app_context():
        form = make_form(account.id)
    before = count(app, AuditEvent)

    def note_and_store() -> None:
        with app.test_request_context("/"):
            by, now = request_audit.visitor(), utc_now()
            request_audit.note(AuditKind.EXPORTED, account.id, by=by, now=now)
            request_audit.store()

    def count_and_store() -> None:
        with app.app_context():
            app.extensions["link_views"].add([form.share_token])
            deferred_writes.store_views()

    for store in (note_and_store, count_and_store):
        with cut("after", then_away=True), pytest.raises(OperationalError):
            store()
        store()

    assert count(app, AuditEvent) == before + 2
    with app.app_context():
        assert read_link_views(form.id) == 2


def test_a_connection_that_ends_before_its_commit_is_replaced_and_the_view_runs_again(
    app: Flask, respondent: Respondent
) -> None:
    respondent.answer(1, "Me")
    ended: list[str] = []

    def end(connection: Any, _cursor: Any, statement: str, *_more: Any) -> None:
        if statement.lstrip().startswith("UPDATE response_sessions") and not ended:
            ended.append(statement)
            connection.connection.dbapi_connection.pgconn.finish()

    with each_statement(app, "before_cursor_execute", end):
        page = respondent.post("/check")

    assert len(ended) == 1
    assert (page.status_code, count(app, ResponseSession)) == (200, 1)


def test_a_connection_that_ends_after_the_answer_was_made_does_not_replace_it(
    app: Flask, agent: Agent
) -> None:
    app.after_request_funcs.setdefault(None, []).append(_break_connections)
    try:
        answer = agent.get("/forms")
    finally:
        app.after_request_funcs[None].remove(_break_connections)

    assert answer.status_code == 200


def _break_connections(response: Any) -> Any:
    """End what the request still holds, as a server that goes down does."""
    session = db.session()
    if not session.in_transaction():
        session.connection()
    session.connection().connection.dbapi_connection.pgconn.finish()
    return response
