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

from tests.event_factories import make_agent_token, make_delivery, make_event
from tests.factories import make_account, make_response
from tests.oauth.flow import API, Flow, register
from tests.pages.creator_client import Creator, creator, hidden
from tests.pages.respondent_client import Respondent, arrive
from tests.voice.factories import make_spoken_answer, make_voice_form
from webapp.answers import trash
from webapp.base.database import db, utc_now
from webapp.base.sealing import cursor_key, sealer
from webapp.base.vocabulary import DeliveryState, Scope, TranscriptState
from webapp.drafts import confirmations
from webapp.events.callbacks import Asked, endpoint_id, note_unverified, note_verified
from webapp.events.subscriptions import subscribe
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

    def of(self, name: str) -> Any:
        """The id of what has this name, or what it is; an empty name is the draft."""
        found = getattr(self, name or "draft")
        return getattr(found, "id", found)

    def stores(self, statement: Any) -> None:
        with self.app.app_context():
            db.session.execute(statement)
            db.session.commit()

    def reads(self, column: Any) -> Any:
        with self.app.app_context():
            return db.session.scalars(select(column)).one()

    @cached_property
    def draft(self) -> Draft:
        return self.ann.draft(goal="To know")

    @cached_property
    def form(self) -> Any:
        return self.ann.form()

    @cached_property
    def closed(self) -> str:
        self.ann.post(f"/forms/{self.form.id}/close")
        return str(self.form.id)

    @cached_property
    def deleted(self) -> str:
        self.ann.within(trash.delete_form, self.account.id, self.form.id, now=utc_now())
        return str(self.form.id)

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
    def speaker(self) -> Respondent:
        """Somebody whose form takes recordings."""
        form = self.ann.within(make_voice_form, self.account.id)
        client, other = self.app.test_client(), self.app.test_client()
        return Respondent(client, form.share_token, other.get(f"/r/{form.share_token}"))

    def token_for(self, resource: str) -> str:
        scopes = [Scope.FORMS_WRITE, Scope.RESPONSES_READ]
        token: str = self.ann.within(issue_token, self.account.id, scopes, resource, now=utc_now())
        return token

    @cached_property
    def token(self) -> str:
        return self.token_for(API)

    @cached_property
    def host_token(self) -> str:
        return self.token_for(self.app.config["SETTINGS"].mcp_url)

    @cached_property
    def asked(self) -> Asked:
        host = "hooks.example.com:443"
        return Asked(self.account.id, self.form.id, self.grant, HOOK, host, HOOK_KEY)

    @cached_property
    def waiting_address(self) -> str:
        assert self.subscribed
        self.ann.within(note_unverified, self.asked, "200", now=utc_now())
        return endpoint_id(self.account.id, HOOK)

    @cached_property
    def subscribed(self) -> str:
        with self.app.app_context():
            note_verified(self.asked, now=utc_now())
            return subscribe(
                self.asked,
                sealer=sealer(),
                cursor_key=cursor_key(),
                grant_ends=utc_now() + timedelta(hours=1),
                now=utc_now(),
            ).subscription_id

    @cached_property
    def subscribed_form(self) -> str:
        assert self.subscribed
        return str(self.form.id)

    @cached_property
    def delivered(self) -> str:
        with self.app.app_context():
            event = make_event(self.form.id)
            subscription = db.session.get_one(EventSubscription, self.subscribed)
            return make_delivery(subscription, event_id=event, state=DeliveryState.DELIVERED).id

    @cached_property
    def agent_token(self) -> str:
        return str(self.ann.within(lambda: make_agent_token(self.form).id))

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
        return str(self.reads(OAuthGrant.id))

    @cached_property
    def muted_grant(self) -> str:
        self.ann.within(
            connections.set_muted, self.account.id, self.grant, muted=True, now=utc_now()
        )
        return self.grant

    @cached_property
    def confirmed(self) -> str:
        shown = {"revision": self.draft.revision, "shown_hash": self.draft.content_hash}
        confirm = confirmations.confirm_draft
        self.ann.within(confirm, self.account.id, self.draft.id, **shown, now=utc_now())
        return self.draft.id

    @cached_property
    def trusted(self) -> str:
        """The draft, which an agent may publish after a yes in their chat."""
        trusted = update(OAuthGrant).where(OAuthGrant.id == self.grant)
        self.stores(trusted.values(attests_publish=True))
        return self.draft.id

    @cached_property
    def changed(self) -> str:
        """The draft after its creator changed the title in the browser."""
        self.ann.page(f"/drafts/{self.draft.id}")
        self.ann.post(f"/drafts/{self.draft.id}/title", text="Newer", revision="1")
        return self.draft.id

    @cached_property
    def returned(self) -> str:
        """The draft after its creator sent it back."""
        self.ann.post(f"/drafts/{self.draft.id}/return", revision="1")
        return self.draft.id

    @cached_property
    def invite(self) -> str:
        return str(self.ann.within(invites.make_invite, now=utc_now()))

    @cached_property
    def response(self) -> str:
        """A form and its response, which looks automated, as addresses have them."""
        self.ann.within(make_response, self.form)
        self.stores(update(ResponseSession).values(suspect=True))
        return f"{self.form.id}/people/{self.reads(ResponseSession.id)}"

    @cached_property
    def form_with_response(self) -> str:
        assert self.response
        return str(self.form.id)

    @cached_property
    def deletion(self) -> str:
        self.ann.post(f"/forms/{self.response}/delete")
        return f"{self.form.id}/deletions/{self.reads(ResponseDeletion.id)}"

    @cached_property
    def failed_transcript(self) -> str:
        key, failed = secrets.token_urlsafe(24), TranscriptState.FAILED
        made = self.ann.within(make_spoken_answer, self.form, key, transcript_state=failed)
        return f"{self.form.id}/people/{made.session_id}/attachments/{made.id}"

    def trial(self) -> dict[str, str]:
        """The fields of a page on which the creator tries the draft."""
        page = self.ann.page(f"/drafts/{self.draft.id}/try")
        return {"carried": hidden(page, "carried"), "place": "1", "answer": "Me"}

    def put_away(self) -> int:
        now = utc_now()
        self.ann.within(trash.discard_draft, self.account.id, self.draft.id, now=now)
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
