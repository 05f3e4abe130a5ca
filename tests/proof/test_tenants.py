"""Two accounts, every route, every kind of id: the other's objects are not found."""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select, update
from werkzeug.routing import Rule
from werkzeug.test import TestResponse

from api.mcp.tools.table import TOOLS
from tests.bulk import dump
from tests.event_factories import make_agent_token as make_token, make_delivery, make_subscription
from tests.factories import make_account, make_draft, make_form, make_response
from tests.pages.creator_client import HTMX, ORIGIN, Creator, creator
from tests.voice.factories import make_spoken_answer
from tests.webhook_receiver import SECRET
from webapp.answers.trash import delete_form, discard_draft
from webapp.base.config import Settings
from webapp.base.database import db, to_millis, utc_now
from webapp.base.vocabulary import Scope
from webapp.drafts.agent_tokens import make_agent_token
from webapp.oauth.models import OAuthClient, OAuthGrant, OAuthToken
from webapp.oauth.tokens import issue_token
from webapp.pages.creator.sign_in import SIGNED_IN_AT
from webapp.records.accounts.browser_sessions import SignIn, begin_session
from webapp.records.accounts.models import Account
from webapp.records.events import CallbackEndpoint, EventDelivery, EventSubscription
from webapp.records.forms import AgentToken, close_form
from webapp.records.responses.models import Answer, ResponseSession
from webapp.records.responses.recordings import Recording

pytestmark = pytest.mark.settings(write_limits=False)

# Arguments that name an object of one account, and what stands in for the others.
OWNED = {"draft_id", "form_id", "grant_id", "ask_id", "token_id", "callback_id", "delivery_id"}
OWNED |= {"subscription_id", "attachment_id"}
OTHERS = {"position": 1, "part": "title", "number": 1, "kind": "svg"}
OTHERS |= {"name": "export.csv", "page": "voice"}

PARTS = {"session_id", "attachment_id"}  # objects of a form


def routes_of(**names: str) -> set[str]:
    """Endpoints, by their module."""
    return {f"{module}.{name}" for module, listed in names.items() for name in listed.split()}


# Routes that take no object of an account; a new one has to be put here or take such an object.
OWN_LISTS = routes_of(
    account="show show_activity",
    agent_tokens="show_made show_new",
    api="list_service",
    connections="show_connections show_progress",
    deliveries="show_all",
    forms="show_all show_trash",
    inbox="choose count show",
    site="home",
)
IDS_IN_THE_BODY = routes_of(
    account="end_browser", agent_tokens="make", inbox="discard_chosen take_back", mcp="post"
)
SIGNED = {"mcp.get_recording"}  # whose address names one object and a connection
NO_OBJECT = {"asset"} | routes_of(
    about="show_about show_privacy",
    account="change_details change_password change_picture remove_picture show_picture delete"
    " show_deletion end_other_browsers",
    agent_tokens="revoke_all",
    api="create_service_draft openapi",
    connections="disconnect_all",
    consent="authorize decide",
    docs="list_for_programs show show_text",
    health="healthz readyz",
    inbox="ask_new write",
    oauth="authorization_server protected_resource register revoke token",
    sign_in="accept_invite show_farewell show_invite show_sign_in sign_in"
    " sign_out sign_out_everywhere",
    site="choose_theme security_txt",
)
PUBLIC_LINK = "share_token"
SUBSCRIPTION = {"url": "https://localhost/", "secret": SECRET}  # leads inside: nobody is asked
KINDS = (ResponseSession, Answer, Recording, AgentToken, EventSubscription, EventDelivery)
KINDS += (OAuthGrant, OAuthToken, OAuthClient, CallbackEndpoint)
NAMES = ("Secret of Bo", "bo@stranger.example", "A secret question?", "A secret agent")


@dataclass(frozen=True)
class Theirs:
    """Ids of everything that another account has, by kind."""

    ids: dict[str, str]
    account: Account


@dataclass(frozen=True)
class Visitor:
    """One account at its browser and with its agent."""

    browser: Creator
    token: str
    agent_token: str

    def send(self, method: str, path: str, *, htmx: bool = False) -> TestResponse:
        if path.startswith("/api/"):
            return self._call(method, path)
        if method == "GET":
            return self.browser.page(path, **(HTMX if htmx else {}))
        return self.browser.post(path, htmx=htmx)

    def _call(self, method: str, path: str) -> TestResponse:
        token = self.agent_token if path.startswith("/api/agent/") else self.token
        headers = {"Authorization": f"Bearer {token}"}
        sent = SUBSCRIPTION if path.endswith("/subscriptions") else {}
        body: dict[str, Any] = {} if method == "GET" else {"json": sent}
        client: FlaskClient = self.browser.client
        return client.open(path, base_url=ORIGIN, method=method, headers=headers, **body)


@pytest.fixture
def theirs(app: Flask, settings: Settings) -> Theirs:
    with app.app_context():
        stranger = make_account(name="Secret of Bo", email="bo@stranger.example")
        secret = {"title": "Secret of Bo", "questions": ["A secret question?"]}
        draft = make_draft(stranger.id, **secret)
        form, closed = make_form(stranger.id, **secret), make_form(stranger.id, **secret)
        close_form(stranger.id, closed.id, now=utc_now())
        deleted = make_form(stranger.id, **secret)
        delete_form(stranger.id, deleted.id, now=utc_now())
        make_response(form)
        make_spoken_answer(form, "k" * 32)
        make_token(form)
        make_delivery(make_subscription(form))
        waits = {"url": "https://secret.example/", "asked_at": utc_now(), "grant_id": "grt_1"}
        db.session.execute(update(CallbackEndpoint).values(waits))
        db.session.commit()
        issue_token(stranger.id, list(Scope), settings.api_url, now=utc_now())
        ids = {
            "account": stranger.id,
            "draft": draft.id,
            "published draft": form.draft_id,
            "form": form.id,
            "closed form": closed.id,
            "deleted form": deleted.id,
            "share token": form.share_token,
            "question": form.questions[0]["id"],
        }
        for kind in KINDS:
            ids[kind.__name__] = db.session.scalars(select(kind.id)).first() or ""
        return Theirs(ids, stranger)


@pytest.fixture
def visitor(app: Flask, account: Account, theirs: Theirs, settings: Settings) -> Visitor:
    """Somebody else, signed in, whose agent may do everything and has called before."""
    with app.app_context():
        token = issue_token(account.id, list(Scope), settings.api_url, now=utc_now())
        now, ends = utc_now(), utc_now() + timedelta(days=1)
        made = make_agent_token(account.id, None, label="", expires_at=ends, now=now)
    visitor = Visitor(creator(app, account), token, made.token)
    assert visitor.send("GET", "/api/forms").status_code == 200
    assert visitor.send("GET", "/api/agent/asks/unknown/answers").status_code == 404
    return visitor


@contextmanager
def nothing_changes(app: Flask) -> Iterator[None]:
    """No row of any table does while the block runs."""
    with app.app_context():
        before = dump()
    yield
    with app.app_context():
        assert dump() == before


def routes(app: Flask) -> Iterator[tuple[str, Rule]]:
    for rule in app.url_map.iter_rules():
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}:
            yield method, rule


def owned_routes(app: Flask) -> list[tuple[str, Rule]]:
    return [(method, rule) for method, rule in routes(app) if rule.arguments & OWNED]


def path_of(app: Flask, rule: Rule, object_id: str) -> str:
    values = {name: OTHERS.get(name, object_id) for name in rule.arguments}
    return app.url_map.bind("127.0.0.1:8000").build(rule.endpoint, values)


def response_without_id(answer: TestResponse, object_id: str) -> tuple[int, str]:
    """Status and body without the id that was asked for and the one-time token of the page."""
    text = answer.text.replace(object_id, "ID")
    return answer.status_code, re.sub(r'(csrf_token" value=")[^"]*', r"\1", text)


def test_every_route_is_classified(app: Flask) -> None:
    free = {rule.endpoint for _, rule in routes(app) if not rule.arguments & OWNED}
    public = {rule.endpoint for _, rule in routes(app) if PUBLIC_LINK in rule.arguments}

    assert free - public == OWN_LISTS | IDS_IN_THE_BODY | SIGNED | NO_OBJECT
    assert {rule.endpoint for _, rule in owned_routes(app)}.isdisjoint(public)


@pytest.mark.parametrize("htmx", [False, True], ids=["page", "swap"])
def test_objects_of_others_are_answered_like_unknown_ones(
    app: Flask, visitor: Visitor, theirs: Theirs, *, htmx: bool
) -> None:
    nobodys = "drf_000000000000000000000000"
    known = {
        (method, rule.rule): response_without_id(
            visitor.send(method, path_of(app, rule, nobodys), htmx=htmx), nobodys
        )
        for method, rule in owned_routes(app)
    }

    different = [
        (method, rule.rule, kind, answer[0])
        for method, rule in owned_routes(app)
        for kind, found_id in theirs.ids.items()
        if (
            answer := response_without_id(
                visitor.send(method, path_of(app, rule, found_id), htmx=htmx), found_id
            )
        )
        != known[method, rule.rule]
    ]

    assert different == []
    assert {status for status, _ in known.values()} == {404}


def test_asking_for_objects_of_others_changes_nothing(
    app: Flask, visitor: Visitor, theirs: Theirs
) -> None:
    with nothing_changes(app):
        for method, rule in owned_routes(app):
            for found_id in theirs.ids.values():
                visitor.send(method, path_of(app, rule, found_id))


@pytest.mark.parametrize("endpoint", sorted(OWN_LISTS))
def test_lists_show_nothing_of_others(
    app: Flask, visitor: Visitor, theirs: Theirs, endpoint: str
) -> None:
    path = app.url_map.bind("127.0.0.1:8000").build(endpoint)

    answer = visitor.send("GET", path)

    assert answer.status_code in (200, 302, 303)
    assert [word for word in (*NAMES, *theirs.ids.values()) if word in answer.text] == []


@pytest.mark.parametrize(
    ("path", "table"),
    [("/connections/disconnect-all", OAuthGrant), ("/connections/tokens/revoke-all", AgentToken)],
)
def test_ending_all_agents_or_tokens_leaves_those_of_others(
    app: Flask, visitor: Visitor, theirs: Theirs, path: str, table: Any
) -> None:
    visitor.send("POST", path)

    with app.app_context():
        rows = db.session.execute(select(table.account_id, table.revoked_at)).all()
    revoked = {account_id for account_id, revoked_at in rows if revoked_at}
    assert len(rows) > len(revoked)
    assert revoked == {visitor.browser.account.id}


def test_the_same_routes_find_own_objects(app: Flask, visitor: Visitor, account: Account) -> None:
    with app.app_context():
        form = make_form(account.id)
        own = {"draft_id": make_draft(account.id).id, "form_id": form.id, "ask_id": form.id}

    statuses = {
        rule.rule: visitor.send("GET", path_of(app, rule, own_id)).status_code
        for method, rule in owned_routes(app)
        for name, own_id in own.items()
        if method == "GET" and name in rule.arguments and rule.arguments.isdisjoint(PARTS)
        if rule.endpoint != "agent.stream_ask"  # which needs the connection of the server
    }

    assert set(statuses.values()) <= {200, 204, 303}, statuses


def test_ids_of_others_in_a_posted_form_change_nothing(
    app: Flask, visitor: Visitor, theirs: Theirs
) -> None:
    with nothing_changes(app):
        tidied = visitor.browser.post("/drafts/tidy", draft=[*theirs.ids.values()])
        assert tidied.status_code == 303
        for found_id in theirs.ids.values():
            sent = {"form": found_id, "label": "", "days": "9"}
            with visitor.browser.client.session_transaction(base_url=ORIGIN) as session:
                session[SIGNED_IN_AT] = int(time.time())
            assert visitor.browser.post("/connections/tokens/new", **sent).status_code == 404


def test_hosts_find_nothing_of_others(
    app: Flask, account: Account, theirs: Theirs, settings: Settings
) -> None:
    nobodys = "drf_000000000000000000000000"
    with app.app_context():
        token = issue_token(account.id, list(Scope), settings.mcp_url, now=utc_now())

    def answers(object_id: str) -> dict[str, str]:
        found = {}
        for name, method, params in calls_naming(object_id):
            body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
            headers = {"Authorization": f"Bearer {token}"}
            answer = app.test_client().post("/mcp/app", json=body, headers=headers)
            assert '"result":{"content"' not in answer.text or '"isError":true' in answer.text
            found[name] = answer.text.replace(object_id, "ID")
        return found

    unknown = answers(nobodys)
    assert app.extensions["deferred_writes"].settle(5)  # the connection was used
    with nothing_changes(app):
        for kind, found_id in theirs.ids.items():
            assert answers(found_id) == unknown, kind


def calls_naming(object_id: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """A call of each method and tool that takes the id of an object, with this one as each id."""
    for tool in TOOLS.values():
        fields = tool.listed(events=True)["inputSchema"]["properties"]  # type: ignore[index]
        ids = {name: object_id for name in fields if name.endswith("Id") and name != "askId"}
        if ids:
            yield tool.name, "tools/call", {"name": tool.name, "arguments": ids}
    event = {"name": "response.submitted", "arguments": {"formId": object_id}}
    for method in ("events/subscribe", "events/unsubscribe"):
        yield method, method, event | {"delivery": SUBSCRIPTION}


def test_neither_drafts_nor_browsers_of_others_are_named_by_something_else(
    app: Flask, visitor: Visitor, theirs: Theirs
) -> None:
    now = utc_now()
    with app.app_context():
        discard_draft(theirs.account.id, theirs.ids["draft"], now=now)
        session_id = begin_session(theirs.account, replaced=None, now=now)
        handle = db.session.get_one(SignIn, session_id).handle

    with nothing_changes(app):
        restored = visitor.browser.post("/drafts/take-back", at=str(to_millis(now)))
        signed_out = visitor.browser.post("/account/browsers/end", handle=handle)

    assert (restored.status_code, signed_out.status_code) == (303, 303)
