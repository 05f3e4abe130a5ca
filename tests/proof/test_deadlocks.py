"""Every route that writes meets a deadlock at each of its commits, and does its work once."""

import secrets
from collections.abc import Callable
from contextlib import AbstractContextManager
from io import BytesIO
from pathlib import Path
from tempfile import NamedTemporaryFile
from types import SimpleNamespace
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import Boolean, Integer, Table, select
from werkzeug.test import TestResponse

from jobs.queue import DELIVERIES, TRANSCRIPTIONS
from tests.conftest import delete_rows
from tests.databases import on_postgresql
from tests.factories import make_answer
from tests.oauth.flow import bearer
from tests.pages.creator.test_asker import PIXEL
from tests.pages.creator_client import Creator, hidden as field
from tests.pages.respondent_client import arrive, hidden
from tests.proof.deadlock_world import HOOK, HOOK_KEY, PASSWORD, Call, World, deadlock_at
from tests.voice.audio_files import recording
from tests.voice.factories import make_recording
from webapp.base.database import db, utc_now
from webapp.base.vocabulary import TranscriptState
from webapp.records.content.diff import Change, Kind
from webapp.records.forms import Form
from webapp.voice.audio_store import audio_store
from webapp.web.limiter import limiter

COMMITS_MOST = 6
CHANGE = Change("title", Kind.REWORDED, was="Rota", now="Newer").key
Recipe = Callable[[World], Call]


def page(path: str, of: str = "draft", **form: Any) -> Recipe:
    """A form of the creator's pages at `path`, in which `{}` stands for what the world has."""

    def prepare(world: World) -> Call:
        named = path.format(world.of(of))
        return lambda: world.ann.post(named, **form)

    return prepare


def seen_page(path: str, of: str, shown_at: str, name: str) -> Recipe:
    """The same with a hidden field of the page that is shown at another path."""

    def prepare(world: World) -> Call:
        made = world.of(of)
        shown = {name: field(world.ann.page(shown_at.format(made)), name)}
        return lambda: world.ann.post(path.format(made), **shown)

    return prepare


def respondent_page(path: str, person: str, **form: Any) -> Recipe:
    """A form of a respondent's page, without following where it leads."""

    def prepare(world: World) -> Call:
        one = getattr(world, person)
        sent = {"session": hidden(one.page)["session"]}
        if "answer" in form:
            sent["answer_key"] = secrets.token_urlsafe(16)
        return lambda: one.client.post(f"/r/{one.share_token}{path}", data=sent | form)

    return prepare


def agent(method: str, path: str, of: str = "draft", **body: Any) -> Recipe:
    def prepare(world: World) -> Call:
        named, headers = path.format(world.of(of)), bearer(world.token)
        client = world.app.test_client()
        return lambda: client.open(f"/api{named}", method=method, json=body, headers=headers)

    return prepare


def host(method: str, make: Callable[[World], dict[str, Any]]) -> Recipe:
    """A call of an MCP host in the era before 2026-07-28."""

    def prepare(world: World) -> Call:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": make(world)}
        headers, client = bearer(world.host_token), world.app.test_client()
        return lambda: client.post("/mcp/app", json=body, headers=headers)

    return prepare


def tool(name: str, make: Callable[[World], dict[str, Any]]) -> Recipe:
    return host("tools/call", lambda world: {"name": name, "arguments": make(world)})


def event(method: str) -> Recipe:
    delivery = {"url": HOOK, "secret": HOOK_KEY}
    return host(
        method,
        lambda world: {
            "name": "response.submitted",
            "arguments": {"formId": world.subscribed_form},
            "delivery": delivery,
        },
    )


def picture(world: World) -> Call:
    """An upload of a picture, each with a file of its own."""
    return lambda: world.ann.post("/account/picture", picture=(BytesIO(PIXEL), "me.png"))


def confirm(then: str) -> Recipe:
    def prepare(world: World) -> Call:
        draft = world.draft
        return lambda: world.ann.confirm(draft, then)

    return prepare


def visitor(path: str, **form: str) -> Recipe:
    """A form that somebody sends who is not signed in."""

    def prepare(world: World) -> Call:
        one = Creator(world.app.test_client(), world.account)
        one.token, named = field(one.page("/login"), "csrf_token"), path.format(world.invite)
        return lambda: one.post(named, password=PASSWORD, **form)

    return prepare


def token_for_code(world: World) -> Call:
    flow, code = world.flow, world.code
    return lambda: flow.redeem(code)


def token_for_refresh(world: World) -> Call:
    flow, tokens = world.flow, world.flow.redeem(world.code).json
    return lambda: flow.refresh(tokens["refresh_token"])


def revoke(world: World) -> Call:
    flow, tokens = world.flow, world.flow.redeem(world.code).json
    form = flow.authenticated(token=tokens["refresh_token"])
    return lambda: flow.machine.post("/oauth/revoke", data=form)


def register(world: World) -> Call:
    client = world.app.test_client()
    body = {"client_name": "A", "redirect_uris": ["https://app.example/cb"]}
    return lambda: client.post("/oauth/register", json=body)


def continue_elsewhere(world: World) -> Call:
    one = world.answered
    session = {"session": hidden(one.page)["session"]}
    link = one.client.post(f"/r/{one.share_token}/check/elsewhere", data=session)
    secret = link.text.partition("/continue/")[2].partition('"')[0].partition("<")[0]
    form = {"secret": secret, "claim": secrets.token_urlsafe(16)}
    return lambda: world.app.test_client().post(f"/r/{one.share_token}/continue", data=form)


def upload(world: World) -> Call:
    one = world.speaker

    def send() -> TestResponse:
        sent = hidden(one.page) | {"audio": (BytesIO(recording()), "a.webm")}
        return one.client.post(f"/r/{one.share_token}/q/1/recording", data=sent)

    return send


def of_recording(path: str) -> Recipe:
    """A POST about a recording whose words are known, and that no answer has."""

    def prepare(world: World) -> Call:
        one = world.speaker
        session = hidden(one.page)["session"]
        written = {"transcript_state": TranscriptState.DONE, "transcript": "Ben did."}
        with world.app.app_context(), NamedTemporaryFile() as file:
            form = db.session.scalars(select(Form).where(Form.share_token == one.share_token)).one()
            made = make_recording(form, session, next_at=utc_now(), **written)
            file.write(recording())
            file.flush()
            audio_store().put(made.object_key, Path(file.name))
            db.session.commit()
            named = path.format(made.id)
            sent = {"session": session, "recording": made.id}
        return lambda: one.client.post(f"/r/{one.share_token}{named}", data=sent)

    return prepare


def probed(path: str, *, answered: bool) -> Recipe:
    """A form that asks follow-ups; with an answer about which nothing is decided."""

    def prepare(world: World) -> Call:
        questions = ["What made you switch?", "And then?"]
        form = world.ann.form(followUpMode="deep_dive", questions=questions)
        with world.app.app_context():
            one = arrive(world.app.test_client(), form)
            sent = hidden(one.page) | {"answer": "It was slow"}
            if answered:
                make_answer(form, sent["session"], text=sent["answer"])
        return lambda: one.client.post(f"/r/{one.share_token}{path}", data=sent)

    return prepare


SETTINGS = {"followUpMode": "none", "responseMode": "text_only", "responseLimit": "one"}
SINCE = {"revision": "2", "since": "1"}
HOOKED = {"url": HOOK, "secret": HOOK_KEY}
RECIPES: dict[str, Recipe] = {
    "account.change_details": page("/account/details", name="Kim", language="en"),
    "account.change_password": page(
        "/account/password", current=PASSWORD, password="other plain words"
    ),
    "account.change_picture": picture,
    "account.delete": page("/account/delete", current=PASSWORD),
    "account.end_browser": page("/account/browsers/end", handle="none"),
    "account.end_other_browsers": page("/account/browsers/end-others"),
    "account.remove_picture": page("/account/picture/remove"),
    "agent_tokens.make": page(
        "/connections/tokens/new", "form", form="all", label="", days="1", current=PASSWORD
    ),
    "agent_tokens.revoke": page("/connections/tokens/{}/revoke", "agent_token"),
    "agent_tokens.revoke_all": page("/connections/tokens/revoke-all", "agent_token"),
    "agreements.agree_to_voice": page(
        "/forms/{}/voice", "form", shown_records="yes", shown_transcriber=""
    ),
    "agreements.agree_to_writer": page("/forms/{}/follow-ups", "form", shown_writer=""),
    "agreements.choose_language": page("/forms/{}/voice/language", "form", language="pt"),
    "api.create_agent_token": agent("POST", "/forms/{}/agent-tokens", "form"),
    "api.create_service_draft": agent("POST", "/drafts", title="By an agent"),
    "api.create_subscription": agent(
        "POST", "/forms/{}/subscriptions", "subscribed_form", **HOOKED
    ),
    "api.delete_subscription": lambda world: agent(
        "DELETE", f"/forms/{world.subscribed_form}/subscriptions/{{}}", "subscribed"
    )(world),
    "api.publish_service_draft": agent("POST", "/drafts/{}/publish", "confirmed"),
    "api.replace_service_draft_follow_ups": agent(
        "PUT", "/drafts/{}/follow-ups", followUps={"1": ["And then?"]}
    ),
    "api.update_service_draft": agent("PATCH", "/drafts/{}", title="By an agent"),
    "confirm.confirm": confirm("agent"),
    "connections.confirm_address": page("/connections/addresses/{}/confirm", "waiting_address"),
    "connections.disconnect": page("/connections/{}/disconnect", "grant"),
    "connections.disconnect_all": page("/connections/disconnect-all", "grant"),
    "connections.let_publish": page("/connections/{}/trust", "grant", trust="1"),
    "connections.mute": page("/connections/{}/mute", "grant"),
    "connections.remove_address": page("/connections/addresses/{}/remove", "waiting_address"),
    "connections.unmute": page("/connections/{}/unmute", "muted_grant"),
    "consent.decide": lambda world: world.flow.decide,
    "deliveries.send_again": page("/deliveries/{}/again", "delivered"),
    "deliveries.send_test": page("/deliveries/subscriptions/{}/test", "subscribed"),
    "drafts.accept": page(f"/drafts/{{}}/changes/{CHANGE}/accept", "changed", **SINCE),
    "drafts.keep": page("/drafts/{}/keep", "returned"),
    "drafts.mark_seen": page("/drafts/{}/seen", revision="1"),
    "drafts.put_back": page(f"/drafts/{{}}/changes/{CHANGE}/put-back", "changed", **SINCE),
    "drafts.restore": page("/drafts/{}/restore", "changed", revision="2", to="1"),
    "drafts.save_settings": page("/drafts/{}/settings", revision="1", **SETTINGS),
    "drafts.save_text": page("/drafts/{}/title", revision="1", text="Better"),
    "drafts.send_back": page("/drafts/{}/return", revision="1", note="Shorter"),
    "elsewhere.go_on": continue_elsewhere,
    "elsewhere.offer": respondent_page("/check/elsewhere", "answered"),
    "follow_ups.decide": probed("/q/1/next", answered=True),
    "forms.allow_embedding": page("/forms/{}/embedding", "form", origins="https://a.example"),
    "forms.close": page("/forms/{}/close", "form"),
    "forms.copy": page("/forms/{}/copy", "form"),
    "forms.delete": page("/forms/{}/delete", "form"),
    "forms.erase": page("/forms/{}/erase", "deleted"),
    "forms.reopen": page("/forms/{}/reopen", "closed"),
    "forms.restore": page("/forms/{}/restore", "deleted"),
    "inbox.discard": page("/drafts/{}/discard"),
    "inbox.discard_chosen": lambda world: page("/drafts/tidy", draft=world.draft.id)(world),
    "inbox.take_back": lambda world: page("/drafts/take-back", at=str(world.put_away()))(world),
    "inbox.write": page("/drafts/new"),
    "mcp.post": tool("create_form_draft", lambda _world: {"title": "By an agent"}),
    "oauth.register": register,
    "oauth.revoke": revoke,
    "oauth.token": token_for_code,
    "questions.add": page("/drafts/{}/questions", revision="1", text="Why?"),
    "questions.move": page("/drafts/{}/questions/1/position", revision="1", to="2"),
    "questions.remove": page("/drafts/{}/questions/1/remove", revision="1"),
    "questions.save": page("/drafts/{}/questions/1", revision="1", text="Who was it?"),
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
    "results.delete": page("/forms/{}/delete", "response"),
    "results.delete_automated": page("/forms/{}/automated/delete", "form_with_response"),
    "results.mark_all_read": seen_page(
        "/forms/{}/read", "form_with_response", "/forms/{}", "stamp"
    ),
    "results.mark_read": seen_page("/forms/{}/read", "response", "/forms/{}", "stamp"),
    "results.undo": page("/forms/{}/undo", "deletion"),
    "results.try_again": page("/forms/{}/try-again", "failed_transcript"),
    "sign_in.accept_invite": visitor("/join/{}", email="new@example.com", name="New"),
    "sign_in.sign_in": visitor("/login", email="ann@example.com"),
    "sign_in.sign_out": page("/logout"),
    "sign_in.sign_out_everywhere": page("/logout/everywhere"),
    "site.choose_theme": page("/appearance", theme="dark"),
    "trial.go_on": lambda world: page("/drafts/{}/try", **world.trial())(world),
    "voice.begin": respondent_page("/begin-recording", "answered"),
    "voice.hand_back": of_recording("/recordings/{}"),
    "voice.look": of_recording("/q/1/transcript"),
    "voice.upload": upload,
}

# what else a route does
FURTHER: dict[str, Recipe] = {
    "respond.answer followed by a question": probed("/q/1", answered=False),
    "api.publish_service_draft on the word of the agent": agent(
        "POST", "/drafts/{}/publish", "trusted"
    ),
    "confirm.confirm and publish": confirm("publish"),
    "mcp.post changing a draft": tool(
        "update_form_draft", lambda world: {"draftId": world.draft.id, "title": "By an agent"}
    ),
    "mcp.post publishing": tool("publish_form_draft", lambda world: {"draftId": world.confirmed}),
    "mcp.post making an agent token": tool(
        "create_agent_token", lambda world: {"formId": world.form.id}
    ),
    "mcp.post subscribing": event("events/subscribe"),
    "mcp.post unsubscribing": event("events/unsubscribe"),
    "oauth.token for a refresh token": token_for_refresh,
}


@pytest.fixture(autouse=True)
def _nobody_delivers(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread that another test began may still wait for something to deliver."""
    for queue in (DELIVERIES, TRANSCRIPTIONS):
        nobody = SimpleNamespace(hand_over=lambda _ids: None)
        monkeypatch.setitem(app.extensions, queue, nobody)


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
