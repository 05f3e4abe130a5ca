"""Every route that writes meets a deadlock at each of its commits, and does its work once."""

import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property
from typing import Any

import psycopg
import pytest
from flask import Flask
from sqlalchemy import Boolean, Integer, Table, select, update
from werkzeug.test import TestResponse

from tests.conftest import delete_rows
from tests.databases import on_postgresql
from tests.factories import make_account, make_draft, make_form
from tests.oauth.flow import API, Flow, bearer, register
from tests.pages.creator_client import Creator, creator
from tests.pages.respondent_client import Respondent, arrive, hidden
from webapp.database import db, utc_now
from webapp.domain.accounts import invites
from webapp.domain.accounts.passwords import password_hash
from webapp.domain.deletion import discarded_drafts, form_trash
from webapp.domain.drafts import confirmations
from webapp.domain.drafts.models import Draft
from webapp.domain.shared.vocabulary import Scope
from webapp.oauth.models import OAuthGrant
from webapp.oauth.tokens import issue_token
from webapp.web.rate_limits.limiter import limiter

PASSWORD = "four plain words here"  # noqa: S105
KNOWN_HASH = password_hash(PASSWORD)
COMMITS_MOST = 6


class World:
    """A creator, a respondent and an agent on an empty database; each thing is made when asked."""

    def __init__(self, app: Flask) -> None:
        self.app = app
        with app.app_context():
            self.account = make_account(email="ann@example.com", password_hash=KNOWN_HASH)
        self.ann: Creator = creator(app, self.account)
        with self.ann.client.session_transaction(base_url="http://127.0.0.1:8000") as session:
            session["_fresh"] = True
            session["signed_in_at"] = int(time.time())
        self.ann.post("/nowhere")  # has fetched its token then

    @cached_property
    def draft(self) -> Draft:
        with self.app.app_context():
            return make_draft(self.account.id, goal="To know")

    @cached_property
    def form(self) -> Any:
        with self.app.app_context():
            return make_form(self.account.id)

    @cached_property
    def deleted(self) -> Any:
        with self.app.app_context():
            form_trash.delete_form(self.account.id, self.form.id, now=utc_now())
        return self.form

    @cached_property
    def person(self) -> Respondent:
        return arrive(self.app.test_client(), self.form)

    @cached_property
    def answered(self) -> Respondent:
        self.person.answer(1, "Me")
        return self.person

    @cached_property
    def sent(self) -> Respondent:
        self.person.answer_all()
        self.person.post("/check")
        return self.person

    @cached_property
    def token(self) -> str:
        with self.app.app_context():
            return issue_token(self.account.id, [Scope.FORMS_WRITE], API, now=utc_now())

    @cached_property
    def flow(self) -> Flow:
        with self.app.app_context():
            limiter.reset()
        client = register(self.app.test_client(), token_endpoint_auth_method="none")
        return Flow(self.ann.client, self.app.test_client(), client)

    @cached_property
    def code(self) -> str:
        return self.flow.code()

    @cached_property
    def grant(self) -> str:
        assert self.token
        with self.app.app_context():
            return db.session.scalars(select(OAuthGrant.id)).one()

    def confirmed(self) -> str:
        draft = self.draft
        with self.app.app_context():
            shown = {"revision": draft.revision, "shown_hash": draft.content_hash}
            confirmations.confirm_draft(self.account.id, draft.id, **shown, now=utc_now())
        return draft.id

    def changed(self) -> str:
        """The draft after its creator changed the title in the browser."""
        self.ann.page(f"/drafts/{self.draft.id}")
        self.ann.post(f"/drafts/{self.draft.id}/title", text="Newer", revision="1")
        return self.draft.id

    def invited(self) -> str:
        with self.app.app_context():
            return invites.make_invite(now=utc_now())

    def put_away(self) -> int:
        now = utc_now()
        with self.app.app_context():
            discarded_drafts.discard_draft(self.account.id, self.draft.id, now=now)
        return int(now.timestamp() * 1000)


Call = Callable[[], TestResponse]


def creator_page(
    path: str, make: Callable[[World], Any] = lambda world: world.draft, **form: Any
) -> Any:
    """A form of the creator's pages at `path`, in which `{}` stands for what `make` makes."""

    def prepare(world: World) -> Call:
        made = make(world)
        named = path.format(getattr(made, "id", made))
        return lambda: world.ann.post(named, **form)

    return prepare


def respondent_page(path: str, person: str, **form: Any) -> Any:
    """A form of a respondent's page, without following where it leads."""

    def prepare(world: World) -> Call:
        one: Respondent = getattr(world, person)
        sent = {"session": hidden(one.page)["session"], "answer_key": secrets.token_urlsafe(16)}
        where = f"/r/{one.share_token}{path}"
        kept = {name: sent[name] for name in sent if name == "session" or "answer" in form}
        return lambda: one.client.post(where, data=kept | form)

    return prepare


def agent(method: str, path: str, make: Callable[[World], Any] = lambda _world: "") -> Any:
    def prepare(world: World) -> Call:
        named = path.format(make(world))
        headers, body = bearer(world.token), {"title": "By an agent"}
        client = world.app.test_client()
        return lambda: client.open(f"/api{named}", method=method, json=body, headers=headers)

    return prepare


def _published(world: World) -> Call:
    path, headers = f"/api/drafts/{world.confirmed()}/publish", bearer(world.token)
    return lambda: world.app.test_client().post(path, headers=headers)


def _published_on_its_word(world: World) -> Call:
    """By an agent whose creator lets it publish after a yes in their chat."""
    path, headers = f"/api/drafts/{world.draft.id}/publish", bearer(world.token)
    with world.app.app_context():
        trusted = update(OAuthGrant).where(OAuthGrant.id == world.grant)
        db.session.execute(trusted.values(attests_publish=True))
        db.session.commit()
    return lambda: world.app.test_client().post(path, headers=headers)


def _confirm(then: str) -> Callable[[World], Call]:
    def prepare(world: World) -> Call:
        draft = world.draft
        form = {"revision": "1", "shown_hash": draft.content_hash, "then": then}
        return lambda: world.ann.post(f"/drafts/{draft.id}/confirm", **form)

    return prepare


def _closed(world: World) -> Any:
    world.ann.post(f"/forms/{world.form.id}/close")
    return world.form


def _sign_in(world: World) -> Call:
    visitor = Creator(world.app.test_client(), world.account)
    visitor.token = _token(visitor)
    return lambda: visitor.post("/login", email="ann@example.com", password=PASSWORD)


def _join(world: World) -> Call:
    visitor = Creator(world.app.test_client(), world.account)
    visitor.token, invite = _token(visitor), world.invited()
    form = {"email": "new@example.com", "name": "New", "password": PASSWORD}
    return lambda: visitor.post(f"/join/{invite}", **form)


def _token(visitor: Creator) -> str:
    return visitor.page("/login").text.partition('name="csrf_token" value="')[2].partition('"')[0]


def _token_for_code(world: World) -> Call:
    flow, code = world.flow, world.code
    return lambda: flow.redeem(code)


def _token_for_refresh(world: World) -> Call:
    flow, tokens = world.flow, world.flow.redeem(world.code).json
    return lambda: flow.refresh(tokens["refresh_token"])


def _revoke(world: World) -> Call:
    flow, tokens = world.flow, world.flow.redeem(world.code).json
    form = flow.authenticated(token=tokens["refresh_token"])
    return lambda: flow.machine.post("/oauth/revoke", data=form)


def _consent(world: World) -> Call:
    flow = world.flow
    return flow.decide


def _register(world: World) -> Call:
    limiter_free = world.app.test_client()
    body = {"client_name": "A", "redirect_uris": ["https://app.example/cb"]}
    return lambda: limiter_free.post("/oauth/register", json=body)


def _continue(world: World) -> Call:
    one = world.answered
    link = one.client.post(
        f"/r/{one.share_token}/check/elsewhere", data={"session": hidden(one.page)["session"]}
    )
    secret = link.text.partition("/continue/")[2].partition('"')[0].partition("<")[0]
    form = {"secret": secret, "claim": secrets.token_urlsafe(16)}
    return lambda: world.app.test_client().post(f"/r/{one.share_token}/continue", data=form)


RECIPES: dict[str, Callable[[World], Call]] = {
    "account.change_details": creator_page("/account/details", name="Kim", language="en"),
    "account.change_password": creator_page(
        "/account/password", current=PASSWORD, password="other plain words here"
    ),
    "account.delete": creator_page("/account/delete", current=PASSWORD),
    "api.create_service_draft": agent("POST", "/drafts"),
    "api.publish_service_draft": _published,
    "api.update_service_draft": agent("PATCH", "/drafts/{}", lambda world: world.draft.id),
    "appearance.choose": creator_page("/appearance", theme="dark"),
    "browsers.end": creator_page("/account/browsers/end", handle="none"),
    "browsers.end_others": creator_page("/account/browsers/end-others"),
    "confirm.confirm": _confirm("agent"),
    "connections.disconnect": creator_page("/connections/{}/disconnect", lambda world: world.grant),
    "connections.disconnect_all": creator_page(
        "/connections/disconnect-all", lambda world: world.grant
    ),
    "connections.let_publish": creator_page(
        "/connections/{}/trust", lambda world: world.grant, trust="1"
    ),
    "consent.decide": _consent,
    "drafts.mark_seen": creator_page("/drafts/{}/seen", revision="1"),
    "drafts.save_settings": creator_page(
        "/drafts/{}/settings",
        revision="1",
        followUpMode="none",
        responseMode="text_only",
        responseLimit="one",
    ),
    "drafts.save_text": creator_page("/drafts/{}/title", revision="1", text="Better"),
    "elsewhere.go_on": _continue,
    "elsewhere.offer": respondent_page("/check/elsewhere", "answered"),
    "forms.allow_embedding": creator_page(
        "/forms/{}/embedding", lambda world: world.form, origins="https://a.example"
    ),
    "forms.close": creator_page("/forms/{}/close", lambda world: world.form),
    "forms.reopen": creator_page("/forms/{}/reopen", _closed),
    "history.put_back": creator_page(
        "/drafts/{}/changes/1/put-back", World.changed, revision="2", since="1"
    ),
    "history.restore": creator_page("/drafts/{}/restore", World.changed, revision="2", to="1"),
    "inbox.discard": creator_page("/drafts/{}/discard"),
    "inbox.discard_chosen": lambda world: creator_page("/drafts/tidy", draft=world.draft.id)(world),
    "inbox.take_back": lambda world: creator_page("/drafts/take-back", at=str(world.put_away()))(
        world
    ),
    "inbox.write": creator_page("/drafts/new"),
    "oauth.register": _register,
    "oauth.revoke": _revoke,
    "oauth.token": _token_for_code,
    "questions.add": creator_page("/drafts/{}/questions", revision="1", text="Why?"),
    "questions.move": creator_page("/drafts/{}/questions/1/position", revision="1", to="2"),
    "questions.remove": creator_page("/drafts/{}/questions/1/remove", revision="1"),
    "questions.save": creator_page("/drafts/{}/questions/1", revision="1", text="Who was it?"),
    "respond.another": respondent_page("/another", "sent"),
    "respond.answer": respondent_page("/q/1", "person", answer="Me"),
    "respond.open_check": respondent_page("/check/open", "answered"),
    "respond.open_done": respondent_page("/done/open", "sent"),
    "respond.open_question": respondent_page("/q/1/open", "answered"),
    "respond.open_sent": respondent_page("/sent", "sent"),
    "respond.resume": respondent_page("/resume", "answered"),
    "respond.send": respondent_page("/check", "answered"),
    "respond.skip": respondent_page("/q/2/skip", "answered"),
    "respond.withdraw": respondent_page("/withdraw", "sent"),
    "respond.withdraw_now": respondent_page("/withdraw/now", "sent"),
    "sign_in.accept_invite": _join,
    "sign_in.sign_in": _sign_in,
    "sign_in.sign_out": creator_page("/logout"),
    "sign_in.sign_out_everywhere": creator_page("/logout/everywhere"),
    "trash.copy": creator_page("/forms/{}/copy", lambda world: world.form),
    "trash.delete": creator_page("/forms/{}/delete", lambda world: world.form),
    "trash.erase": creator_page("/forms/{}/erase", lambda world: world.deleted),
    "trash.restore": creator_page("/forms/{}/restore", lambda world: world.deleted),
}

# what else a route does
FURTHER = {
    "api.publish_service_draft on the word of the agent": _published_on_its_word,
    "confirm.confirm and publish": _confirm("publish"),
    "oauth.token for a refresh token": _token_for_refresh,
}


@contextmanager
def deadlock_at(number: int) -> Iterator[list[str]]:
    """PostgreSQL gives up the transaction of this commit of ours, counted from 0.

    A statement that commits by itself counts, too. Yields the commits that were tried.
    """
    commit, execute = psycopg.Connection.commit, psycopg.Cursor.execute
    here, tried = threading.current_thread(), []

    def is_due(what: str) -> bool:
        if threading.current_thread() is not here:
            return False
        tried.append(what)
        return len(tried) == number + 1

    def given_up_commit(self: psycopg.Connection[Any]) -> None:
        in_transaction = psycopg.pq.TransactionStatus.INTRANS
        if self.info.transaction_status == in_transaction and is_due("COMMIT"):
            self.rollback()
            raise psycopg.errors.DeadlockDetected
        commit(self)

    def given_up_write(self: Any, query: Any, *more: Any, **options: Any) -> Any:
        writes = str(query).split()[0] in {"INSERT", "UPDATE", "DELETE", "WITH"}
        if self.connection.autocommit and writes and is_due(str(query)):
            raise psycopg.errors.DeadlockDetected
        return execute(self, query, *more, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(psycopg.Connection, "commit", given_up_commit)
        patch.setattr(psycopg.Cursor, "execute", given_up_write)
        yield tried


def test_every_route_that_writes_has_its_deadlock(app: Flask) -> None:
    unsafe = {"POST", "PUT", "PATCH", "DELETE"}
    writing = {rule.endpoint for rule in app.url_map.iter_rules() if rule.methods & unsafe}

    assert writing == RECIPES.keys()


@on_postgresql
@pytest.mark.parametrize("work", RECIPES | FURTHER)
def test_a_deadlock_at_any_commit_changes_nothing(app: Flask, work: str) -> None:
    expected, commits = outcome(app, work, deadlock_at(COMMITS_MOST))
    assert len(commits) < COMMITS_MOST

    for number in range(len(commits)):
        found, _ = outcome(app, work, deadlock_at(number))
        assert found == expected, f"deadlock at commit {number} of {commits}"


def outcome(
    app: Flask, work: str, fault: AbstractContextManager[list[str]]
) -> tuple[Any, list[str]]:
    """The status of the route and the rows it leaves with that fault, and what the fault yields."""
    delete_rows(app)
    with app.app_context():
        limiter.reset()
    call = (RECIPES | FURTHER)[work](World(app))
    app.extensions["deferred_writes"].settle(10)
    with fault as tried:
        answer = call()
    assert answer.status_code < 400, (answer.status_code, answer.text)
    with app.app_context():
        rows = {table.name: shapes(table) for table in db.metadata.sorted_tables}
    return (answer.status_code, rows), tried


def shapes(table: Table) -> list[tuple[Any, ...]]:
    """The rows without what differs each time: numbers and flags as they are, of others if they are
    there at all.
    """
    rows = db.session.execute(select(table)).all()
    return sorted(
        tuple(
            repr(value) if type(column.type) in (Integer, Boolean) else value is not None
            for column, value in zip(table.columns, row, strict=True)
        )
        for row in rows
    )
