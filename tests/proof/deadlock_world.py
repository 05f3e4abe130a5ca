"""A creator, a respondent and an agent with all that the routes which write need, and deadlocks."""

import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import cached_property
from typing import Any

import psycopg
import pytest
from flask import Flask
from sqlalchemy import select, update
from werkzeug.test import TestResponse

from tests.event_factories import (
    make_agent_token,
    make_delivery,
    make_event,
)
from tests.factories import make_account, make_draft, make_form, make_response
from tests.oauth.flow import API, Flow, register
from tests.pages.creator_client import Creator, creator, hidden
from tests.pages.respondent_client import Respondent, arrive
from tests.voice.factories import make_spoken_answer
from webapp.answers import trash
from webapp.base.database import db, utc_now
from webapp.base.sealing import cursor_key, sealer
from webapp.base.vocabulary import DeliveryState, Scope, TranscriptState
from webapp.drafts import confirmations
from webapp.events.callbacks import note_unverified, note_verified
from webapp.events.subscribing import TtlBounds, subscribe
from webapp.events.subscription_rows import Asked, endpoint_id
from webapp.oauth import connections
from webapp.oauth.models import OAuthGrant
from webapp.oauth.tokens import issue_token
from webapp.records.accounts import invites
from webapp.records.accounts.credentials import password_hash
from webapp.records.drafts import Draft
from webapp.records.events import EventSubscription
from webapp.records.responses.models import ResponseDeletion, ResponseSession
from webapp.web.limiter import limiter

PASSWORD = "four plain words here"  # noqa: S105
KNOWN_HASH = password_hash(PASSWORD)
HOOK, HOOK_KEY = "https://hooks.example.com/r", "whsec_" + "QUJD" * 11

Call = Callable[[], TestResponse]


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
            trash.delete_form(self.account.id, self.form.id, now=utc_now())
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
            return issue_token(
                self.account.id, [Scope.FORMS_WRITE, Scope.RESPONSES_READ], API, now=utc_now()
            )

    @cached_property
    def host_token(self) -> str:
        scopes = [Scope.FORMS_WRITE, Scope.RESPONSES_READ]
        resource = self.app.config["SETTINGS"].mcp_url
        with self.app.app_context():
            return issue_token(self.account.id, scopes, resource, now=utc_now())

    @cached_property
    def asked(self) -> Asked:
        host = "hooks.example.com:443"
        return Asked(self.account.id, self.form.id, self.grant, HOOK, host, HOOK_KEY)

    @cached_property
    def waiting_address(self) -> str:
        assert self.subscribed
        with self.app.app_context():
            note_unverified(self.asked, "200", now=utc_now())
        return endpoint_id(self.account.id, HOOK)

    @cached_property
    def subscribed(self) -> str:
        with self.app.app_context():
            note_verified(self.asked, now=utc_now())
            return subscribe(
                self.asked,
                sealer=sealer(),
                cursor_key=cursor_key(),
                bounds=TtlBounds(300, 300, 300),
                grant_ends=utc_now() + timedelta(hours=1),
                now=utc_now(),
            ).subscription_id

    @cached_property
    def delivered(self) -> str:
        with self.app.app_context():
            event = make_event(self.form.id)
            state = DeliveryState.DELIVERED
            subscription = db.session.get_one(EventSubscription, self.subscribed)
            return make_delivery(subscription, event_id=event, state=state).id

    @cached_property
    def agent_token(self) -> str:
        with self.app.app_context():
            return make_agent_token(self.form).id

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

    @property
    def muted_grant(self) -> str:
        with self.app.app_context():
            connections.set_muted(self.account.id, self.grant, muted=True, now=utc_now())
        return self.grant

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

    def returned(self) -> str:
        """The draft after its creator sent it back."""
        self.ann.post(f"/drafts/{self.draft.id}/return", revision="1")
        return self.draft.id

    def invited(self) -> str:
        with self.app.app_context():
            return invites.make_invite(now=utc_now())

    def trial(self) -> dict[str, str]:
        """The fields of a page on which the creator tries the draft."""
        page = self.ann.page(f"/drafts/{self.draft.id}/try")
        return {"carried": hidden(page, "carried"), "place": "1", "answer": "Me"}

    def put_away(self) -> int:
        now = utc_now()
        with self.app.app_context():
            trash.discard_draft(self.account.id, self.draft.id, now=now)
        return int(now.timestamp() * 1000)


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


def _response(world: World) -> str:
    """The address of a response that looks automated."""
    with world.app.app_context():
        make_response(world.form)
        db.session.execute(update(ResponseSession).values(suspect=True))
        db.session.commit()
        response_id = db.session.scalars(select(ResponseSession.id)).one()
    return f"/forms/{world.form.id}/people/{response_id}"


def _response_deleted(world: World) -> Call:
    path = f"{_response(world)}/delete"
    return lambda: world.ann.post(path)


def _read(world: World) -> Call:
    """A response that is unread, as its page shows it."""
    path = _response(world)
    stamp = hidden(world.ann.page(path), "stamp")
    return lambda: world.ann.post(f"{path}/read", stamp=stamp)


def _all_read(world: World) -> Call:
    """All responses of a form with an unread one."""
    _response(world)
    where = f"/forms/{world.form.id}"
    stamp = hidden(world.ann.page(where), "stamp")
    return lambda: world.ann.post(f"{where}/read", stamp=stamp)


def _automated_deleted(world: World) -> Call:
    _response(world)
    return lambda: world.ann.post(f"/forms/{world.form.id}/automated/delete")


def _deletion_undone(world: World) -> Call:
    world.ann.post(f"{_response(world)}/delete")
    with world.app.app_context():
        deletion_id = db.session.scalars(select(ResponseDeletion.id)).one()
    return lambda: world.ann.post(f"/forms/{world.form.id}/deletions/{deletion_id}/undo")


def _tried_again(world: World) -> Call:
    with world.app.app_context():
        key, failed = secrets.token_urlsafe(24), TranscriptState.FAILED
        made = make_spoken_answer(world.form, key, transcript_state=failed)
    path = f"/forms/{world.form.id}/people/{made.session_id}/attachments/{made.id}/try-again"
    return lambda: world.ann.post(path)


OF_RESPONSES = {
    "responses.mark_all_read": _all_read,
    "responses.mark_read": _read,
    "responses.delete": _response_deleted,
    "responses.delete_automated": _automated_deleted,
    "responses.undo": _deletion_undone,
    "results.try_again": _tried_again,
}
